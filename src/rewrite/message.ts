import { ts } from 'ts-morph';
import type { FunctionRef } from '../core/finding.js';
import { findFunction, isAsync, lineOf, unwrap, walk } from './ast.js';
import { usesDatabase } from './calls.js';
import type { EditSet } from './edits.js';
import { projectOf, type Project } from './project.js';
import { refuse } from './refusal.js';
import { guardReserved, guardReservedMember } from './reserved.js';
import { findVariable } from './scope.js';
import type { CodemodContext } from './codemod.js';

/** The message of a publish, as the codemods may use it. */
export interface Message {
  /** The whole expression, with casts. */
  readonly node: ts.Expression;
  /** The literal or `new` expression behind it. */
  readonly shape: ts.ObjectLiteralExpression | ts.NewExpression;
  /** Name of the event class, when it is an instance of one. */
  readonly className: string | null;
}

/** Fields by which a Kafka or RabbitMQ envelope of Nest is told from a message. */
const envelopeFields = new Set(['key', 'value', 'headers', 'partition', 'timestamp']);

/** Guards: the message has to be an object that can take an `eventId`, and whose shape is written down in the code. */
export function readMessage(edits: EditSet, file: string, node: ts.Expression, context: CodemodContext): Message {
  const at = `${file}:${lineOf(node)}`;
  const project = projectOf(context.workspace);
  const made = madeByFactory(file, node, context);
  const [first] = made;
  if (first !== undefined) {
    for (const each of made) guardShape(project, each.file, each.shape, `${each.file}:${lineOf(each.shape)}`);
    return { node, shape: first.shape, className: null };
  }
  const span = { file, start: node.getSourceFile().getStart(), end: node.getSourceFile().getEnd() };
  const isDatabase = (value: ts.Expression): boolean => context.analysis.callsIn(span).some((call) => call.span.start === value.getStart() && call.span.end === value.getEnd() && (usesDatabase(call) || call.receiver?.module === 'typeorm'));
  const shape = shapeOf(node, isDatabase);
  if (ts.isObjectLiteralExpression(shape)) {
    guardLiteral(shape, at);
    guardReserved(file, shape, context);
    guardSpreads(file, shape, at, context);
    return { node, shape, className: null };
  }
  const className = shape.expression.getText();
  guardClass(project, file, className, at);
  return { node, shape, className };
}

function guardShape(project: Project, file: string, shape: Message['shape'], at: string): void {
  if (ts.isObjectLiteralExpression(shape)) guardLiteral(shape, at);
  else guardClass(project, file, shape.expression.getText(), at);
}

/** What a function of the project makes, when the message is what it returns and it returns nothing but new objects. */
function madeByFactory(file: string, node: ts.Expression, context: CodemodContext): readonly { readonly file: string; readonly shape: Message['shape'] }[] {
  const inner = unwrap(node);
  const declaration = ts.isIdentifier(inner) ? findVariable(inner, inner.text) : null;
  const value = declaration !== null && ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined ? unwrap(declaration.initializer) : inner;
  if (!ts.isCallExpression(value)) return [];
  const span = { file, start: value.getStart(), end: value.getEnd() };
  const call = context.analysis.callsIn(span).find((candidate) => candidate.span.start === span.start && candidate.span.end === span.end);
  if (call?.callee.kind !== 'project' || call.effects.read || call.effects.write) return [];
  const shapes = call.callee.functions.map((ref) => returnedShapes(ref, context));
  return shapes.every((each) => each.length > 0) ? shapes.flat() : [];
}

function returnedShapes(ref: FunctionRef, context: CodemodContext): readonly { readonly file: string; readonly shape: Message['shape'] }[] {
  const source = context.analysis.sourceFile(ref.file);
  const fn = source === null ? null : findFunction(source, ref.span);
  if (fn?.body === undefined || isAsync(fn)) return [];
  const values: (ts.Expression | undefined)[] = [];
  if (!ts.isBlock(fn.body)) values.push(fn.body);
  else walk(fn.body, (node) => {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isReturnStatement(node)) values.push(node.expression);
    return true;
  });
  const shapes = values.map((value) => (value === undefined ? null : unwrap(value)));
  const isShape = (shape: ts.Expression | null): shape is Message['shape'] => shape !== null && (ts.isObjectLiteralExpression(shape) || ts.isNewExpression(shape));
  return shapes.every(isShape) ? shapes.map((shape) => ({ file: ref.file, shape })) : [];
}

function shapeOf(node: ts.Expression, isDatabase: (call: ts.Expression) => boolean): Message['shape'] {
  const inner = unwrap(node);
  const at = `'${short(node)}' (line ${lineOf(node)})`;
  guardRecord(inner, at);
  if (ts.isObjectLiteralExpression(inner) || ts.isNewExpression(inner)) return inner;
  if (ts.isStringLiteralLike(inner) || ts.isTemplateExpression(inner) || ts.isNumericLiteral(inner) || ts.isArrayLiteralExpression(inner)
    || inner.kind === ts.SyntaxKind.NullKeyword || inner.kind === ts.SyntaxKind.TrueKeyword || inner.kind === ts.SyntaxKind.FalseKeyword) {
    refuse('message-not-object', `The message ${at} is no object: it can not take an eventId. Wrap it in an object and let subscribers read it from there.`);
  }
  if (ts.isIdentifier(inner)) return variableShape(inner, at, isDatabase);
  refuse('message-shape-unknown', `It can not be told what object the message ${at} is. Publish an object literal or 'new SomeEvent(…)'.`);
}

/** Nest's records of a transport: the message is inside, with options beside it. */
function guardRecord(value: ts.Expression, at: string): void {
  const isBuilt = ts.isCallExpression(value) && /\.build$/.test(value.expression.getText());
  if (!isBuilt && !(ts.isNewExpression(value) && /^(?:Rmq|Mqtt|Nats)Record$/.test(value.expression.getText()))) return;
  refuse('message-wrapped', `The message ${at} is a record of the transport, with the message and its options in it; an eventId can not be put into it from outside, and a row of the outbox does not carry the options. Publish the message itself.`);
}

function variableShape(name: ts.Identifier, at: string, isDatabase: (call: ts.Expression) => boolean): Message['shape'] {
  const declaration = findVariable(name, name.text);
  if (declaration === null || !ts.isVariableDeclaration(declaration) || declaration.initializer === undefined) {
    refuse('message-shape-unknown', `It can not be told what object the message ${at} is: it comes from outside of the function. Publish an object literal or 'new SomeEvent(…)'.`);
  }
  const value = unwrap(declaration.initializer);
  guardRecord(value, at);
  if (ts.isObjectLiteralExpression(value) || ts.isNewExpression(value)) return value;
  if (isDatabase(ts.isAwaitExpression(value) ? unwrap(value.expression) : value)) {
    refuse('entity-as-message', `The message ${at} is what '${short(value)}' returned, most likely an entity with its relations. Publish an object literal with the fields that subscribers need.`);
  }
  refuse('message-shape-unknown', `It can not be told what object the message ${at} is. Publish an object literal or 'new SomeEvent(…)'.`);
}

function guardLiteral(literal: ts.ObjectLiteralExpression, at: string): void {
  const names = literal.properties.map((property) => (property.name !== undefined && (ts.isIdentifier(property.name) || ts.isStringLiteral(property.name)) ? property.name.text : null));
  if (names.includes('eventId')) {
    refuse('message-has-event-id', `The message (${at}) has an 'eventId' of its own. Rename that field: the event's own id goes by this name.`);
  }
  if (names.includes('value') && names.every((name) => name !== null && envelopeFields.has(name))) {
    refuse('message-wrapped', `The message (${at}) is an envelope with '${names.join("', '")}': the transport would drop an eventId beside them.`);
  }
  if (literal.properties.some((property) => ts.isAccessor(property) || ts.isMethodDeclaration(property))) {
    refuse('message-class', `The message (${at}) has methods or accessors, which a stored event can not have.`);
  }
}

/** `{ ...ticket }` of an entity or DTO that has an `eventId`: the event's own would take its place. */
function guardSpreads(file: string, literal: ts.ObjectLiteralExpression, at: string, context: CodemodContext): void {
  const project = projectOf(context.workspace);
  for (const spread of literal.properties.filter(ts.isSpreadAssignment)) {
    const value = unwrap(spread.expression);
    const declaration = ts.isIdentifier(value) ? findVariable(value, value.text) : null;
    const type = declaration === null || ts.isBindingElement(declaration) ? undefined : declaration.type?.getText();
    const declared = type === undefined ? null : project.findType(file, type);
    const holder = declared !== null
      ? (declared.node.members.some((member) => member.name?.getText() === 'eventId') ? declared.file : undefined)
      : project.filesMentioning('@Entity(', context.service.root).find((entity) => !entity.startsWith(`${context.service.outbox}/`) && /\beventId[!?]?\s*:/.test(context.workspace.read(entity) ?? ''));
    if (holder !== undefined) refuse('message-has-event-id', `The message (${at}) takes over '${short(spread)}', and '${holder}' has an 'eventId' of its own, which the event's would replace. Write down the fields that subscribers need.`);
  }
}

function guardClass(project: Project, file: string, className: string, at: string): void {
  const declared = project.findType(file, className);
  if (declared === null || !ts.isClassDeclaration(declared.node)) {
    refuse('message-shape-unknown', `The message (${at}) is a '${className}', whose class is not part of the project: it can not be told whether a copy of it with an eventId is still the same message.`);
  }
  for (const member of declared.node.members) {
    const name = member.name?.getText() ?? '';
    if (name === 'eventId') refuse('message-has-event-id', `'${className}' (${declared.file}:${lineOf(member)}) has an 'eventId' of its own. Rename that field: the event's own id goes by this name.`);
    guardReservedMember(declared.file, member);
    if (ts.isConstructorDeclaration(member)) for (const parameter of member.parameters) guardReservedMember(declared.file, parameter);
    if (name === 'toJSON' || name.startsWith('#') || ts.isAccessor(member)) {
      refuse('message-class', `'${className}' (${declared.file}:${lineOf(member)}) has '${name}', which a copy with an eventId would lose or bypass.`);
    }
  }
  if (declared.node.members.some((member) => ts.isConstructorDeclaration(member) && member.parameters.some((parameter) => parameter.name.getText() === 'eventId'))) {
    refuse('message-has-event-id', `'${className}' (${declared.file}) takes an 'eventId' of its own. Rename it: the event's own id goes by this name.`);
  }
  if (declared.node.heritageClauses?.some((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword) === true) {
    const base = declared.node.heritageClauses.find((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression.getText() ?? '';
    guardClass(project, declared.file, base, at);
  }
}

export function short(node: ts.Node): string {
  const text = node.getText().replace(/\s+/g, ' ');
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
