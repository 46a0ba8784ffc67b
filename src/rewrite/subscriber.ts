import { ts } from 'ts-morph';
import type { Analysis } from '../analysis/analysis.js';
import type { Subscriber } from '../core/finding.js';
import { findFunction, isAsync, walk, type FunctionNode } from './ast.js';
import { callsOf, type LocatedCall } from './calls.js';
import type { CodemodContext } from './codemod.js';
import { EditSet } from './edits.js';
import { projectOf } from './project.js';
import { refuse } from './refusal.js';

/** A subscriber as the codemods see it, after the guards that all of them share. */
export interface SubscriberCode {
  readonly edits: EditSet;
  readonly file: string;
  readonly name: string;
  readonly fn: FunctionNode;
  readonly body: ts.Block;
  /** Name that its inbox records carry. */
  readonly consumer: string;
  /** Every call of the function, those in its closures included. */
  readonly calls: readonly LocatedCall[];
  /** The calls of another function. */
  readonly callsIn: Analysis['callsIn'];
}

/** How a subscriber gets its message, and by what it acknowledges it. */
export interface Delivery {
  /** Variable that holds the message. */
  readonly message: string;
  /** Statement that declares it; null: it is a parameter. */
  readonly declaration: ts.Statement | null;
  /** Expression in the work that reads the message, and becomes the variable before it; null: there is a variable. */
  readonly inline: ts.Expression | null;
  /** Variables through which the message is acknowledged: the context, the raw message, the channel. */
  readonly handles: ReadonlySet<string>;
  /** What the user has to know. */
  readonly followUps: readonly string[];
}

/** Finds the subscriber's function again. Guards: there is an inbox, there are writes, and a transaction can be awaited. */
export function readSubscriber(subscriber: Subscriber, context: CodemodContext): SubscriberCode {
  const { file, name, line } = subscriber;
  const at = `${file}:${line}`;
  if (subscriber.inbox) refuse('already-there', `'${name}' (${at}) goes through the inbox already.`);
  if (!subscriber.writes) refuse('no-write', `No write to the database is found in '${name}' (${at}), so an inbox record would have nothing to commit with. If a second delivery does harm, make its effect idempotent by hand.`);
  const { root } = context.service;
  if (root !== '.' && !file.startsWith(`${root}/`)) refuse('subscriber-shape', `'${name}' (${at}) belongs to no service, so it can not be told whose database and inbox it would use. Ask the inbox in the functions of the services that it calls, by hand.`);
  if (context.workspace.read(`${context.service.outbox}/inbox.ts`) === null) {
    refuse('no-inbox', `'${context.service.outbox}/inbox.ts' is missing: there is no inbox to ask. Run 'outboxify migration inbox --write'.`);
  }
  const version = projectOf(context.workspace).dependency(context.service.root, 'typeorm');
  if (version !== null && /^[\^~]?0\.[12]\./.test(version)) refuse('typeorm-too-old', `'${context.service.root}' uses TypeORM '${version}'; the rewrite needs 'manager.withRepository', which came with 0.3.`);
  const edits = new EditSet(context.workspace, context.analysis);
  const fn = findFunction(edits.open(file).source, subscriber.span);
  if (fn?.body === undefined) refuse('subscriber-shape', `The function '${name}' (${at}) could not be found again.`);
  if (!ts.isBlock(fn.body)) refuse('subscriber-shape', `'${name}' (${at}) is one expression. Give it a body in braces, and await the work in it.`);
  if ((ts.isMethodDeclaration(fn) || ts.isFunctionDeclaration(fn) || ts.isFunctionExpression(fn)) && fn.asteriskToken !== undefined) refuse('generator', `'${name}' (${at}) is a generator: its caller decides when the next statement runs.`);
  if (!isAsync(fn)) refuse('not-async', `'${name}' (${at}) is not async, so it can not await a transaction. Make it async, with an 'await' before each write.`);
  const calls = callsOf(edits, { file, fn, roots: [fn.body], returnIsAwaited: true }, context);
  return { edits, file, name, fn, body: fn.body, consumer: consumerName(subscriber, context), calls, callsIn: (span) => context.analysis.callsIn(span) };
}

/** `payments.PaymentsController.onOrderPlaced`; with the destination behind it where one function has several subscribers. */
function consumerName(subscriber: Subscriber, context: CodemodContext): string {
  const name = `${context.service.name}.${subscriber.name}`;
  const prefix = context.service.root === '.' ? '' : `${context.service.root}/`;
  const others = context.analysis.result.subscribers.filter((other) => other.name === subscriber.name && other.file.startsWith(prefix)
    && (other.file !== subscriber.file || other.span.start !== subscriber.span.start));
  const hasName = /^[\w$.]+$/.test(subscriber.name);
  if (others.length === 0 && hasName) return name;
  if (subscriber.destination === null || others.some(({ destination }) => destination === subscriber.destination)) {
    refuse('subscriber-shape', `'${subscriber.name}' (${subscriber.file}:${subscriber.line}) has ${hasName ? `the name of another subscriber (${others[0]?.file ?? ''}:${others[0]?.line ?? 0})` : 'no name'}, so its inbox records could be mixed up with those of others. Give it a function with a name of its own.`);
  }
  return hasName ? `${name}.${subscriber.destination}` : `${context.service.name}.${subscriber.destination}`;
}

const acknowledging = /^(?:ack|ackAll|nack|nackAll|reject|commitOffsets|commitOffsetsIfNecessary|resolveOffset)$/;

/** Whether a call tells the broker about the message, by its name or because it gets what that takes. */
export function isAcknowledgement(call: ts.CallExpression, handles: ReadonlySet<string>): boolean {
  if (ts.isPropertyAccessExpression(call.expression) && acknowledging.test(call.expression.name.text)) return true;
  return call.arguments.some((argument) => ts.isIdentifier(argument) && handles.has(argument.text));
}

/** The handles, and the constants that are made of them: `const channel = context.getChannelRef()`. */
export function withDerived(fn: FunctionNode, handles: readonly string[]): ReadonlySet<string> {
  const all = new Set(handles);
  walk(fn, (node) => {
    if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name) || node.initializer === undefined) return;
    const made = /^(?:await\s+)?([\w$]+)\s*\.\s*(getChannelRef|getMessage|getConsumer|getMessage|getContext)\s*\(/.exec(node.initializer.getText());
    if (made !== null && all.has(made[1] ?? '')) all.add(node.name.text);
  });
  return all;
}
