import { ts } from 'ts-morph';

/** Functions that wait for the promise or observable they are given. */
const WAITING = new Set(['lastValueFrom', 'firstValueFrom']);
const COMBINATORS = new Set(['all', 'allSettled', 'race', 'any']);

/** Whether whoever runs the code around this call waits for it, and whether its result is dropped. Decided from syntax alone. */
export function waitingOf(call: ts.Expression): { awaited: boolean; discarded: boolean } {
  let node: ts.Node = call;
  for (;;) {
    const parent: ts.Node = node.parent;
    if (ts.isAwaitExpression(parent) || ts.isYieldExpression(parent)) return { awaited: true, discarded: ts.isExpressionStatement(parent.parent) };
    if (ts.isReturnStatement(parent) || ts.isArrowFunction(parent)) return { awaited: true, discarded: false };
    if (ts.isExpressionStatement(parent) || ts.isVoidExpression(parent)) return { awaited: false, discarded: true };
    if (ts.isVariableDeclaration(parent) || ts.isPropertyDeclaration(parent)) return { awaited: true, discarded: false };
    const next = passOn(node, parent);
    if (next === null) return { awaited: true, discarded: false };
    node = next;
  }
}

/** The expression whose waiting decides for `node`: a chain, a wrapper, a combinator; null when the result is used as a value. */
function passOn(node: ts.Node, parent: ts.Node): ts.Node | null {
  if (ts.isParenthesizedExpression(parent) || ts.isAsExpression(parent) || ts.isNonNullExpression(parent) || ts.isConditionalExpression(parent)) return parent;
  if (ts.isBinaryExpression(parent) && parent.right === node && parent.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return parent;
  if (ts.isPropertyAccessExpression(parent) && ts.isCallExpression(parent.parent) && parent.parent.expression === parent) return parent.parent;
  if (ts.isCallExpression(parent) && parent.arguments.includes(node as ts.Expression) && isWaiting(parent.expression)) return parent;
  if (ts.isArrayLiteralExpression(parent) && ts.isCallExpression(parent.parent) && isCombinator(parent.parent.expression)) return parent.parent;
  return null;
}

function isWaiting(callee: ts.Expression): boolean {
  return (ts.isIdentifier(callee) && WAITING.has(callee.text)) || isCombinator(callee);
}

function isCombinator(callee: ts.Expression): boolean {
  return ts.isPropertyAccessExpression(callee) && ts.isIdentifier(callee.expression) && callee.expression.text === 'Promise' && COMBINATORS.has(callee.name.text);
}
