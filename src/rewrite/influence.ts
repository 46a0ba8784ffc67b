import { ts } from 'ts-morph';
import { unwrap, walk, type FunctionNode } from './ast.js';
import { isLogging, type PublishSite } from './publish.js';
import { assignedNames, bindingNames, declaredNames, findVariable, isReference, referencedNames } from './scope.js';

export interface Copied {
  /** Names that writes start from: they are what a row came through, not what it is. */
  readonly handles: readonly string[];
}

/**
 * What tells whether a statement may change what publishes send, or gives it its value: by a name of the message or its
 * condition, or by another name that may stand for the same object. `this.x` counts as `this`. Reading and logging changes
 * nothing; nor does setting a field that the message does not read, or, where the event has `copied` its fields before the
 * statement runs, any field of an object that it only took fields of.
 */
export function messageChange(fn: FunctionNode, publishes: readonly PublishSite[], copied: Copied | null = null): (statement: ts.Statement) => boolean {
  const sources = publishes.flatMap(({ message, condition }) => [message.node, ...(condition === null ? [] : [condition])]);
  const rest = publishes.flatMap(({ call, message }) => call.arguments.filter((argument) => message.node.pos < argument.pos || message.node.end > argument.end));
  const restNames = rest.flatMap((node) => [...referencedNames(node)]).filter((name) => name !== 'this');
  const assigned = assignedNames(fn);
  // Nobody but an assignment changes a text, a number or a boolean.
  const isFixed = (name: string): boolean => isPlainParameter(sources[0] ?? fn, name) && !assigned.has(name);
  const direct = new Set([...sources.flatMap((node) => [...referencedNames(node)]), ...restNames].filter((name) => !isFixed(name)));
  const links = sharedObjects(fn);
  const names = new Set([...closure(direct, links)].filter((name) => direct.has(name) || copied === null || !copied.handles.includes(name)));
  const isOtherField = (statement: ts.Statement): boolean => {
    const set = setField(statement);
    if (set === null || !takesFields(sources, set, copied === null ? set.field : null) || !takesFields(rest, set, set.field)) return false;
    const others = new Set([...direct].filter((name) => name !== set.object));
    // The assignment itself makes the object hold the value: that makes it no other name for it.
    return !closure(others, links.filter(({ node }) => node !== set.node)).has(set.object);
  };
  return (statement) => (onlyReads(statement) ? declaredNames(statement).some((name) => direct.has(name)) : affects(statement, names) && !isOtherField(statement));
}

/** `this` links nothing: every repository and client hangs on it. */
function closure(roots: ReadonlySet<string>, links: readonly Link[]): ReadonlySet<string> {
  const names = new Set(roots);
  for (let size = -1; size !== names.size;) {
    size = names.size;
    for (const { left, right } of links) {
      if (left.some((name) => names.has(name))) right.filter((name) => name !== 'this').forEach((name) => names.add(name));
      if (right.some((name) => name !== 'this' && names.has(name))) left.forEach((name) => names.add(name));
    }
  }
  return names;
}

interface Link {
  readonly node: ts.Node;
  readonly left: readonly string[];
  readonly right: readonly string[];
}

interface FieldOf {
  readonly node: ts.Node;
  readonly object: string;
  readonly field: string;
}

/** `order.status = status`, where the value is only read. */
function setField(statement: ts.Statement): FieldOf | null {
  if (!ts.isExpressionStatement(statement) || !ts.isBinaryExpression(statement.expression)) return null;
  const { left, operatorToken, right } = statement.expression;
  if (operatorToken.kind !== ts.SyntaxKind.EqualsToken || !ts.isPropertyAccessExpression(left) || !ts.isIdentifier(left.expression) || !onlyReads(right)) return null;
  return { node: statement.expression, object: left.expression.text, field: left.name.text };
}

/** Whether an object is only read by fields, and never by the one that is `barred`. */
function takesFields(sources: readonly ts.Node[], { object }: FieldOf, barred: string | null): boolean {
  let isSo = true;
  const visit = (node: ts.Node): void => {
    if (!ts.isIdentifier(node) || node.text !== object || !isReference(node)) return;
    const { parent } = node;
    const isField = ts.isPropertyAccessExpression(parent) && parent.expression === node && parent.name.text !== barred;
    if (!isField || (ts.isCallExpression(parent.parent) && parent.parent.expression === parent)) isSo = false;
  };
  for (const source of sources) {
    visit(source);
    walk(source, visit);
  }
  return isSo;
}

/** Declarations and assignments: what stands on their two sides may share an object. */
function sharedObjects(fn: FunctionNode): readonly Link[] {
  const links: Link[] = [];
  const add = (node: ts.Node, left: readonly string[], value: ts.Expression): void => {
    if (!mayShare(value)) return;
    links.push({ node, left, right: [...referencedNames(value)].filter((name) => !isClassName(value, name) && !isPlainParameter(value, name)) });
  };
  walk(fn, (node) => {
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined) add(node, bindingNames(node.name), node.initializer);
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) add(node, [...referencedNames(node.left)], node.right);
  });
  return links;
}

/** A parameter that is declared a text, a number or a boolean holds no object. */
function isPlainParameter(at: ts.Node, name: string): boolean {
  const declaration = findVariable(at, name);
  const kind = declaration !== null && ts.isParameter(declaration) ? declaration.type?.kind : undefined;
  return kind === ts.SyntaxKind.StringKeyword || kind === ts.SyntaxKind.NumberKeyword || kind === ts.SyntaxKind.BooleanKeyword;
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

/** Whether a statement may change what one of these names stands for, or gives it its value. Logging does not. */
function affects(statement: ts.Statement, names: ReadonlySet<string>): boolean {
  if (isPlainLogging(statement)) return false;
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
