import { ts } from 'ts-morph';
import { lineOf, unwrap, walk } from './ast.js';
import { usesDatabase, type LocatedCall } from './calls.js';
import { short } from './message.js';
import { refuse } from './refusal.js';
import { findVariable } from './scope.js';

/** Where a receiver comes from: the class or module itself, or whoever called the handler. */
type Origin = { readonly kind: 'own' } | { readonly kind: 'handed'; readonly by: ts.Node } | { readonly kind: 'choice' };

const OWN: Origin = { kind: 'own' };

/**
 * Guards: a transaction that the handler's caller may have opened is neither left nor split. Code that writes through a manager
 * or repository that was handed in does so in all of its database calls; and which one it is, is decided before.
 */
export function guardHandedIn(file: string, calls: readonly LocatedCall[]): void {
  const used = calls.filter(({ call }) => usesDatabase(call));
  const direct = used.filter(({ call }) => call.callee.kind !== 'project').map(({ node }) => ({ node, origin: originOf(file, node) }));
  const handed = direct.find(({ origin }) => origin.kind === 'handed');
  if (handed?.origin.kind !== 'handed') return;
  const { by } = handed.origin;
  const other = direct.find(({ origin }) => origin.kind !== 'handed' || origin.by !== by)?.node ?? used.find(({ call }) => call.callee.kind === 'project')?.node;
  if (other === undefined) return;
  refuse('transaction-handed-in', `'${short(handed.node)}' (${file}:${lineOf(handed.node)}) goes through what the caller hands in, perhaps in a transaction, and '${short(other)}' (${file}:${lineOf(other)}) does not. Send all of them through the same manager.`);
}

function originOf(file: string, node: ts.CallExpression): Origin {
  const callee = unwrap(node.expression);
  if (!ts.isPropertyAccessExpression(callee)) return OWN;
  const at = `'${short(callee)}' (${file}:${lineOf(node)})`;
  if (mentionsOptional(callee)) refuse('transaction-handed-in', `${at} is skipped where there is nothing to call it on, and so would be the whole transaction. Decide that before, with an 'if' that returns.`);
  const origin = rootOrigin(callee.expression, 0);
  if (origin.kind === 'choice') refuse('transaction-handed-in', `${at} goes through one of several managers or repositories. Put the chosen one into a constant first, and call that.`);
  if (origin.kind === 'handed' && ts.isParameter(origin.by) && mayBeMissing(origin.by)) {
    refuse('transaction-handed-in', `${at} goes through a parameter that callers may leave out. Put it into a constant with a default first, as in 'const manager = given ?? this.dataSource.manager', and call that everywhere.`);
  }
  return origin;
}

/** `a?.b` anywhere on the way to the call. */
function mentionsOptional(node: ts.Node): boolean {
  let current = node;
  while (ts.isPropertyAccessExpression(current) || ts.isCallExpression(current) || ts.isNonNullExpression(current) || ts.isElementAccessExpression(current)) {
    if (!ts.isNonNullExpression(current) && current.questionDotToken !== undefined) return true;
    current = unwrap(current.expression);
  }
  return false;
}

function rootOrigin(expression: ts.Expression, depth: number): Origin {
  let root = unwrap(expression);
  while (ts.isPropertyAccessExpression(root) || ts.isCallExpression(root) || ts.isElementAccessExpression(root)) root = unwrap(root.expression);
  if (ts.isIdentifier(root)) return originOfName(root, depth);
  return ts.isConditionalExpression(root) || ts.isBinaryExpression(root) ? { kind: 'choice' } : OWN;
}

function originOfName(name: ts.Identifier, depth: number): Origin {
  const declaration = findVariable(name, name.text);
  if (declaration === null || depth > 5) return OWN;
  const parameter = ts.findAncestor(declaration, ts.isParameter);
  if (parameter !== undefined && !isInBody(declaration, parameter)) return { kind: 'handed', by: ts.isParameter(declaration) ? declaration : parameter };
  const variable = ts.findAncestor(declaration, ts.isVariableDeclaration);
  if (variable?.initializer === undefined) return OWN;
  const value = ts.isAwaitExpression(variable.initializer) ? variable.initializer.expression : variable.initializer;
  const origin = rootOrigin(value, depth + 1);
  if (origin.kind !== 'choice') return origin;
  return mentionsHanded(value, depth) ? { kind: 'handed', by: variable } : OWN;
}

/** A default value of a parameter may hold functions with variables of their own. */
function isInBody(declaration: ts.Node, parameter: ts.ParameterDeclaration): boolean {
  return parameter.initializer !== undefined && declaration.pos >= parameter.initializer.pos && declaration !== parameter;
}

function mentionsHanded(value: ts.Expression, depth: number): boolean {
  let found = false;
  walk(value, (node) => {
    if (ts.isIdentifier(node) && !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) && originOfName(node, depth + 1).kind === 'handed') found = true;
  });
  return found;
}

function mayBeMissing(parameter: ts.ParameterDeclaration): boolean {
  return parameter.initializer === undefined && (parameter.questionToken !== undefined || /\b(?:undefined|null)\b/.test(parameter.type?.getText() ?? ''));
}
