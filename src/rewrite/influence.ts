import { ts } from 'ts-morph';
import { unwrap, walk, type FunctionNode } from './ast.js';
import { isLogging, type PublishSite } from './publish.js';
import { assignedNames, bindingNames, declaredNames, findVariable, referencedNames } from './scope.js';

/** What the messages and conditions of publishes are made from: names, and every other name that may stand for the same object. `this.x` counts as `this`. */
export function influences(fn: FunctionNode, publishes: readonly PublishSite[]): ReadonlySet<string> {
  const names = new Set(publishes.flatMap(({ message, condition }) => [...referencedNames(message.node), ...(condition === null ? [] : referencedNames(condition))]));
  const links = sharedObjects(fn);
  for (let size = -1; size !== names.size;) {
    size = names.size;
    for (const { left, right } of links) {
      // `this` links nothing: every repository and client hangs on it.
      if (left.some((name) => names.has(name))) right.filter((name) => name !== 'this').forEach((name) => names.add(name));
      if (right.some((name) => name !== 'this' && names.has(name))) left.forEach((name) => names.add(name));
    }
  }
  return names;
}

/** Declarations and assignments: what stands on their two sides may share an object. */
function sharedObjects(fn: FunctionNode): readonly { readonly left: readonly string[]; readonly right: readonly string[] }[] {
  const links: { left: readonly string[]; right: readonly string[] }[] = [];
  walk(fn, (node) => {
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined && mayShare(node.initializer)) links.push({ left: bindingNames(node.name), right: [...referencedNames(node.initializer)].filter((name) => !isClassName(node, name)) });
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && mayShare(node.right)) links.push({ left: [...referencedNames(node.left)], right: [...referencedNames(node.right)] });
  });
  return links;
}

/** An entity class that a write names is no object that the message is made from. */
function isClassName(at: ts.Node, name: string): boolean {
  return /^[A-Z]/.test(name) && findVariable(at, name) === null;
}

/** A text, a number or a comparison holds no object. A function is looked at where it is called. */
function mayShare(value: ts.Expression): boolean {
  const inner = unwrap(value);
  return !(ts.isLiteralExpression(inner) || ts.isTemplateExpression(inner) || ts.isArrowFunction(inner) || ts.isFunctionExpression(inner) || ts.isPrefixUnaryExpression(inner) || ts.isTypeOfExpression(inner));
}

/** Whether a statement may change what one of these names stands for, or gives it its value. Reading and logging does not. */
export function affects(statement: ts.Statement, names: ReadonlySet<string>): boolean {
  if (isPlainLogging(statement)) return false;
  if (onlyReads(statement)) return declaredNames(statement).some((name) => names.has(name));
  return [...touchedNames(statement, new Set())].some((name) => names.has(name));
}

function isPlainLogging(statement: ts.Statement): boolean {
  if (!ts.isExpressionStatement(statement)) return false;
  const call = ts.isAwaitExpression(statement.expression) ? statement.expression.expression : statement.expression;
  if (!ts.isCallExpression(call) || !isLogging(call)) return false;
  return call.arguments.every(onlyReads);
}

/** No call, no assignment: it runs nobody's code and changes nothing. */
function onlyReads(root: ts.Node): boolean {
  let reads = true;
  const visit = (node: ts.Node): void => {
    const isAssignment = ts.isBinaryExpression(node) && node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment && node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;
    const isStep = (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) && (node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken);
    if (isAssignment || isStep || ts.isCallExpression(node) || ts.isNewExpression(node) || ts.isTaggedTemplateExpression(node) || ts.isDeleteExpression(node) || ts.isAwaitExpression(node) || ts.isYieldExpression(node)) reads = false;
  };
  visit(root);
  walk(root, visit);
  return reads;
}

/** Names in a node, and in the functions of the file that it calls, by name, at any depth. */
function touchedNames(node: ts.Node, seen: Set<ts.Node>): ReadonlySet<string> {
  const names = new Set<string>([...referencedNames(node), ...assignedNames(node), ...(ts.isStatement(node) ? declaredNames(node) : [])]);
  for (const name of [...names]) {
    for (const fn of functionsNamed(node.getSourceFile(), name)) {
      if (seen.has(fn)) continue;
      seen.add(fn);
      for (const inner of touchedNames(fn, seen)) names.add(inner);
    }
  }
  return names;
}

const functionsOf = new WeakMap<ts.SourceFile, ReadonlyMap<string, readonly ts.Node[]>>();

/** Bodies of the functions that some declaration or constant of the file gives this name. */
function functionsNamed(source: ts.SourceFile, name: string): readonly ts.Node[] {
  let known = functionsOf.get(source);
  if (known === undefined) {
    const found = new Map<string, ts.Node[]>();
    const add = (key: string, body: ts.Node | undefined): void => {
      if (body !== undefined) found.set(key, [...(found.get(key) ?? []), body]);
    };
    walk(source, (node) => {
      if (ts.isFunctionDeclaration(node) && node.name !== undefined) add(node.name.text, node.body);
      if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined && (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer))) add(node.name.text, node.initializer.body);
    });
    known = found;
    functionsOf.set(source, known);
  }
  return known.get(name) ?? [];
}
