import { ts } from 'ts-morph';
import { enclosingClass, lineOf, unwrap } from './ast.js';
import { propertyOf } from './bind.js';
import type { CodemodContext } from './codemod.js';
import { projectOf } from './project.js';
import { refuse } from './refusal.js';
import { findVariable } from './scope.js';

/** Members of a type, as far as they are written down in the project. */
interface Members {
  readonly file: string;
  readonly members: readonly ts.Node[];
}

/** Guards: an `occurredAt` that the message brings is a Date or a string, and what it spreads brings no `eventId`. */
export function guardReserved(file: string, literal: ts.ObjectLiteralExpression, context: CodemodContext): void {
  for (const property of literal.properties) {
    if (ts.isSpreadAssignment(property)) guardSpread(file, property, context);
    const isTime = (ts.isPropertyAssignment(property) || ts.isShorthandPropertyAssignment(property)) && property.name.getText().replace(/['"]/g, '') === 'occurredAt';
    if (isTime && isNoTime(file, ts.isPropertyAssignment(property) ? property.initializer : property.name, context)) refuseTime(property.getText(), `${file}:${lineOf(property)}`);
  }
}

function guardSpread(file: string, spread: ts.SpreadAssignment, context: CodemodContext): void {
  const held = membersOf(file, spread.expression, context);
  const at = `${file}:${lineOf(spread)}`;
  for (const member of held?.members ?? []) {
    if (!ts.isPropertySignature(member) && !ts.isPropertyDeclaration(member)) continue;
    const name = member.name.getText();
    if (name === 'eventId') refuse('message-has-event-id', `The message (${at}) takes over '${spread.getText()}', which brings an 'eventId' of its own (${held?.file ?? file}:${lineOf(member)}); the event's would replace it. Write down the fields that subscribers need.`);
    if (name === 'occurredAt' && member.type !== undefined && !isTimeText(member.type.getText())) refuseTime(spread.getText(), at);
  }
}

/** Guards: a message class has no `occurredAt` of another type. */
export function guardReservedMember(file: string, member: ts.ClassElement | ts.ParameterDeclaration): void {
  const type = ts.isPropertyDeclaration(member) || ts.isParameter(member) ? member.type : undefined;
  if (member.name?.getText() === 'occurredAt' && type !== undefined && !isTimeText(type.getText())) refuseTime(member.getText(), `${file}:${lineOf(member)}`);
}

function refuseTime(text: string, at: string): never {
  refuse('message-has-event-id', `'${text}' (${at}) gives the message an 'occurredAt' that is neither a Date nor a string, and the event's time goes by this name. Rename that field, or make it a Date.`);
}

function isTimeText(text: string): boolean {
  return text.split('|').every((part) => /^(?:Date|string|undefined|null|any|unknown|['"].*['"])$/.test(part.trim()));
}

function isNoTime(file: string, node: ts.Expression, context: CodemodContext): boolean {
  const value = unwrap(node);
  if (ts.isNumericLiteral(value) || ts.isPrefixUnaryExpression(value) || ts.isObjectLiteralExpression(value) || ts.isArrayLiteralExpression(value)) return true;
  if (ts.isCallExpression(value)) return /^(?:Date\.now|Date\.parse|Date\.UTC|Number|Math\.\w+|performance\.now)$|\.(?:getTime|valueOf)$/.test(value.expression.getText());
  const type = typeText(file, value, context);
  return type !== null && !isTimeText(type);
}

function typeText(file: string, node: ts.Expression, context: CodemodContext): string | null {
  if (ts.isIdentifier(node)) {
    const declaration = findVariable(node, node.text);
    if (declaration === null || ts.isBindingElement(declaration)) return null;
    if (declaration.type !== undefined) return declaration.type.getText();
    return declaration.initializer !== undefined && isNoTime(file, declaration.initializer, context) ? 'number' : null;
  }
  if (!ts.isPropertyAccessExpression(node)) return null;
  if (node.expression.kind === ts.SyntaxKind.ThisKeyword) return propertyOf(enclosingClass(node), node.name.text)?.type?.getText() ?? null;
  const member = membersOf(file, node.expression, context)?.members.find((candidate) => (ts.isPropertySignature(candidate) || ts.isPropertyDeclaration(candidate)) && candidate.name.getText() === node.name.text);
  return member !== undefined && (ts.isPropertySignature(member) || ts.isPropertyDeclaration(member)) ? (member.type?.getText() ?? null) : null;
}

/** What a variable, or the rest of one that is taken apart, is declared to hold. */
function membersOf(file: string, node: ts.Expression, context: CodemodContext): Members | null {
  const value = unwrap(node);
  const declaration = ts.isIdentifier(value) ? findVariable(value, value.text) : null;
  if (declaration === null) return null;
  if (ts.isBindingElement(declaration)) {
    const owner = ts.findAncestor(declaration, (ancestor) => ts.isVariableDeclaration(ancestor) || ts.isParameter(ancestor));
    if (declaration.dotDotDotToken === undefined || owner === undefined || !(ts.isVariableDeclaration(owner) || ts.isParameter(owner))) return null;
    const held = owner.type !== undefined ? membersOfType(file, owner.type, context) : owner.initializer === undefined ? null : membersOf(file, owner.initializer, context);
    const taken = declaration.parent.elements.map((element) => (ts.isBindingElement(element) ? (element.propertyName ?? element.name).getText() : ''));
    return held === null ? null : { file: held.file, members: held.members.filter((member) => !(ts.isClassElement(member) || ts.isTypeElement(member)) || !taken.includes(member.name?.getText() ?? '')) };
  }
  return declaration.type === undefined ? null : membersOfType(file, declaration.type, context);
}

function membersOfType(file: string, type: ts.TypeNode, context: CodemodContext): Members | null {
  if (ts.isTypeLiteralNode(type)) return { file, members: type.members };
  if (!ts.isTypeReferenceNode(type)) return null;
  const declared = projectOf(context.workspace).findType(file, type.typeName.getText());
  return declared === null ? null : { file: declared.file, members: declared.node.members };
}
