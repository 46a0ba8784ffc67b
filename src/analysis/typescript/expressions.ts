import { ts } from 'ts-morph';
import type { CallFact, Expression, PropertyFact } from '../facts.js';
import { waitingOf } from './awaited.js';
import { typeFact } from './types.js';

/** What the expression reader needs from the reader of declarations around it. */
export interface Declarations {
  functionOf(node: ts.FunctionLikeDeclaration): number;
  classOf(node: ts.ClassLikeDeclaration): number;
  lineOf(node: ts.Node): number;
  /** Where the text of a node starts. */
  startOf(node: ts.Node): number;
}

const CHOICES = new Set([ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.QuestionQuestionToken]);
const CHOICE_ASSIGNMENTS = new Set([ts.SyntaxKind.AmpersandAmpersandEqualsToken, ts.SyntaxKind.BarBarEqualsToken, ts.SyntaxKind.QuestionQuestionEqualsToken]);

/** Facts of one expression. `declarations` takes the functions and classes that stand inside it. */
export function readExpression(node: ts.Expression, declarations: Declarations): Expression {
  const range = { start: declarations.startOf(node), end: node.end };
  const read = (child: ts.Expression): Expression => readExpression(child, declarations);
  if (ts.isIdentifier(node)) return { ...range, kind: 'name', name: node.text };
  if (node.kind === ts.SyntaxKind.ImportKeyword) return { ...range, kind: 'name', name: 'import' };
  if (node.kind === ts.SyntaxKind.ThisKeyword) return { ...range, kind: 'this' };
  if (node.kind === ts.SyntaxKind.SuperKeyword) return { ...range, kind: 'super' };
  if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isSatisfiesExpression(node)) return read(node.expression);
  if (ts.isAsExpression(node) || ts.isTypeAssertionExpression(node)) {
    const type = typeFact(node.type);
    return type === null || type.kind === 'other' ? read(node.expression) : { ...range, kind: 'cast', of: read(node.expression), type };
  }
  if (ts.isPropertyAccessExpression(node)) return { ...range, kind: 'member', object: read(node.expression), name: node.name.text };
  if (ts.isElementAccessExpression(node)) return readIndex(node, range, read);
  if (ts.isCallExpression(node)) return readCall(node, declarations);
  if (ts.isNewExpression(node)) {
    return { ...range, kind: 'new', callee: read(node.expression), args: (node.arguments ?? []).map(read), line: declarations.lineOf(node) };
  }
  if (ts.isAwaitExpression(node)) return { ...range, kind: 'await', of: read(node.expression) };
  if (ts.isSpreadElement(node)) return { ...range, kind: 'spread', of: read(node.expression) };
  if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) return { ...range, kind: 'function', id: declarations.functionOf(node) };
  if (ts.isClassExpression(node)) return { ...range, kind: 'class', id: declarations.classOf(node) };
  return readValue(node, range, declarations);
}

function readIndex(node: ts.ElementAccessExpression, range: { start: number; end: number }, read: (child: ts.Expression) => Expression): Expression {
  const object = read(node.expression);
  if (ts.isStringLiteralLike(node.argumentExpression)) return { ...range, kind: 'member', object, name: node.argumentExpression.text };
  return { ...range, kind: 'index', object, index: read(node.argumentExpression) };
}

function readCall(node: ts.CallExpression, declarations: Declarations): Expression {
  return {
    start: declarations.startOf(node), end: node.end, kind: 'call', tagged: false,
    callee: readExpression(node.expression, declarations),
    args: node.arguments.map((arg) => readExpression(arg, declarations)),
    typeArgs: (node.typeArguments ?? []).flatMap((type) => typeFact(type) ?? []),
    line: declarations.lineOf(nameOfCall(node)), ...readWaiting(node, declarations),
  };
}

function readWaiting(node: ts.Expression, declarations: Declarations): Pick<CallFact, 'awaited' | 'waited' | 'discarded' | 'kept'> {
  const { awaited, waited, discarded, kept } = waitingOf(node);
  return { awaited, waited, discarded, kept: kept === null ? null : { start: declarations.startOf(kept), end: kept.end } };
}

/** In a chain over several lines, the line of a call is that of its own name. */
function nameOfCall(node: ts.CallExpression): ts.Node {
  return ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node;
}

function readValue(node: ts.Expression, range: { start: number; end: number }, declarations: Declarations): Expression {
  const read = (child: ts.Expression): Expression => readExpression(child, declarations);
  if (ts.isStringLiteralLike(node)) return { ...range, kind: 'string', value: node.text };
  if (ts.isTemplateExpression(node)) return readTemplate(node, range, read);
  if (ts.isTaggedTemplateExpression(node)) {
    return {
      ...range, kind: 'call', tagged: true, callee: read(node.tag), typeArgs: [], line: declarations.lineOf(node), ...readWaiting(node, declarations),
      args: [read(node.template)],
    };
  }
  if (ts.isObjectLiteralExpression(node)) return { ...range, kind: 'object', properties: node.properties.flatMap((p) => readProperty(p, declarations)) };
  if (ts.isArrayLiteralExpression(node)) return { ...range, kind: 'array', items: node.elements.map(read) };
  if (ts.isConditionalExpression(node)) {
    return { ...range, kind: 'choice', first: read(node.condition), arms: [read(node.whenTrue), read(node.whenFalse)], yieldsFirst: false };
  }
  if (ts.isBinaryExpression(node)) return readBinary(node, range, read);
  if (ts.isNumericLiteral(node)) return { ...range, kind: 'number', value: Number(node.text) };
  if (ts.isPrefixUnaryExpression(node)) return { ...range, kind: 'other', parts: [read(node.operand)], operator: ts.tokenToString(node.operator) };
  const parts: Expression[] = [];
  ts.forEachChild(node, (child) => {
    if (ts.isExpression(child)) parts.push(read(child));
  });
  return { ...range, kind: 'other', parts };
}

function readBinary(node: ts.BinaryExpression, range: { start: number; end: number }, read: (child: ts.Expression) => Expression): Expression {
  const operator = node.operatorToken.kind;
  if (operator === ts.SyntaxKind.EqualsToken || CHOICE_ASSIGNMENTS.has(operator)) {
    return { ...range, kind: 'assign', target: read(node.left), value: read(node.right) };
  }
  if (CHOICES.has(operator)) {
    return { ...range, kind: 'choice', first: read(node.left), arms: [read(node.right)], yieldsFirst: operator !== ts.SyntaxKind.AmpersandAmpersandToken };
  }
  // Long chains of `+` nest as deep as they are long: flatten them, or a generated string overflows the stack.
  const parts: ts.Expression[] = [];
  let left: ts.Expression = node;
  while (ts.isBinaryExpression(left) && left.operatorToken.kind === operator) {
    parts.push(left.right);
    left = left.left;
  }
  parts.push(left);
  const read2 = parts.reverse().map(read);
  if (operator === ts.SyntaxKind.PlusToken && read2.some((part) => part.kind === 'string' || part.kind === 'template')) {
    return { ...range, kind: 'template', text: read2.map(textOf).join(''), parts: read2 };
  }
  return { ...range, kind: 'other', parts: read2, operator: ts.tokenToString(operator) };
}

function textOf(part: Expression): string {
  if (part.kind === 'string') return part.value;
  return part.kind === 'template' ? part.text : '${}';
}

function readTemplate(node: ts.TemplateExpression, range: { start: number; end: number }, read: (child: ts.Expression) => Expression): Expression {
  const literal = (part: ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail): Expression[] => (part.text === '' ? [] : [{ start: part.pos, end: part.end, kind: 'string', value: part.text }]);
  const parts = [...literal(node.head), ...node.templateSpans.flatMap((span) => [read(span.expression), ...literal(span.literal)])];
  return { ...range, kind: 'template', text: parts.map(textOf).join(''), parts };
}

function readProperty(property: ts.ObjectLiteralElementLike, declarations: Declarations): PropertyFact[] {
  if (ts.isSpreadAssignment(property)) return [{ name: null, value: readExpression(property.expression, declarations) }];
  const name = property.name === undefined ? null : propertyName(property.name);
  if (name === null) return [];
  const range = { start: declarations.startOf(property), end: property.end };
  if (ts.isShorthandPropertyAssignment(property)) return [{ name, value: { ...range, kind: 'name', name } }];
  if (ts.isPropertyAssignment(property)) return [{ name, value: readExpression(property.initializer, declarations) }];
  return [{ name, value: { ...range, kind: 'function', id: declarations.functionOf(property) } }];
}

/** Name of a member that can be told without running anything; null for a computed one. */
export function propertyName(name: ts.PropertyName): string | null {
  if (ts.isIdentifier(name) || ts.isPrivateIdentifier(name) || ts.isStringLiteralLike(name) || ts.isNumericLiteral(name)) return name.text;
  return ts.isComputedPropertyName(name) && ts.isStringLiteralLike(name.expression) ? name.expression.text : null;
}
