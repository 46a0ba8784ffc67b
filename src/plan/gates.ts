import type { Stage } from '../core/finding.js';
import type { Reason } from '../core/outcome.js';
import { subscriberSubject } from '../core/subject.js';
import { consumerFigures, consumerOf, cutOverOf, outboxFigures, serviceFacts, type ProjectFacts } from './facts.js';
import type { HandlerState } from './handlers.js';
import { gateReason } from './reasons.js';

export type GateId =
  /** The service has the outbox's code and its migration. */
  | 'outbox-table'
  /** An event is stored: a relay has something to deliver. */
  | 'stored-events'
  /** Every subscriber of the handler's events goes through its inbox. */
  | 'inboxes'
  /** Rows that the legacy publish has delivered are marked. */
  | 'cut-over'
  /** The relay keeps up, nothing has failed, and inboxes have turned copies away. */
  | 'relay-stable';

export interface Gate {
  readonly id: GateId;
  readonly title: string;
  /** Why it is not met; empty when it is. */
  readonly reasons: readonly Reason[];
}

/** Oldest pending row with which a relay counts as keeping up. */
export const largestLagSeconds = 60;

/** What must hold before a handler goes to a stage. */
export function gatesFor(stage: Exclude<Stage, 'legacy'>, handler: HandlerState, facts: ProjectFacts): readonly Gate[] {
  if (stage === 'dual-publish') return [outboxTable(handler.service, facts)];
  return [inboxes(handler, facts), cutOver(handler.service, facts), relayStable(handler, facts)];
}

/** The gate before the handler's next step; none when it has arrived. */
export function nextGates(handler: HandlerState, facts: ProjectFacts): readonly Gate[] {
  if (handler.stage === 'outbox-only') return [];
  return gatesFor(handler.stage === 'legacy' ? 'dual-publish' : 'outbox-only', handler, facts);
}

/** Why a handler may not go to a stage yet; empty when it may. */
export function gateFor(stage: Exclude<Stage, 'legacy'>, handler: HandlerState, facts: ProjectFacts): readonly Reason[] {
  return gatesFor(stage, handler, facts).flatMap(({ reasons }) => reasons);
}

/** The table exists where the event is going to be stored. */
export function outboxTable(service: string, facts: ProjectFacts): Gate {
  return { id: 'outbox-table', title: 'outbox table', reasons: outboxTableReasons(service, facts) };
}

function outboxTableReasons(service: string, facts: ProjectFacts): readonly Reason[] {
  const known = serviceFacts(facts, service);
  const command = `npx outboxify migration outbox --service ${service} --write`;
  if (known === null) return [gateReason('no-service', 'The handler belongs to no service of outboxify.json.')];
  if (!known.outbox.hasCode) return [gateReason('no-outbox', `'${known.config.outbox}/store.ts' is missing: run '${command}'.`)];
  if (outboxFigures(facts, service) === null) return [gateReason('outbox-not-migrated', `The database of '${service}' has no outbox table: run the migration '${known.outbox.migration ?? ''}'.`)];
  if (known.outbox.migration === null && facts.figures.get(service) === undefined) {
    return [gateReason('no-outbox-migration', `No migration of '${service}' creates the outbox table: run '${command}'.`)];
  }
  return [];
}

/** A copy that comes through the relay must find an inbox everywhere. */
export function inboxes({ subscribers }: Pick<HandlerState, 'subscribers'>, facts: ProjectFacts): Gate {
  const open = subscribers.filter(({ inbox }) => !inbox);
  return {
    id: 'inboxes',
    title: 'inbox of every subscriber',
    reasons: open.map((subscriber) => gateReason(
      'subscriber-without-inbox',
      `'${subscriber.name}' (${subscriber.file}:${subscriber.line}) ${subscriber.destination === null ? 'may subscribe to the event' : `subscribes to '${subscriber.destination}'`} and has no inbox: run 'npx outboxify inbox ${subscriberSubject(subscriber, facts.subscribers)} --write'.`,
    )),
  };
}

export function cutOver(service: string, facts: ProjectFacts): Gate {
  const reasons = cutOverOf(facts, service) !== null ? [] : [gateReason('no-cut-over', `No cut-over of '${service}' is recorded: run 'npx outboxify ops cut-over --service ${service} --write'.`)];
  return { id: 'cut-over', title: 'cut-over', reasons };
}

export function relayStable(handler: Pick<HandlerState, 'service' | 'subscribers'>, facts: ProjectFacts): Gate {
  return { id: 'relay-stable', title: 'relay stable', reasons: [...relayReasons(handler.service, facts), ...duplicateReasons(handler, facts)] };
}

function relayReasons(service: string, facts: ProjectFacts): readonly Reason[] {
  const known = serviceFacts(facts, service);
  if (known !== null && !known.hasRelay) return [gateReason('no-relay', `'${known.config.outbox}/relay' is missing: run 'npx outboxify relay --service ${service} --write'.`)];
  const figures = outboxFigures(facts, service);
  if (figures === undefined) return [unknownFigures(service, `the relay of '${service}'`)];
  if (figures === null) return [gateReason('outbox-not-migrated', `The database of '${service}' has no outbox table.`)];
  const { failed, oldestPendingSeconds: lag, lastSentAt } = figures;
  return [
    ...(lastSentAt === null ? [gateReason('relay-silent', `The relay of '${service}' has published nothing yet.`)] : []),
    ...(failed > 0 ? [gateReason('failed-rows', `${failed} rows of '${service}' have failed: see 'npx outboxify ops failed --service ${service}'.`)] : []),
    ...(lag !== null && lag > largestLagSeconds ? [gateReason('relay-lag', `The oldest pending row of '${service}' waits for ${Math.round(lag)} s; at most ${largestLagSeconds} s are allowed.`)] : []),
  ];
}

/** Both paths deliver while a handler is at dual-publish: an inbox that has turned no copy away has not seen the relay's. */
function duplicateReasons({ subscribers }: Pick<HandlerState, 'subscribers'>, facts: ProjectFacts): readonly Reason[] {
  return subscribers.filter(({ inbox }) => inbox).flatMap((subscriber): Reason[] => {
    const consumer = consumerOf(facts, subscriber);
    const figures = consumerFigures(facts, consumer);
    const service = consumer.slice(0, consumer.length - subscriber.name.length - 1);
    if (figures === undefined) return [unknownFigures(service, `the inbox of '${consumer}'`)];
    return figures.duplicates > 0 ? [] : [gateReason('no-duplicates', `The inbox of '${consumer}' has turned no copy away: the relay's messages do not reach it.`)];
  });
}

function unknownFigures(service: string, what: string): Reason {
  return gateReason('no-figures', `Nothing is known of ${what}: run 'npx outboxify status --service ${service} --db <url> --record'.`);
}
