import { ts } from 'ts-morph';
import type { Subscriber } from '../core/finding.js';
import type { CodemodResult } from '../core/outcome.js';
import { ambientDecorator, guardPlainOptions, type AmbientDecorator } from './ambient-decorator.js';
import { enclosingFunction, lineOf } from './ast.js';
import { usesDatabase } from './calls.js';
import type { CodemodContext } from './codemod.js';
import { finishEdits } from './imports.js';
import { guardText, importInbox } from './inbox-guard.js';
import { joinCallbackTransaction, joinRunnerTransaction } from './inbox-join.js';
import { wrapWork } from './inbox-wrap.js';
import { short } from './message.js';
import { findOwner } from './owner.js';
import { refuse } from './refusal.js';
import { indentAt } from './style.js';
import { readSubscriber, type Delivery, type SubscriberCode } from './subscriber.js';
import { acknowledgements, findWork, guardHandles } from './work.js';

/** Plans the inbox of a subscriber: joins the transaction that does its work, or wraps the work in one. */
export function planSubscriber(subscriber: Subscriber, context: CodemodContext, readDelivery: (code: SubscriberCode) => Delivery): CodemodResult {
  const code = readSubscriber(subscriber, context);
  const delivery = readDelivery(code);
  guardPublishes(code, context);
  const followUps = [...delivery.followUps, ...place(code, delivery, context)];
  importInbox(code, context);
  return { kind: 'edits', edits: finishEdits(code.edits), followUps };
}

function place(code: SubscriberCode, delivery: Delivery, context: CodemodContext): readonly string[] {
  const ambient = ambientDecorator(code, context);
  if (ambient !== null) return joinAmbientTransaction(code, delivery, { ambient, context });
  const openers = code.calls.filter(({ call, node }) => call.effects.transaction && enclosingFunction(node) === code.fn);
  const [opener] = openers;
  if (opener !== undefined && delivery.inline !== null) refuse('message-part', `'${short(delivery.inline)}' (${code.file}:${lineOf(delivery.inline)}) is read in the middle of the work. Put the message into a constant before it.`);
  if (opener === undefined) return wrapWork(code, delivery, findWork(code, delivery), context);
  const member = ts.isPropertyAccessExpression(opener.node.expression) ? opener.node.expression.name.text : '';
  if (opener.call.callee.kind === 'project') {
    const helper = opener.call.callee.functions[0]?.name ?? 'the function';
    const isAnnounced = opener.call.effects.publish ? '; in a transaction around it, what it publishes would be announced before the commit' : '';
    refuse('helper-own-transaction', `'${short(opener.node)}' (${code.file}:${lineOf(opener.node)}) opens a transaction of its own, which the subscriber's inbox record would not be part of${isAnnounced}. Ask the inbox in that transaction, by hand: hand '${delivery.message}' down to '${helper}', await 'isFirstDelivery' as the first statement of the transaction, with the consumer '${code.consumer}', and store and publish nothing for a duplicate.`);
  }
  if (member === 'transaction' && openers.length === 1) joinCallbackTransaction(code, delivery, opener.node);
  else if (openers.every(({ node }) => ts.isPropertyAccessExpression(node.expression) && /^(?:start|commit|rollback)Transaction$/.test(node.expression.name.text))) joinRunnerTransaction(code, delivery);
  else refuse('transaction-shape', `'${code.name}' (${code.file}:${lineOf(code.fn)}) opens ${openers.length === 1 ? `its transaction with '${short(opener.node.expression)}'` : 'several transactions'}. Put all of its work into one.`);
  return [];
}

/** Guards: what the subscriber publishes is stored in its transaction, so a redelivery need not repeat the publish. */
function guardPublishes(code: SubscriberCode, context: CodemodContext): void {
  const legacy = context.analysis.result.findings.find(({ handler, stage }) => stage === 'legacy' && handler.file === code.file && handler.span.start >= code.fn.getStart() && handler.span.end <= code.fn.getEnd());
  if (legacy !== undefined) {
    refuse('publish-on', `'${code.name}' (${code.file}:${lineOf(code.fn)}) also publishes '${legacy.publish.destination ?? legacy.publish.bus}' (${legacy.publish.file}:${legacy.publish.line}). With the inbox, a redelivery would no longer repeat that publish when a crash prevents it. Run 'outboxify rewrite ${legacy.handler.name} --to dual-publish' first.`);
  }
  const known = context.analysis.result.findings.filter(({ handler }) => handler.file === code.file && handler.span.start >= code.fn.getStart() && handler.span.end <= code.fn.getEnd());
  const sites = known.map(({ publish }) => (publish.path[0] ?? publish).span.start);
  for (const { call, node } of code.calls) {
    if (!call.effects.publish || call.effects.transaction || sites.includes(node.getStart()) || holds(code, node, sites)) continue;
    const callee = call.callee.kind === 'project' && usesDatabase(call) ? call.callee.functions[0]?.name : undefined;
    const advice = `Write and publish in '${code.name}' itself${callee === undefined ? '' : ` and not in '${callee}'`}, and rewrite it to dual-publish first.`;
    refuse('publish-on', `'${short(node)}' (${code.file}:${lineOf(node)}) also publishes. With the inbox, a redelivery would no longer repeat that publish when a crash prevents it. ${advice}`);
  }
}

/** A call around a publish that is known: `lastValueFrom(this.client.emit(…))`. */
function holds(code: SubscriberCode, node: ts.Node, sites: readonly number[]): boolean {
  return code.calls.some(({ node: other }) => sites.includes(other.getStart()) && other.getStart() >= node.getStart() && other.getEnd() <= node.getEnd());
}

/** The check is the first statement of the work; `@Transactional()` of typeorm-transactional makes every repository take part. */
function joinAmbientTransaction(code: SubscriberCode, delivery: Delivery, { ambient, context }: { readonly ambient: AmbientDecorator; readonly context: CodemodContext }): readonly string[] {
  const at = `${code.file}:${lineOf(ambient.decorator)}`;
  if (ambient.library === '@nestjs-cls/transactional') {
    refuse('transaction-shape', `'${code.name}' (${at}) runs in the transaction of @nestjs-cls/transactional, which only holds what goes through its TransactionHost; that can not be told of all of its work. Ask the inbox by hand: 'isFirstDelivery(this.txHost.tx, …)'.`);
  }
  guardPlainOptions(ambient, code);
  const [acknowledgement] = acknowledgements(delivery, code.body);
  if (acknowledgement !== undefined) refuse('acknowledge-in-span', `'${short(acknowledgement)}' (${code.file}:${lineOf(acknowledgement)}) acknowledges in the transaction of '@Transactional()', before it commits: a crash between the two would lose the message. Move the work into a method that is '@Transactional()', and acknowledge behind its call.`);
  const work = findWork(code, delivery);
  guardHandles(code, delivery, work.list.statements);
  if (work.list !== code.body) refuse('subscriber-shape', `The work of '${code.name}' (${at}) is in a 'try' inside the transaction of '@Transactional()'. After a failed statement PostgreSQL refuses all others, and the commit with them. Let the error pass.`);
  const first = work.list.statements[work.first];
  if (first === undefined) return [];
  const direct = code.calls.filter(({ call }) => call.callee.kind !== 'project' && usesDatabase(call));
  const owner = findOwner(code.edits, code.file, code.fn, direct, context);
  const isManager = owner.expression.endsWith('.manager') || direct[0]?.call.receiver?.type === 'EntityManager';
  const { text, style } = code.edits.open(code.file);
  const indent = indentAt(text, first.getStart());
  const guard = guardText(code, delivery, { indent, manager: isManager ? owner.expression : `${owner.expression}.manager`, exit: [`return${style.semicolon}`] });
  code.edits.insert(code.file, first.getStart(), `${guard.slice(indent.length)}${style.eol}${style.eol}${indent}`);
  return owner.followUps;
}
