import { ts } from 'ts-morph';
import { carriedAggregate } from './aggregate-in-message.js';
import type { Finding, PublishRoute, Write } from '../core/finding.js';
import { isTestFile, projectOf } from './project.js';
import { decoratorNames, lineOf, unwrap } from './ast.js';
import type { CodemodContext } from './codemod.js';
import type { Message } from './message.js';
import { refuse } from './refusal.js';

/** How the event is called in the outbox and in the code. */
export interface EventName {
  /** Message type, e.g. `order.placed`. */
  readonly type: string;
  /** Candidates for the variable, best first. */
  readonly variables: readonly string[];
}

/** The event's name: what the user says, else the pattern or routing key, else the event class, else the destination. */
export function eventName(finding: Finding, message: Message, context: CodemodContext): EventName {
  const { route, destination } = finding.publish;
  const fromClass = message.className === null ? null : fromClassName(message.className);
  const type = context.event ?? plain(route.pattern) ?? plain(route.routingKey) ?? fromClass ?? plain(route.queue) ?? plain(destination) ?? plain(route.exchange);
  if (type === null || !/^[\w.:/-]{1,255}$/.test(type)) {
    refuse('no-event-name', `The event that '${finding.handler.name}' publishes (${finding.publish.file}:${finding.publish.line}) has no name that the code tells. Give it one with '--event <name>', e.g. '--event order.placed'.`);
  }
  const camel = camelCase(type);
  return { type, variables: [camel, `${camel}Event`] };
}

/** A destination as a message type: a class name is written as `order.placed`; null when it has wildcards or blanks. */
function plain(value: string | null): string | null {
  if (value === null || value === '' || !/^[\w.:/-]+$/.test(value)) return null;
  return /^[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+$/.test(value) ? fromClassName(value) : value;
}

/** `OrderPlacedEvent` → `order.placed`; `OrderItemAdded` → `order-item.added`. */
function fromClassName(name: string): string {
  const words = name.replace(/(?:Integration|Domain)?(?:Event|Message)$/, '').match(/[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+/g) ?? [name];
  const lower = words.map((word) => word.toLowerCase());
  const verb = lower.pop() ?? '';
  return lower.length === 0 ? verb : `${lower.join('-')}.${verb}`;
}

function camelCase(type: string): string {
  const words = type.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word, index) => (index === 0 ? word[0]?.toLowerCase() : word[0]?.toUpperCase()) + word.slice(1)).join('');
  return /^[A-Za-z]/.test(joined) ? joined : `event${joined}`;
}

/** Which aggregate the stored event belongs to: order is kept per aggregate. */
export interface Aggregate {
  readonly type: string;
  /** Expression that is valid where the event is stored; null: the event's own id. */
  readonly id: string | null;
}

/** What the aggregate can be told from. */
export interface AggregateSource {
  readonly write: Write;
  /** The call in the handler that leads to the write. */
  readonly call: ts.CallExpression;
  /** Whether the value of the call is the written entity. */
  readonly returnsEntity: boolean;
}

/** The event whose aggregate is told. */
export interface StoredEvent {
  readonly file: string;
  readonly message: Message;
  readonly type: string;
  /** Variable that will hold it. */
  readonly variable: string;
}

/**
 * The aggregate is the last entity that is written; its id is the entity's primary key where a variable holds the entity, else
 * the field of the message that plainly is the id of an aggregate.
 */
export function aggregateOf(sources: readonly AggregateSource[], event: StoredEvent, context: CodemodContext): Aggregate {
  const all = sources.map((source) => ({ ...source, write: { ...source.write, target: source.write.target ?? classOfOperand(source.call) } }));
  const told = tellAggregate(all, event.message, event.type, context);
  const isRemoved = all.some(({ write }) => write.operation === 'remove');
  const targets = all.flatMap(({ write }) => write.target ?? []);
  const carried = told.id === null && context.aggregate.id === null && context.aggregate.infer && !isRemoved ? carriedAggregate(event.file, event.message, { eventType: event.type, targets }, context) : null;
  if (carried !== null) return { type: carried.type, id: `${event.variable}.${carried.field}` };
  return { type: context.aggregate.type ?? told.type, id: context.aggregate.id ?? told.id };
}

/** Entity of `manager.save(item)` by what `item` is: `manager.create(Item, …)`, `manager.findOneOrFail(Item, …)`, `new Item()`. */
function classOfOperand(call: ts.CallExpression): string | null {
  const [operand] = operands(call);
  if (operand === undefined) return null;
  const value = ts.isIdentifier(operand) ? declarationOf(operand)?.initializer : operand;
  const made = value === undefined ? null : unwrap(ts.isAwaitExpression(value) ? value.expression : value);
  if (made === null) return null;
  if (ts.isNewExpression(made)) return ts.isIdentifier(made.expression) ? made.expression.text : null;
  if (!ts.isCallExpression(made) || !ts.isPropertyAccessExpression(made.expression) || !/^(?:create|findOne|findOneBy|findOneOrFail|findOneByOrFail)$/.test(made.expression.name.text)) return null;
  const [entity] = made.arguments;
  return entity !== undefined && ts.isIdentifier(entity) && /^[A-Z]/.test(entity.text) && made.arguments.length > 1 ? entity.text : null;
}

function tellAggregate(sources: readonly AggregateSource[], message: Message, eventType: string, context: CodemodContext): Aggregate {
  const known = sources.filter((source) => source.write.target !== null);
  const source = known.find((candidate) => mentions(message, entityVariables(candidate, message)))
    ?? known.filter((candidate) => entityVariables(candidate, message).length > 0).pop() ?? known[known.length - 1];
  const type = source?.write.target ?? eventType.split('.')[0] ?? eventType;
  if (source === undefined || !context.aggregate.infer || source.write.operation === 'remove' || source.write.operation === 'softRemove') return { type, id: null };
  // `remove` takes the id from the entity.
  const removesAny = sources.some(({ write }) => write.operation === 'remove');
  const key = removesAny ? null : primaryKey(source.write.target ?? '', context);
  if (key === null) return { type, id: null };
  const [entity] = entityVariables(source, message);
  if (entity !== undefined) return { type, id: `${entity}.${key}` };
  return { type, id: criteriaId(source, key) };
}

function mentions(message: Message, variables: readonly string[]): boolean {
  const text = message.node.getText();
  return variables.some((name) => new RegExp(`\\b${name}\\b`).test(text));
}

/** Variables that hold the written entity after the call: its result, or its argument when that is one entity. */
function entityVariables({ call, write, returnsEntity }: AggregateSource, message: Message): readonly string[] {
  const names: string[] = [];
  const argument = operands(call)[0];
  if (argument !== undefined && isMany(argument)) return [];
  const parent = ts.isAwaitExpression(call.parent) ? call.parent.parent : call.parent;
  if (returnsEntity && ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name) && isVisible(parent, message)) names.push(parent.name.text);
  if (argument !== undefined && ts.isIdentifier(argument) && isInstance(argument, write.target ?? '') && takesEntity(write) && isVisible(declarationOf(argument), message)) names.push(argument.text);
  return names;
}

/** Whether a variable can be seen where the event is stored: by the message, or at the end of the transaction. */
function isVisible(declaration: ts.VariableDeclaration | ts.ParameterDeclaration | null, message: Message): boolean {
  if (declaration === null) return false;
  if (ts.isParameter(declaration)) return true;
  const block = declaration.parent.parent.parent;
  if (block.pos <= message.node.pos && block.end >= message.node.end) return true;
  if (!ts.isBlock(block)) return false;
  const { parent } = block;
  const isCallback = (ts.isArrowFunction(parent) || ts.isFunctionExpression(parent)) && ts.isCallExpression(parent.parent) && /\.transaction$/.test(parent.parent.expression.getText());
  return isCallback || (ts.isTryStatement(parent) && parent.tryBlock === block && block.statements.some((statement) => /\.commitTransaction\(\)/.test(statement.getText())));
}

/** Arguments of a write without the entity class that those of a manager begin with: `manager.update(Order, …)`. */
function operands(call: ts.CallExpression): readonly ts.Expression[] {
  const args = call.arguments.map((argument) => unwrap(argument));
  const [first] = args;
  return first !== undefined && ts.isIdentifier(first) && /^[A-Z]/.test(first.text) && args.length > 1 ? args.slice(1) : args;
}

function takesEntity(write: Write): boolean {
  return write.operation === 'save' || write.operation === 'update' || write.operation === 'upsert';
}

/** Whether a variable is declared with the entity as its type, or as a new one, or as what `create` or a finder gave. */
function isInstance(name: ts.Identifier, entity: string): boolean {
  const declaration = declarationOf(name);
  if (declaration === null) return false;
  if (declaration.type !== undefined) return declaration.type.getText() === entity;
  const value = declaration.initializer === undefined ? null : unwrap(declaration.initializer);
  if (value === null) return false;
  if (ts.isNewExpression(value)) return value.expression.getText() === entity;
  const call = ts.isAwaitExpression(value) ? unwrap(value.expression) : value;
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return false;
  const method = call.expression.name.text;
  const made = method === 'create' && call.arguments[0] !== undefined && !isMany(unwrap(call.arguments[0]));
  return made || /^(?:findOne|findOneBy|findOneOrFail|findOneByOrFail)$/.test(method);
}

function declarationOf(name: ts.Identifier): ts.VariableDeclaration | ts.ParameterDeclaration | null {
  let found: ts.VariableDeclaration | ts.ParameterDeclaration | null = null;
  for (let scope: ts.Node | undefined = name.parent; scope !== undefined && found === null; scope = scope.parent) {
    scope.forEachChild((child) => {
      const declarations = ts.isVariableStatement(child) ? child.declarationList.declarations : ts.isParameter(child) ? [child] : [];
      for (const declaration of declarations) if (ts.isIdentifier(declaration.name) && declaration.name.text === name.text) found = declaration;
    });
  }
  return found;
}

function isMany(node: ts.Expression): boolean {
  if (ts.isArrayLiteralExpression(node)) return true;
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) return /^(?:map|filter|flatMap|concat|slice)$/.test(node.expression.name.text);
  if (!ts.isIdentifier(node)) return false;
  const declaration = declarationOf(node);
  if (declaration?.type !== undefined) return /\[\]$|^(?:Readonly)?Array</.test(declaration.type.getText());
  return declaration?.initializer !== undefined && isMany(unwrap(declaration.initializer));
}

/** `update(order.id, …)`, `delete({ id: orderId })`: the id is in the criteria. */
function criteriaId({ call, write }: AggregateSource, key: string): string | null {
  if (!/^(?:update|delete|softDelete|restore)$/.test(write.operation) || write.path.length > 0) return null;
  const criteria = operands(call)[0];
  if (criteria === undefined) return null;
  if (ts.isIdentifier(criteria) || ts.isPropertyAccessExpression(criteria)) {
    const last = ts.isIdentifier(criteria) ? criteria.text : criteria.name.text;
    return last === key || last.toLowerCase().endsWith(key.toLowerCase()) ? criteria.getText() : null;
  }
  if (!ts.isObjectLiteralExpression(criteria)) return null;
  for (const property of criteria.properties) {
    if (property.name?.getText() !== key) continue;
    if (ts.isShorthandPropertyAssignment(property)) return key;
    if (ts.isPropertyAssignment(property) && (ts.isIdentifier(property.initializer) || ts.isPropertyAccessExpression(property.initializer))) return property.initializer.getText();
  }
  return null;
}

/** Name of the one primary key property of an entity; null when there is none, several, or it may be absent. */
function primaryKey(entity: string, context: CodemodContext): string | null {
  const project = projectOf(context.workspace);
  const declared = project.findClassByName(context.service.root, entity) ?? project.findClassByName('.', entity);
  let node = declared?.node;
  let file = declared?.file ?? '';
  for (let depth = 0; node !== undefined && depth < 5; depth += 1) {
    const keys = node.members.filter((member) => ts.isPropertyDeclaration(member) && decoratorNames(member).some((name) => /^(?:Primary(?:Generated)?Column|ObjectIdColumn)$/.test(name)));
    const [key] = keys;
    if (key !== undefined) return keys.length === 1 && ts.isPropertyDeclaration(key) && key.questionToken === undefined && ts.isIdentifier(key.name) ? key.name.text : null;
    const base = node.heritageClauses?.find((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression.getText();
    const parent = base === undefined ? null : project.findType(file, base);
    node = parent !== null && ts.isClassDeclaration(parent.node) ? parent.node : undefined;
    file = parent?.file ?? file;
  }
  return null;
}

/** The entry of `routes.ts`, as an object: what the relay has to repeat. */
export function routeEntry(finding: Finding, options: Readonly<Record<string, string>>): readonly (readonly [string, string | Readonly<Record<string, string>>])[] {
  const { route } = finding.publish;
  const extra = Object.keys(options).length > 0 ? [['options', options] as const] : [];
  const entry = knownRoute(route);
  if (entry !== null) return [...entry, ...(route.transport === 'amqp' ? extra : [])];
  return [['transport', 'unresolved'], ['note', `published by ${finding.handler.name} through ${finding.publish.bus}; write down where it goes`]];
}

function knownRoute(route: PublishRoute): readonly (readonly [string, string])[] | null {
  if (route.transport === 'nest' && route.client !== null && route.pattern !== null) {
    return [['transport', 'nest'], ['client', route.client], ['pattern', route.pattern]];
  }
  if (route.transport !== 'amqp') return null;
  if (route.queue !== null) return [['transport', 'amqp'], ['queue', route.queue]];
  return route.exchange !== null && route.routingKey !== null ? [['transport', 'amqp'], ['exchange', route.exchange], ['routingKey', route.routingKey]] : null;
}

export function isTest(finding: Finding): boolean {
  return isTestFile(finding.handler.file);
}

export function where(file: string, node: ts.Node): string {
  return `${file}:${lineOf(node)}`;
}
