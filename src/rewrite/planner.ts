import { dualPublishDirect } from '../../codemods/dual-publish-direct/index.js';
import { inboxAmqpConsume } from '../../codemods/inbox-amqp-consume/index.js';
import { inboxEventPattern } from '../../codemods/inbox-event-pattern/index.js';
import { inboxRabbitSubscribe } from '../../codemods/inbox-rabbit-subscribe/index.js';
import { joinCallback } from '../../codemods/join-callback/index.js';
import { joinQueryRunner } from '../../codemods/join-query-runner/index.js';
import { joinAmbient } from '../../codemods/join-ambient/index.js';
import { outboxOnly } from '../../codemods/outbox-only/index.js';
import type { Analysis } from '../analysis/analysis.js';
import type { Finding, Subscriber, TransactionSite, Write } from '../core/finding.js';
import type { CodemodResult } from '../core/outcome.js';
import type { CodemodContext, HandlerCodemod, HandlerFindings, SubscriberCodemod } from './codemod.js';
import { guarded, refuse } from './refusal.js';

export type RewriteStage = 'dual-publish' | 'outbox-only';

/** What a plan answers: the codemod that was chosen, and its result. */
export interface Planned {
  readonly codemod: string | null;
  readonly result: CodemodResult;
}

/** All findings of the handler that a finding is about. */
export function findingsOfHandler(analysis: Analysis, { handler }: Finding): HandlerFindings | null {
  const [first, ...rest] = analysis.result.findings.filter((other) => other.handler.file === handler.file && other.handler.span.start === handler.span.start);
  return first === undefined ? null : [first, ...rest];
}

/** Chooses the codemod for a handler by its transactions, and plans with it. */
export function planRewrite(findings: HandlerFindings, to: RewriteStage, context: CodemodContext): Planned {
  let codemod: HandlerCodemod | null = null;
  const result = guarded(() => {
    codemod = choose(findings, to);
    return codemod.plan(findings, context);
  });
  return { codemod: codemodId(codemod), result };
}

function codemodId(codemod: HandlerCodemod | null): string | null {
  return codemod === null ? null : codemod.id;
}

function choose(findings: HandlerFindings, to: RewriteStage): HandlerCodemod {
  const [{ handler }] = findings;
  const stages = new Set(findings.map(({ stage }) => stage));
  if (stages.size > 1) refuse('several-publishes', `Publishes of '${handler.name}' (${handler.file}:${handler.line}) are at different stages. Bring them together by hand first.`);
  const [stage] = stages;
  if (to === 'outbox-only') {
    if (stage !== 'dual-publish') refuse('nothing-to-rewrite', `'${handler.name}' (${handler.file}:${handler.line}) is at '${stage ?? 'legacy'}'; run 'outboxify rewrite ${handler.name} --to dual-publish' first.`);
    return outboxOnly;
  }
  if (stage !== 'legacy') refuse('already-there', `'${handler.name}' (${handler.file}:${handler.line}) stores its event already.`);
  return byTransaction(findings);
}

function byTransaction(findings: HandlerFindings): HandlerCodemod {
  const [{ handler }] = findings;
  const writes = findings.flatMap(({ writes: all }) => all);
  const sites = new Map(writes.map((write) => [siteKey(write), write.transaction]));
  if (sites.size > 1) {
    refuse('mixed-transactions', `Not all writes of '${handler.name}' (${handler.file}:${handler.line}) are in the same transaction: ${places(writes)}. Put them into one first.`);
  }
  const [site] = sites.values();
  if (site === undefined || site === null) return dualPublishDirect;
  return byStyle(findings, site);
}

function byStyle([{ handler }]: HandlerFindings, { style, span }: TransactionSite): HandlerCodemod {
  if (style === 'callback') return joinCallback;
  if (style === 'query-runner') return joinQueryRunner;
  // A callback inside the handler, or the decorator of the handler itself.
  const isInside = span.file === handler.file && span.start > handler.span.start && span.end < handler.span.end;
  return isInside ? joinCallback : joinAmbient;
}

function siteKey({ transaction }: Write): string {
  return transaction === null ? 'none' : `${transaction.span.file}:${transaction.span.start}`;
}

function places(writes: readonly Write[]): string {
  return [...new Set(writes.map(({ file, line, transaction }) => `${file}:${line} (${transaction === null ? 'no transaction' : transaction.style})`))].join(', ');
}

/** Chooses the codemod for a subscriber, and plans with it. */
export function planInbox(subscriber: Subscriber, context: CodemodContext): Planned {
  const codemod = subscriberCodemods.find(({ buses }) => buses.includes(subscriber.bus))?.codemod;
  if (codemod !== undefined) return { codemod: codemod.id, result: codemod.plan(subscriber, context) };
  return { codemod: null, result: guarded(() => refuse('no-codemod', `'${subscriber.name}' (${subscriber.file}:${subscriber.line}) gets its messages from '${subscriber.bus}', whose subscribers no codemod knows.`)) };
}

const subscriberCodemods: readonly { readonly buses: readonly string[]; readonly codemod: SubscriberCodemod }[] = [
  { buses: ['nest-clientproxy'], codemod: inboxEventPattern },
  { buses: ['golevelup-rabbitmq'], codemod: inboxRabbitSubscribe },
  { buses: ['amqplib', 'amqp-connection-manager'], codemod: inboxAmqpConsume },
];
