import { ts } from 'ts-morph';
import { decoratorNames, enclosingClass, isFunctionNode, walk } from './ast.js';
import { propertyOf } from './bind.js';
import type { CodemodContext } from './codemod.js';
import { projectOf, type Declared, type TypeDeclaration } from './project.js';
import { findVariable } from './scope.js';

/** Calls of the language that give a value whatever they get. */
const harmlessCalls = /^(?:Date\.now|new Date\(\)\.(?:toISOString|getTime|valueOf)|(?:crypto\.)?randomUUID)$/;
/** Calls on repositories that give an object or fail: never null. */
const givesObject = /\.(?:save|create|merge|insert|update|delete|upsert|remove|softRemove|recover|findOneOrFail|findOneByOrFail|getOneOrFail|find|findBy|getMany)$/;
const relations = new Set(['OneToOne', 'OneToMany', 'ManyToOne', 'ManyToMany']);

/**
 * The first part of an expression that may fail when it is computed; null: none can. Literals, names, and plain reads of
 * values that are not null by their declaration can't.
 */
export function fallible(node: ts.Expression, file: string, context: CodemodContext): ts.Node | null {
  const first = (parts: readonly ts.Expression[]): ts.Node | null => {
    for (const part of parts) {
      const found = fallible(part, file, context);
      if (found !== null) return found;
    }
    return null;
  };
  if (ts.isIdentifier(node) || ts.isLiteralExpression(node) || node.kind === ts.SyntaxKind.ThisKeyword || isWord(node) || ts.isFunctionExpression(node) || ts.isArrowFunction(node)) return null;
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return first([node.expression]);
  if (ts.isTemplateExpression(node)) return first(node.templateSpans.map(({ expression }) => expression));
  if (ts.isArrayLiteralExpression(node)) return node.elements.some(ts.isSpreadElement) ? node : first(node.elements);
  if (ts.isObjectLiteralExpression(node)) return fallibleLiteral(node, first);
  if (ts.isConditionalExpression(node)) return first([node.condition, node.whenTrue, node.whenFalse]);
  if (ts.isBinaryExpression(node)) return isPlainOperator(node.operatorToken.kind) ? first([node.left, node.right]) : node;
  if (ts.isPrefixUnaryExpression(node)) return node.operator === ts.SyntaxKind.ExclamationToken || node.operator === ts.SyntaxKind.MinusToken ? first([node.operand]) : node;
  if (ts.isTypeOfExpression(node)) return null;
  if (ts.isPropertyAccessExpression(node)) return isPlainRead(node, file, context) ? null : node;
  if (ts.isNewExpression(node)) return assignsOnly(node, file, context) ? first(node.arguments ?? []) : node;
  return ts.isCallExpression(node) && node.arguments.length === 0 && harmlessCalls.test(node.expression.getText()) ? null : node;
}

function fallibleLiteral(node: ts.ObjectLiteralExpression, first: (parts: readonly ts.Expression[]) => ts.Node | null): ts.Node | null {
  return first(node.properties.flatMap((property) => {
    if (ts.isSpreadAssignment(property)) return [property.expression];
    const computed = property.name !== undefined && ts.isComputedPropertyName(property.name) ? [property.name.expression] : [];
    return ts.isPropertyAssignment(property) ? [...computed, property.initializer] : computed;
  }));
}

function isWord({ kind }: ts.Node): boolean {
  return kind === ts.SyntaxKind.TrueKeyword || kind === ts.SyntaxKind.FalseKeyword || kind === ts.SyntaxKind.NullKeyword;
}

function isPlainOperator(kind: ts.SyntaxKind): boolean {
  return kind === ts.SyntaxKind.QuestionQuestionToken || kind === ts.SyntaxKind.BarBarToken || kind === ts.SyntaxKind.AmpersandAmpersandToken
    || kind === ts.SyntaxKind.EqualsEqualsEqualsToken || kind === ts.SyntaxKind.ExclamationEqualsEqualsToken || kind === ts.SyntaxKind.GreaterThanToken || kind === ts.SyntaxKind.LessThanToken
    || kind === ts.SyntaxKind.PlusToken || kind === ts.SyntaxKind.MinusToken || kind === ts.SyntaxKind.AsteriskToken || kind === ts.SyntaxKind.SlashToken;
}

/** `this.x`, or `x.y` and `this.x.y` of a value that is there by its declaration. */
function isPlainRead(node: ts.PropertyAccessExpression, file: string, context: CodemodContext): boolean {
  if (node.questionDotToken !== undefined) return false;
  const holder = node.expression;
  if (holder.kind === ts.SyntaxKind.ThisKeyword) return !isAccessor(enclosingClass(node), node.name.text);
  const type = typeOf(holder, file, context);
  if (type === null) return false;
  return type === 'object' || !isAccessor(type.node, node.name.text);
}

function isAccessor(owner: TypeDeclaration | null, name: string): boolean {
  return owner !== null && owner.members.some((member) => ts.isAccessor(member) && member.name.getText() === name);
}

/** What a value is by its declaration: a type of the project, some object, or (null) perhaps nothing at all. */
function typeOf(node: ts.Expression, file: string, context: CodemodContext): Declared<TypeDeclaration> | 'object' | null {
  if (ts.isParenthesizedExpression(node)) return typeOf(node.expression, file, context);
  if (ts.isIdentifier(node)) return variableType(node, file, context);
  if (!ts.isPropertyAccessExpression(node) || node.questionDotToken !== undefined) return null;
  if (node.expression.kind === ts.SyntaxKind.ThisKeyword) {
    const property = propertyOf(enclosingClass(node), node.name.text);
    if (property === null) return null;
    if (property.type === undefined) return property.initializer === undefined ? null : valueType(property.initializer);
    return declaredType(property, file, context);
  }
  const holder = typeOf(node.expression, file, context);
  if (holder === null || holder === 'object') return null;
  const member = holder.node.members.find((candidate) => candidate.name?.getText() === node.name.text);
  if (member === undefined || !(ts.isPropertyDeclaration(member) || ts.isPropertySignature(member)) || decoratorNames(member).some((name) => relations.has(name))) return null;
  return declaredType(member, holder.file, context);
}

function variableType(node: ts.Identifier, file: string, context: CodemodContext): Declared<TypeDeclaration> | 'object' | null {
  const declaration = findVariable(node, node.text);
  if (declaration === null || ts.isBindingElement(declaration)) return null;
  if (declaration.type !== undefined) return declaredType(declaration, file, context) ?? (isGuarded(node) ? 'object' : null);
  const value = declaration.initializer === undefined ? null : valueType(declaration.initializer);
  return value ?? (isGuarded(node) ? 'object' : null);
}

function declaredType(declared: { readonly type?: ts.TypeNode; readonly questionToken?: ts.Node | undefined; readonly exclamationToken?: ts.Node | undefined }, file: string, context: CodemodContext): Declared<TypeDeclaration> | 'object' | null {
  const { type } = declared;
  if (type === undefined || declared.questionToken !== undefined || /\b(?:null|undefined|any|unknown|void)\b/.test(type.getText())) return null;
  if (!ts.isTypeReferenceNode(type)) return 'object';
  return projectOf(context.workspace).findType(file, type.typeName.getText()) ?? 'object';
}

function valueType(value: ts.Expression): 'object' | null {
  let inner = value;
  while (ts.isParenthesizedExpression(inner) || ts.isAsExpression(inner) || ts.isAwaitExpression(inner) || ts.isSatisfiesExpression(inner)) inner = inner.expression;
  if (ts.isObjectLiteralExpression(inner) || ts.isNewExpression(inner) || ts.isArrayLiteralExpression(inner)) return 'object';
  return ts.isCallExpression(inner) && givesObject.test(inner.expression.getText()) && !inner.expression.getText().includes('?.') ? 'object' : null;
}

/** Whether the function has left already where the variable holds nothing: `if (!order) throw …`. */
function isGuarded(node: ts.Identifier): boolean {
  const fn = ts.findAncestor(node, isFunctionNode);
  let found = false;
  if (fn?.body === undefined) return false;
  walk(fn.body, (other) => {
    if (ts.isFunctionLike(other)) return false;
    if (!ts.isIfStatement(other) || other.end > node.pos || !isEmptyTest(other.expression, node.text)) return true;
    const then = ts.isBlock(other.thenStatement) ? other.thenStatement.statements[other.thenStatement.statements.length - 1] : other.thenStatement;
    if (then !== undefined && (ts.isThrowStatement(then) || ts.isReturnStatement(then)) && other.parent === fn.body) found = true;
    return true;
  });
  return found;
}

function isEmptyTest(condition: ts.Expression, name: string): boolean {
  return [`!${name}`, `${name}===null`, `${name}==null`, `${name}===undefined`, `${name}==undefined`].includes(condition.getText().replace(/\s+/g, ''));
}

/** `new OrderPlaced(…)` of a class of the project whose constructor, and those it inherits, only keep what they get. */
function assignsOnly(node: ts.NewExpression, file: string, context: CodemodContext): boolean {
  const text = node.expression.getText();
  if (text === 'Date' && projectOf(context.workspace).findType(file, 'Date') === null) return true;
  return keepsOnly(file, text, context, 0);
}

function keepsOnly(file: string, name: string, context: CodemodContext, depth: number): boolean {
  const declared = projectOf(context.workspace).findType(file, name);
  if (declared === null || !ts.isClassDeclaration(declared.node) || depth > 4) return false;
  for (const member of declared.node.members) {
    if (ts.isPropertyDeclaration(member) && member.initializer !== undefined && fallible(member.initializer, declared.file, context) !== null) return false;
    if (!ts.isConstructorDeclaration(member)) continue;
    if (member.parameters.some(({ name: parameter, initializer }) => !ts.isIdentifier(parameter) || (initializer !== undefined && fallible(initializer, declared.file, context) !== null))) return false;
    if (member.body !== undefined && !member.body.statements.every((statement) => keeps(statement, declared.file, context))) return false;
  }
  const base = declared.node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression.getText();
  return base === undefined || keepsOnly(declared.file, base, context, depth + 1);
}

/** `this.id = id;` or `super(id);` */
function keeps(statement: ts.Statement, file: string, context: CodemodContext): boolean {
  if (!ts.isExpressionStatement(statement)) return false;
  const { expression } = statement;
  if (ts.isCallExpression(expression)) return expression.expression.kind === ts.SyntaxKind.SuperKeyword && expression.arguments.every((argument) => fallible(argument, file, context) === null);
  return ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isPropertyAccessExpression(expression.left)
    && expression.left.expression.kind === ts.SyntaxKind.ThisKeyword && fallible(expression.right, file, context) === null;
}
