import { ts } from 'ts-morph';
import type { Change } from '../workspace/sink.js';
import type { Workspace } from '../workspace/workspace.js';
import { enclosingClass, functionLabel, isFunctionNode, lineOf, unwrap, walk } from './ast.js';
import { parse } from './edits.js';
import { projectOf } from './project.js';
import { routeTypes } from './routes.js';
import { moduleNames } from './scope.js';

/**
 * What the rest of the project still uses of what an undo takes away: an import, an injected property, a parameter, a route.
 * Told from the syntax alone, so that it is told where types can't be had. Null: nothing.
 */
export function leftover(after: Workspace, changes: readonly Change[]): string | null {
  for (const change of changes) {
    const { file } = change;
    if (!/\.[cm]?tsx?$/.test(file) || change.before === null) continue;
    const now = parse(file, change.before);
    const then = parse(file, change.after ?? '');
    const found = lostName(file, now, then) ?? lostProperty(file, now, then) ?? lostParameter(after, now, then) ?? lostRoute(after, now, then);
    if (found !== null) return found;
  }
  return null;
}

/** A module name that is gone and still used. */
function lostName(file: string, now: ts.SourceFile, then: ts.SourceFile): string | null {
  const left = moduleNames(then);
  const lost = new Set([...moduleNames(now)].filter((name) => !left.has(name)));
  return firstIn(then, (node) => (ts.isIdentifier(node) && lost.has(node.text) && !isMemberName(node)
    ? `'${node.text}' would no longer be imported in '${file}', and line ${lineOf(node)} uses it`
    : null));
}

function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  return (ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) || ts.isPropertyDeclaration(parent) || ts.isPropertySignature(parent) || ts.isParameter(parent) || ts.isVariableDeclaration(parent)) && parent.name === node;
}

/** A property of a class, injected or declared, that is gone and still used. */
function lostProperty(file: string, now: ts.SourceFile, then: ts.SourceFile): string | null {
  const before = properties(now);
  const left = properties(then);
  return firstIn(then, (node) => {
    if (!ts.isPropertyAccessExpression(node) || node.expression.kind !== ts.SyntaxKind.ThisKeyword) return null;
    const key = `${enclosingClass(node)?.name?.text ?? ''}.${node.name.text}`;
    return before.has(key) && !left.has(key) ? `'${key}' would be gone from '${file}', and line ${lineOf(node)} uses it` : null;
  });
}

function properties(source: ts.SourceFile): ReadonlySet<string> {
  const found = new Set<string>();
  walk(source, (node) => {
    const isProperty = ts.isPropertyDeclaration(node) || ts.isMethodDeclaration(node) || ts.isAccessor(node) || (ts.isParameter(node) && ts.isConstructorDeclaration(node.parent) && (ts.getModifiers(node) ?? []).length > 0);
    if (isProperty && node.name !== undefined) found.add(`${enclosingClass(node)?.name?.text ?? ''}.${node.name.getText()}`);
  });
  return found;
}

/** A parameter of a function that is gone while a call still gives its argument. */
function lostParameter(after: Workspace, now: ts.SourceFile, then: ts.SourceFile): string | null {
  const left = parameterCounts(then);
  const project = projectOf(after);
  for (const [label, count] of parameterCounts(now)) {
    const most = left.get(label);
    if (most === undefined || most >= count) continue;
    const name = label.split('.').at(-1) ?? label;
    for (const file of project.filesMentioning(`${name}(`)) {
      const source = project.source(file);
      const found = source === null ? null : firstIn(source, (node) => (ts.isCallExpression(node) && calledName(node) === name && node.arguments.length > most && givesTransaction(node)
        ? `'${label}' would no longer take its last parameter, and ${file}:${lineOf(node)} gives it`
        : null));
      if (found !== null) return found;
    }
  }
  return null;
}

/** A rewrite hands down a manager, as the last argument; other functions of the same name take other things. */
function givesTransaction(call: ts.CallExpression): boolean {
  return /(?:manager|\btx)$/i.test(call.arguments.at(-1)?.getText() ?? '');
}

function parameterCounts(source: ts.SourceFile): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  walk(source, (node) => {
    if (isFunctionNode(node) && node.name !== undefined) counts.set(functionLabel(node), node.parameters.length);
  });
  return counts;
}

function calledName({ expression }: ts.CallExpression): string | null {
  const callee = unwrap(expression);
  if (ts.isIdentifier(callee)) return callee.text;
  return ts.isPropertyAccessExpression(callee) ? callee.name.text : null;
}

/** A route that is gone while an event of its type is still stored. */
function lostRoute(after: Workspace, now: ts.SourceFile, then: ts.SourceFile): string | null {
  const left = new Set(routeTypes(then));
  const lost = new Set(routeTypes(now).filter((type) => !left.has(type)));
  if (lost.size === 0) return null;
  const project = projectOf(after);
  for (const file of project.filesMentioning('store(')) {
    const source = project.source(file);
    const found = source === null ? null : firstIn(source, (node) => {
      const type = storedType(node);
      return type !== null && lost.has(type) ? `the route of '${type}' would be gone, and ${file}:${lineOf(node)} still stores that event` : null;
    });
    if (found !== null) return found;
  }
  return null;
}

/** `order.placed` of `store(manager, orderPlaced, { type: 'order.placed', … })`. */
function storedType(node: ts.Node): string | null {
  if (!ts.isCallExpression(node) || calledName(node) !== 'store') return null;
  const entry = node.arguments[2];
  if (entry === undefined || !ts.isObjectLiteralExpression(entry)) return null;
  const type = entry.properties.find((property) => property.name?.getText() === 'type');
  return type !== undefined && ts.isPropertyAssignment(type) && ts.isStringLiteralLike(type.initializer) ? type.initializer.text : null;
}

function firstIn(source: ts.SourceFile, find: (node: ts.Node) => string | null): string | null {
  let found: string | null = null;
  walk(source, (node) => {
    found ??= find(node);
    return found === null;
  });
  return found;
}
