import { ts } from 'ts-morph';
import { isFunctionNode, unwrap, walk } from './ast.js';
import { findVariable } from './scope.js';

/** A place that an object is reached by: a variable and fields of it. `*` is some field, `**` any number of them. */
export interface ObjectPath {
  /** Name of the variable and where it is declared; `this`. */
  readonly root: string;
  readonly fields: readonly string[];
}

/** The object that an expression gives, by what is written in the code. */
export interface ObjectPlace {
  /** Where it is; null: it is a new object. */
  readonly own: ObjectPath | null;
  /** Objects that it may be, or hold. */
  readonly others: readonly ObjectPath[];
}

const nothing: ObjectPlace = { own: null, others: [] };
/** Calls that give a text, a number, or a copy of everything below. */
const plainCalls = /^(?:String|Number|Boolean|BigInt|structuredClone|JSON\.\w+|Math\.\w+|Date\.now|randomUUID)$|\.(?:to(?:String|ISOString|JSON|Fixed|LowerCase|UpperCase)|getTime|valueOf|join|trim|randomUUID)$/;
const maximumDepth = 9;

/** The object that an expression gives; variables that only hold a field of another are followed to it. */
export function placeOf(expression: ts.Expression, depth = 0): ObjectPlace {
  const node = strip(expression);
  if (depth > maximumDepth) return nothing;
  if (node.kind === ts.SyntaxKind.ThisKeyword) return { own: { root: 'this', fields: [] }, others: [] };
  if (ts.isIdentifier(node)) return placeOfName(node, depth + 1);
  if (ts.isPropertyAccessExpression(node)) return below(placeOf(node.expression, depth + 1), [node.name.text]);
  if (ts.isElementAccessExpression(node)) return below(placeOf(node.expression, depth + 1), [ts.isStringLiteral(node.argumentExpression) ? node.argumentExpression.text : '*']);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) return placeOf(node.right, depth + 1);
  return { own: null, others: partsOf(node).flatMap((part) => all(placeOf(part, depth + 1))).map((path) => ({ ...path, fields: [...path.fields, '**'] })) };
}

/** Places of the objects that a new object holds: values of a literal, arguments of a constructor or a function. */
export function heldBy(expression: ts.Expression): readonly ObjectPlace[] {
  const node = strip(expression);
  if (!ts.isObjectLiteralExpression(node)) return ts.isNewExpression(node) ? (node.arguments ?? []).map((argument) => placeOf(argument)) : [placeOf(node)];
  return node.properties.flatMap((property) => {
    if (ts.isSpreadAssignment(property)) return [below(placeOf(property.expression), ['*'])];
    const value = ts.isShorthandPropertyAssignment(property) ? property.name : ts.isPropertyAssignment(property) ? property.initializer : null;
    return value === null ? [] : ts.isObjectLiteralExpression(strip(value)) ? heldBy(value) : [placeOf(value)];
  });
}

/** Whether an object is, or is part of, what is reached at another place. */
export function isPartOf(object: ObjectPlace, reached: ObjectPlace): boolean {
  if (object.own !== null && object.own.root === reached.own?.root) return isPrefix(reached.own.fields, object.own.fields);
  return all(object).some((path) => all(reached).some((other) => other.root === path.root && isPrefix(other.fields, path.fields)));
}

export function all({ own, others }: ObjectPlace): readonly ObjectPath[] {
  return own === null ? others : [own, ...others];
}

/** What a place has at these fields. */
export function below({ own, others }: ObjectPlace, fields: readonly string[]): ObjectPlace {
  const deeper = (path: ObjectPath): ObjectPath => ({ ...path, fields: [...path.fields, ...fields] });
  return { own: own === null ? null : deeper(own), others: others.map(deeper) };
}

/** The key of a variable that `findVariable` has found. */
export function rootKey(name: string, declaration: ts.Node | null): string {
  return `${name}@${declaration === null ? '' : `${declaration.getSourceFile().fileName}:${declaration.pos}`}`;
}

/** Whether the variable that a place begins with is declared in a node. */
export function isDeclaredIn(path: ObjectPath | null, node: ts.Node): boolean {
  const declared = path === null ? null : /@(.*):(\d+)$/.exec(path.root);
  const position = Number(declared?.[2]);
  return declared?.[1] === node.getSourceFile().fileName && position >= node.pos && position < node.end;
}

function strip(expression: ts.Expression): ts.Expression {
  let node = unwrap(expression);
  while (ts.isAwaitExpression(node)) node = unwrap(node.expression);
  return node;
}

function placeOfName(node: ts.Identifier, depth: number): ObjectPlace {
  const declaration = findVariable(node, node.text);
  if (declaration === null && /^(?:[A-Z]|undefined$)/.test(node.text)) return nothing;
  const own = { root: rootKey(node.text, declaration), fields: [] };
  const from = declaration === null ? null : sourceOf(declaration, depth);
  const later = declaration === null ? [] : assignedTo(declaration, node.text).flatMap((value) => all(placeOf(value, depth + 3)));
  if (from === null || later.length > 0) return { own, others: [...(from === null ? [] : all(from)), ...later] };
  // A plain path is the same object; of a call's value one only knows what it may hold.
  return from.own === null ? { own, others: from.others } : from;
}

/** Values that a variable gets after its declaration. */
function assignedTo(declaration: ts.Node, name: string): readonly ts.Expression[] {
  if (!ts.isVariableDeclaration(declaration) || (declaration.parent.flags & ts.NodeFlags.Const) !== 0) return [];
  const values: ts.Expression[] = [];
  walk(ts.findAncestor(declaration, isFunctionNode) ?? declaration.parent, (node) => {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isIdentifier(node.left) && node.left.text === name) values.push(node.right);
  });
  return values;
}

/** Where the value of a variable comes from: its initializer, the list of its loop, or that whose method gets its function. */
function sourceOf(declaration: ts.VariableDeclaration | ts.ParameterDeclaration | ts.BindingElement, depth: number): ObjectPlace | null {
  if (ts.isBindingElement(declaration)) {
    const { parent: pattern } = declaration;
    const holder: ts.Node = pattern.parent;
    const outer = ts.isVariableDeclaration(holder) || ts.isParameter(holder) || ts.isBindingElement(holder) ? sourceOf(holder, depth) : null;
    const key = ts.isArrayBindingPattern(pattern) ? '*' : (declaration.propertyName ?? declaration.name).getText();
    return outer === null ? null : below(outer, [declaration.dotDotDotToken === undefined ? key : '**']);
  }
  if (ts.isVariableDeclaration(declaration)) {
    const loop = declaration.parent.parent;
    // Another object in each round: it is what it is by its own name, and one of the list.
    if (ts.isForOfStatement(loop)) return { own: null, others: all(below(placeOf(loop.expression, depth), ['*'])) };
    return declaration.initializer === undefined ? null : placeOf(declaration.initializer, depth);
  }
  const fn = declaration.parent;
  const call = isFunctionNode(fn) && ts.isCallExpression(fn.parent) ? fn.parent : null;
  if (call === null || !ts.isPropertyAccessExpression(call.expression) || !/^(?:forEach|map|filter|find|some|every|flatMap|sort|then)$/.test(call.expression.name.text)) return null;
  return below(placeOf(call.expression.expression, depth), [call.expression.name.text === 'then' ? '**' : '*']);
}

/** Expressions whose objects may be, or be in, what an expression gives. */
function partsOf(node: ts.Expression): readonly ts.Expression[] {
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse];
  if (ts.isBinaryExpression(node)) return /^(?:&&|\|\||\?\?|,)$/.test(node.operatorToken.getText()) ? [node.left, node.right] : [];
  if (ts.isArrayLiteralExpression(node)) return node.elements.map((element) => (ts.isSpreadElement(element) ? element.expression : element));
  if (ts.isNewExpression(node)) return [...(node.arguments ?? [])];
  if (ts.isObjectLiteralExpression(node)) {
    return node.properties.flatMap((property) => (ts.isSpreadAssignment(property) ? [property.expression] : ts.isShorthandPropertyAssignment(property) ? [property.name] : ts.isPropertyAssignment(property) ? [property.initializer] : []));
  }
  if (!ts.isCallExpression(node) || plainCalls.test(node.expression.getText())) return [];
  // A repository or service that is asked is no part of its answer.
  const receiver = ts.isPropertyAccessExpression(node.expression) && !hangsOnThis(node.expression) ? [node.expression.expression] : [];
  return [...receiver, ...node.arguments.filter((argument) => !isFunctionNode(argument)).map((argument) => (ts.isSpreadElement(argument) ? argument.expression : argument))];
}

function hangsOnThis(node: ts.Expression): boolean {
  let root: ts.Expression = node;
  while (ts.isPropertyAccessExpression(root) || ts.isCallExpression(root) || ts.isNonNullExpression(root)) root = root.expression;
  return root.kind === ts.SyntaxKind.ThisKeyword;
}

function isPrefix(start: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = start;
  if (first === undefined) return true;
  if (first === '**') return isPrefix(rest, path) || (path.length > 0 && isPrefix(start, path.slice(1)));
  const [next, ...following] = path;
  if (next === undefined) return false;
  if (next === '**') return isPrefix(start, following) || isPrefix(rest, path);
  return (first === next || first === '*' || next === '*') && isPrefix(rest, following);
}
