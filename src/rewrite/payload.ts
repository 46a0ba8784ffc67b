import { ts } from 'ts-morph';
import { decoratorsOf, lineOf, unwrap, walk } from './ast.js';
import type { CodemodContext } from './codemod.js';
import { isTestFile, projectOf } from './project.js';
import { refuse } from './refusal.js';
import type { SubscriberCode } from './subscriber.js';

/** The first argument of a decorator of a parameter; undefined: it has no such decorator; null: without an argument. */
export function parameterDecorator(parameter: ts.ParameterDeclaration, name: string): ts.Expression | null | undefined {
  const decorator = decoratorsOf(parameter).find(({ expression }) => (ts.isCallExpression(expression) ? expression.expression.getText() : expression.getText()) === name);
  if (decorator === undefined) return undefined;
  return ts.isCallExpression(decorator.expression) ? (decorator.expression.arguments[0] ?? null) : null;
}

/** Name of the parameter that holds the whole message. Guards: it is an object that still has its `eventId`. */
export function payloadName(code: SubscriberCode, parameter: ts.ParameterDeclaration, decorator: string, context: CodemodContext): string {
  const at = `${code.file}:${lineOf(parameter)}`;
  const part = parameterDecorator(parameter, decorator);
  if (part !== undefined && part !== null && ts.isStringLiteralLike(part)) {
    refuse('message-part', `'${code.name}' (${at}) takes only '${part.text}' of its message. Take the whole message with '@${decorator}()', so that its eventId can be seen.`);
  }
  if (part !== undefined && part !== null) guardPipe(code, part, at);
  if (!ts.isIdentifier(parameter.name)) refuse('message-part', `'${code.name}' (${at}) takes its message apart in its parameters. Give the whole message a name, and take it apart in the body.`);
  guardObject(code, parameter, parameter.name.text, at);
  guardWhitelist(code, parameter, context);
  return parameter.name.text;
}

/** A pipe may make something else out of the message; one that validates does not. */
function guardPipe(code: SubscriberCode, pipe: ts.Expression, at: string): void {
  if (/^(?:new\s+)?ValidationPipe\b/.test(pipe.getText()) && !/whitelist\s*:\s*true/.test(pipe.getText())) return;
  refuse('event-id-lost', `The pipe '${pipe.getText()}' of '${code.name}' (${at}) may make a value without the eventId of the message. Take the message as it came.`);
}

/** Guards: the message is an object by its type, or is used as one. */
function guardObject(code: SubscriberCode, parameter: ts.ParameterDeclaration, name: string, at: string): void {
  const { type } = parameter;
  const kind = type?.kind;
  const isPrimitive = kind === ts.SyntaxKind.NumberKeyword || kind === ts.SyntaxKind.StringKeyword || kind === ts.SyntaxKind.BooleanKeyword || kind === ts.SyntaxKind.BigIntKeyword;
  if (isPrimitive || (type !== undefined && (ts.isArrayTypeNode(type) || ts.isTupleTypeNode(type) || /^(?:Readonly)?Array</.test(type.getText())))) {
    refuse('message-not-object', `The message of '${code.name}' (${at}) is '${type?.getText() ?? ''}': it has no eventId by which a second delivery could be told. Let the publisher send an object.`);
  }
  const isTold = type !== undefined && kind !== ts.SyntaxKind.AnyKeyword && kind !== ts.SyntaxKind.UnknownKeyword;
  if (isTold || isUsedAsObject(code, name)) return;
  refuse('message-shape-unknown', `It can not be told whether the message of '${code.name}' (${at}) is an object with an eventId. Declare the type of '${name}'.`);
}

function isUsedAsObject(code: SubscriberCode, name: string): boolean {
  let found = false;
  walk(code.body, (node) => {
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(unwrap(node.expression)) && unwrap(node.expression).getText() === name) found = true;
    if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && node.initializer?.getText() === name) found = true;
  });
  return found;
}

/** Guards: no validation pipe with a whitelist takes the `eventId` away before the subscriber sees it. */
function guardWhitelist(code: SubscriberCode, parameter: ts.ParameterDeclaration, context: CodemodContext): void {
  const type = parameter.type;
  if (type === undefined || !ts.isTypeReferenceNode(type)) return;
  const project = projectOf(context.workspace);
  const name = type.typeName.getText();
  if (!isValidatedWithout(context, code.file, name)) return;
  const pipe = project.filesMentioning('ValidationPipe', context.service.root).find((file) => !isTestFile(file) && /whitelist\s*:\s*true/.test(context.workspace.read(file) ?? ''));
  if (pipe === undefined) return;
  refuse('event-id-lost', `'${pipe}' sets up a ValidationPipe with 'whitelist: true', and '${name}' (${code.file}:${lineOf(parameter)}) has no 'eventId': it would be gone before the inbox sees it. Add '@IsOptional() @IsUUID() readonly eventId?: string' to '${name}'.`);
}

/** A class with decorators on its fields, and no field `eventId`; what it inherits counts. */
function isValidatedWithout(context: CodemodContext, file: string, name: string): boolean {
  const fields = fieldsOf(context, file, name, 0);
  return fields.isDecorated && !fields.hasEventId;
}

function fieldsOf(context: CodemodContext, file: string, name: string, depth: number): { readonly isDecorated: boolean; readonly hasEventId: boolean } {
  const declared = projectOf(context.workspace).findType(file, name);
  if (declared === null || !ts.isClassDeclaration(declared.node) || depth > 4) return { isDecorated: false, hasEventId: false };
  const { members, heritageClauses } = declared.node;
  const base = heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression.getText();
  const inherited = base === undefined ? { isDecorated: false, hasEventId: false } : fieldsOf(context, declared.file, base, depth + 1);
  return {
    isDecorated: inherited.isDecorated || members.some((member) => decoratorsOf(member).length > 0),
    hasEventId: inherited.hasEventId || members.some((member) => member.name?.getText() === 'eventId'),
  };
}
