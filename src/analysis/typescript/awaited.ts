import { ts } from 'ts-morph';

/** Functions that wait for the promise or observable they are given. */
const WAITING = new Set(['lastValueFrom', 'firstValueFrom']);
const COMBINATORS = new Set(['all', 'allSettled', 'race', 'any']);

/** How the code around a call waits for it. */
export interface Waiting {
  readonly awaited: boolean;
  /** It stands under an `await` or a `return`, or a variable that it is kept in does. */
  readonly waited: boolean;
  readonly discarded: boolean;
  /** What a variable is declared as that keeps the promise and is waited for later. */
  readonly kept: ts.Expression | null;
}

/** Whether whoever runs the code around this call waits for it, and whether its result is dropped. Decided from syntax alone. */
export function waitingOf(call: ts.Expression): Waiting {
  const { awaited, discarded, declaration, isWaited } = climb(call);
  const isKept = declaration !== undefined && isWaitedForLater(declaration);
  return { awaited, discarded, waited: isWaited === true || isKept, kept: isKept ? (declaration.initializer ?? null) : null };
}

function climb(call: ts.Expression): { awaited: boolean; discarded: boolean; declaration?: ts.VariableDeclaration; isWaited?: boolean } {
  let node: ts.Node = call;
  for (;;) {
    const parent: ts.Node = node.parent;
    if (ts.isAwaitExpression(parent) || ts.isYieldExpression(parent)) return { awaited: true, discarded: ts.isExpressionStatement(parent.parent), isWaited: true };
    if (ts.isReturnStatement(parent) || ts.isArrowFunction(parent)) return { awaited: true, discarded: false, isWaited: true };
    if (ts.isExpressionStatement(parent) || ts.isVoidExpression(parent)) return { awaited: false, discarded: true };
    if (ts.isVariableDeclaration(parent) && parent.initializer === node && ts.isIdentifier(parent.name)) return { awaited: true, discarded: isOnlyWaitedFor(parent, parent.name.text), declaration: parent };
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
  const uses = usesOf(declaration, name);
  return uses.length > 0 && uses.every((use) => !ts.isVariableDeclaration(use.parent) && climb(use).discarded);
}

/** `await saving`, `await Promise.all([saving, …])`, of a variable that holds what was not waited for where it is declared. */
function isWaitedForLater(declaration: ts.VariableDeclaration): boolean {
  if (!ts.isIdentifier(declaration.name)) return false;
  return usesOf(declaration, declaration.name.text).some((use) => {
    const { parent } = use;
    return ts.isAwaitExpression(parent) || (ts.isArrayLiteralExpression(parent) && ts.isCallExpression(parent.parent) && isCombinator(parent.parent.expression));
  });
}

/** Where the block of a declaration names the variable; none when the block is too long to be searched. */
function usesOf(declaration: ts.VariableDeclaration, name: string): ts.Identifier[] {
  const block = declaration.parent.parent.parent;
  if (block.getEnd() - block.getStart() > LONGEST_SEARCH) return [];
  const uses: ts.Identifier[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === name && node !== declaration.name && !isPropertyName(node)) uses.push(node);
    ts.forEachChild(node, visit);
  };
  visit(block);
  return uses;
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
