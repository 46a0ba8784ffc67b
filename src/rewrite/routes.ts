import { ts } from 'ts-morph';
import { unwrap } from './ast.js';
import type { EditSet } from './edits.js';
import { refuse } from './refusal.js';
import { quoted, type TextStyle } from './style.js';

/** Fields of one route, in the order in which they are written. Values of `options` are source text. */
export type RouteFields = readonly (readonly [string, string | Readonly<Record<string, string>>])[];

/** A message type and where it goes. */
export interface NewRoute {
  readonly type: string;
  readonly fields: RouteFields;
}

/** Adds routes to the object literal `routes`. An equal one is left alone, a different one refuses. */
export function addRoutes(edits: EditSet, file: string, routes: readonly NewRoute[]): void {
  const literal = routesLiteral(edits.open(file).source);
  if (literal === null) refuse('routes-unreadable', `'${file}' has no 'export const routes = { … }' to add the route of '${routes[0]?.type ?? ''}' to.`);
  const { style } = edits.open(file);
  const added: NewRoute[] = [];
  for (const route of routes) {
    const existing = literal.properties.find((property) => property.name !== undefined && keyText(property.name) === route.type);
    const twin = added.find(({ type }) => type === route.type);
    if (existing !== undefined) guardSame(file, route.type, existing, route.fields);
    else if (twin === undefined) added.push(route);
    else if (JSON.stringify(twin.fields) !== JSON.stringify(route.fields)) refuse('route-conflict', `'${route.type}' goes to two destinations in the same handler. Rewrite it by hand, with a name for each.`);
  }
  if (added.length === 0) return;
  const entry = added.map(({ type, fields }) => `${quoted(style, type)}: ${render(style, fields)}`).join(`,${style.eol}${style.indent}`);
  const last = literal.properties[literal.properties.length - 1];
  const text = edits.open(file).text.slice(literal.getStart(), literal.getEnd());
  if (last === undefined) {
    if (/\/\/|\/\*/.test(text)) edits.insert(file, literal.getEnd() - 1, `${style.indent}${entry},${style.eol}`);
    else edits.replace(file, { start: literal.getStart(), end: literal.getEnd() }, `{${style.eol}${style.indent}${entry},${style.eol}}`);
  } else if (literal.properties.hasTrailingComma) {
    edits.insert(file, literal.properties.end, `${style.eol}${style.indent}${entry},`);
  } else {
    edits.insert(file, last.getEnd(), `,${style.eol}${style.indent}${entry}${style.trailingComma}`);
  }
}

function routesLiteral(source: ts.SourceFile): ts.ObjectLiteralExpression | null {
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const declaration of statement.declarationList.declarations) {
      if (declaration.name.getText() !== 'routes' || declaration.initializer === undefined) continue;
      const value = unwrap(declaration.initializer);
      return ts.isObjectLiteralExpression(value) ? value : null;
    }
  }
  return null;
}

function keyText(name: ts.PropertyName): string {
  return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : name.getText();
}

/** A route that the user resolved by hand stays; so does a known one when this publish can't tell. */
function guardSame(file: string, type: string, existing: ts.ObjectLiteralElementLike, fields: RouteFields): void {
  const value = ts.isPropertyAssignment(existing) ? unwrap(existing.initializer) : null;
  if (fields[0]?.[1] === 'unresolved' || value === null || !ts.isObjectLiteralExpression(value)) return;
  const read = new Map(value.properties.flatMap((property) => (ts.isPropertyAssignment(property) ? [[keyText(property.name), unwrap(property.initializer)] as const] : [])));
  const text = (key: string): string | null => {
    const node = read.get(key);
    return node !== undefined && ts.isStringLiteralLike(node) ? node.text : null;
  };
  if (text('transport') === 'unresolved') return;
  const different = fields.find(([key, wanted]) => typeof wanted === 'string' && text(key) !== wanted);
  if (different !== undefined) {
    refuse('route-conflict', `'${type}' has another route in ${file} already: '${different[0]}' is '${text(different[0]) ?? ''}' there and '${String(different[1])}' here. Give this event a name of its own with '--event <name>'.`);
  }
}

function render(style: TextStyle, fields: RouteFields): string {
  const parts = fields.map(([key, value]) => (typeof value === 'string'
    ? `${key}: ${quoted(style, value)}`
    : `${key}: { ${Object.entries(value).map(([name, text]) => `${name}: ${text}`).join(', ')} }`));
  return `{ ${parts.join(', ')} }`;
}

/** Message types that have a route in a file; none where it is no `routes.ts`. */
export function routeTypes(source: ts.SourceFile): readonly string[] {
  return (routesLiteral(source)?.properties ?? []).flatMap(({ name }) => (name === undefined ? [] : [keyText(name)]));
}
