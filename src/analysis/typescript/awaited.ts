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
    if (ts.isVariableDeclaration(parent) && parent.initializer === node && ts.isIdentifier(parent.name)) return { awaited: true, discarded: isOnlyWaitedFor(parent, parent.name.text) };
    if (ts.isVariableDeclaration(parent) || ts.isPropertyDeclaration(parent)) return { awaited: true, discarded: false };
    const next = passOn(node, parent);
    if (next === null) return { awaited: true, discarded: false };
    node = next;
  }
}

/** Blocks longer than this are not searched for the uses of a variable. In UTF-16 code units. */
const LONGEST_SEARCH = 20_000;

/** Whether all that happens to a variable is that somebody waits for it: `const reply = client.send(…); await lastValueFrom(reply);`. */
function isOnlyWaitedFor(declaration: ts.VariableDeclaration, name: string): boolean {
  const block = declaration.parent.parent.parent;
  if (block.getEnd() - block.getStart() > LONGEST_SEARCH) return false;
  let uses = 0;
  let isOnly = true;
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === name && node !== declaration.name && !isPropertyName(node)) {
      uses += 1;
      isOnly &&= !ts.isVariableDeclaration(node.parent) && waitingOf(node).discarded;
    }
    if (isOnly) ts.forEachChild(node, visit);
  };
  visit(block);
  return uses > 0 && isOnly;
}

/** `now` in `const now = Date.now()` is not the variable. */
function isPropertyName(node: ts.Identifier): boolean {
  return ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
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
