import { ts } from 'ts-morph';

/** One entry of a service's `routes.ts`, as far as its text tells. */
export interface RouteEntry {
  /** Message type. */
  readonly type: string;
  readonly transport: 'nest' | 'amqp' | 'unresolved' | 'unknown';
  /** Pattern, routing key or queue; null when it is not a literal. */
  readonly destination: string | null;
  /** What the destination is. */
  readonly address: 'pattern' | 'routing-key' | 'queue' | null;
}

/** The whitelist of a `routes.ts`; null when the file has no `routes` object. */
export function readRoutes(text: string): readonly RouteEntry[] | null {
  const source = ts.createSourceFile('routes.ts', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const declaration of statement.declarationList.declarations) {
      if (declaration.name.getText(source) !== 'routes') continue;
      const value = unwrap(declaration.initializer);
      if (value !== undefined && ts.isObjectLiteralExpression(value)) return value.properties.flatMap(toEntry);
    }
  }
  return null;
}

function toEntry(property: ts.ObjectLiteralElementLike): RouteEntry[] {
  if (!ts.isPropertyAssignment(property)) return [];
  const name = property.name;
  const type = ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : null;
  const value = unwrap(property.initializer);
  if (type === null || value === undefined || !ts.isObjectLiteralExpression(value)) return [];
  const transport = literalOf(value, 'transport');
  const has = (field: string): boolean => value.properties.some((item) => item.name !== undefined && ts.isIdentifier(item.name) && item.name.text === field);
  const field = ['pattern', 'routingKey', 'queue'].find(has);
  return [{
    type,
    transport: isTransport(transport) ? transport : 'unknown',
    destination: field === undefined ? null : literalOf(value, field),
    address: field === 'pattern' || field === 'queue' ? field : field === 'routingKey' ? 'routing-key' : null,
  }];
}

function literalOf(object: ts.ObjectLiteralExpression, name: string): string | null {
  for (const property of object.properties) {
    if (!ts.isPropertyAssignment(property) || !ts.isIdentifier(property.name) || property.name.text !== name) continue;
    const value = unwrap(property.initializer);
    if (value !== undefined && ts.isStringLiteralLike(value)) return value.text;
  }
  return null;
}

function isTransport(text: string | null): text is 'nest' | 'amqp' | 'unresolved' {
  return text === 'nest' || text === 'amqp' || text === 'unresolved';
}

/** The expression without `as const`, `satisfies …` and brackets. */
function unwrap(node: ts.Expression | undefined): ts.Expression | undefined {
  if (node !== undefined && (ts.isSatisfiesExpression(node) || ts.isAsExpression(node) || ts.isParenthesizedExpression(node))) return unwrap(node.expression);
  return node;
}
