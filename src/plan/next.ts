import type { Subscriber } from '../core/finding.js';
import { labelOf, subscriberSubject } from '../core/subject.js';
import { cutOverOf, type ProjectFacts, type ServiceFacts } from './facts.js';
import { gateFor, inboxes, outboxTable, relayStable } from './gates.js';
import type { HandlerState } from './handlers.js';

export type StepId =
  | 'init' | 'scan' | 'plan' | 'baseline' | 'outbox-table' | 'dual-publish' | 'inbox-table' | 'inbox' | 'cut-over' | 'relay' | 'relay-stable' | 'outbox-only';

/** What a step can be done for: a service, a handler, a subscriber. */
export interface Target {
  /** As the command line names it. */
  readonly name: string;
  readonly label: string;
  /** Service whose database the command works on; null: none. */
  readonly database: string | null;
  /** The command, without `npx outboxify`. */
  readonly args: readonly string[];
}

/** Something that can be done now. */
export interface Step {
  readonly id: StepId;
  readonly title: string;
  readonly why: string;
  readonly targets: readonly [Target, ...Target[]];
}

export interface Progress {
  readonly facts: ProjectFacts;
  readonly hasConfig: boolean;
  readonly hasPlan: boolean;
  readonly hasBaseline: boolean;
  /** Whether a rewrite of the handler to its next stage can be proved, as far as planning tells. */
  readonly canRewrite: (handler: HandlerState) => boolean;
  /** The same for the inbox of a subscriber. */
  readonly canInbox: (subscriber: Subscriber) => boolean;
}

/** All that can be done now, in the order of the work; the first is what comes next. None: everything is done, or waits for people. */
export function nextSteps(progress: Progress): readonly Step[] {
  const { facts, hasConfig, hasPlan, hasBaseline } = progress;
  const services = byPain(facts);
  return [
    step('init', hasConfig ? [] : [whole('init')]),
    step('plan', hasPlan ? [] : [whole('plan')]),
    step('baseline', hasBaseline ? [] : [whole('check', '--update-baseline')]),
    step('outbox-table', services.filter((service) => service.handlers.some(({ stage }) => stage === 'legacy') && outboxTable(service.config.name, facts).reasons.length > 0).map((service) => forService(service, ['migration', 'outbox'], ['--write']))),
    step('dual-publish', rewritable(progress, 'legacy', 'dual-publish')),
    step('inbox-table', services.filter((service) => service.subscribers.some(({ inbox }) => !inbox) && !service.inbox.hasCode).map((service) => forService(service, ['migration', 'inbox'], ['--write']))),
    step('inbox', openSubscribers(progress)),
    step('cut-over', services.filter((service) => isReadyForRelay(service, facts) && cutOverOf(facts, service.config.name) === null).map((service) => withDatabase(service, ['ops', 'cut-over'], ['--write']))),
    step('relay', services.filter((service) => isReadyForRelay(service, facts) && cutOverOf(facts, service.config.name) !== null && !service.hasRelay).map((service) => forService(service, ['relay'], ['--write']))),
    step('relay-stable', services.filter((service) => isWatched(service, facts)).map((service) => withDatabase(service, ['status'], ['--record']))),
    step('outbox-only', rewritable(progress, 'dual-publish', 'outbox-only')),
  ].filter((found) => found !== null);
}

/** Services in the order of their most painful handler. */
function byPain({ services, handlers }: ProjectFacts): readonly ServiceFacts[] {
  const first = (service: ServiceFacts): number => handlers.findIndex((handler) => service.handlers.includes(handler));
  return [...services].sort((a, b) => (first(a) + 1 || Infinity) - (first(b) + 1 || Infinity) || 0);
}

const texts: Readonly<Record<StepId, { readonly title: string; readonly why: string }>> = {
  init: { title: 'Detect services, ORM, buses and databases', why: 'Writes outboxify.json; everything in it can be changed.' },
  scan: { title: 'Show every handler that can lose an event', why: 'Changes nothing.' },
  plan: { title: 'Write the plan', why: 'Writes OUTBOX-MIGRATION.md, a checklist per service, handler and event.' },
  baseline: { title: 'Record the dual writes of today', why: "From then on 'outboxify check' fails on a new one." },
  'outbox-table': { title: 'Add the outbox table to a service', why: 'Writes the migration and the code that stores events. Run the migration afterwards.' },
  'dual-publish': { title: 'Bring a handler to dual-publish', why: 'Write and event are stored in one transaction; the legacy publish goes on.' },
  'inbox-table': { title: 'Add the inbox table to a service', why: 'Writes the migration and the code that turns copies away. Run the migration afterwards.' },
  inbox: { title: 'Give a subscriber its inbox', why: 'Every subscriber of an event needs one before a relay may deliver it.' },
  'cut-over': { title: 'Cut over', why: 'Marks what the legacy publish has delivered. Every inbox must be live in production by now.' },
  relay: { title: 'Write the relay', why: 'Writes the process that publishes what the outbox holds, and its deployment units.' },
  'relay-stable': { title: 'See how the relay does', why: 'Records lag, failed rows and the copies that inboxes turned away: what outbox-only asks for.' },
  'outbox-only': { title: 'Bring a handler to outbox-only', why: 'Takes the legacy publish away; the relay is what delivers.' },
};

function step(id: StepId, targets: readonly Target[]): Step | null {
  const [first, ...rest] = targets;
  return first === undefined ? null : { id, ...texts[id], targets: [first, ...rest] };
}

/** Looks before anything is changed; it can always be done. */
export const look: Step = { id: 'scan', ...texts.scan, targets: [whole('scan')] };

function whole(...args: readonly string[]): Target {
  return { name: '', label: '', database: null, args };
}

function forService({ config }: ServiceFacts, args: readonly string[], flags: readonly string[]): Target {
  return { name: config.name, label: `${config.name} (${config.root})`, database: null, args: [...args, '--service', config.name, ...flags] };
}

function withDatabase(service: ServiceFacts, args: readonly string[], flags: readonly string[]): Target {
  return { ...forService(service, args, flags), database: service.config.name };
}

function rewritable({ facts, canRewrite }: Progress, from: 'legacy' | 'dual-publish', to: 'dual-publish' | 'outbox-only'): readonly Target[] {
  const open = facts.handlers.filter((handler) => handler.stage === from && gateFor(to, handler, facts).length === 0 && canRewrite(handler));
  return open.map((handler) => ({
    name: handler.subject,
    label: `${handler.label} (${[handler.kind ?? handler.stage, handler.entry, ...handler.events].join(', ')})`,
    database: null,
    args: ['rewrite', handler.subject, '--to', to, '--write'],
  }));
}

function openSubscribers({ facts, canInbox }: Progress): readonly Target[] {
  const open = facts.services.filter(({ inbox }) => inbox.hasCode).flatMap(({ subscribers }) => subscribers.filter((subscriber) => !subscriber.inbox && canInbox(subscriber)));
  return open.map((subscriber) => {
    const name = subscriberSubject(subscriber, facts.subscribers);
    return { name, label: `${labelOf(subscriber, facts.subscribers)} (${subscriber.destination ?? 'destination unknown'})`, database: null, args: ['inbox', name, '--write'] };
  });
}

/** What the relay of a service would deliver: the subscribers of the events that are stored by now. */
export function storedSubscribers({ handlers }: ServiceFacts): readonly Subscriber[] {
  return [...new Set(handlers.filter(({ stage }) => stage !== 'legacy').flatMap(({ subscribers }) => subscribers))];
}

function isReadyForRelay(service: ServiceFacts, facts: ProjectFacts): boolean {
  return service.handlers.some(({ stage }) => stage !== 'legacy') && inboxes({ subscribers: storedSubscribers(service) }, facts).reasons.length === 0;
}

function isWatched(service: ServiceFacts, facts: ProjectFacts): boolean {
  const { name } = service.config;
  const waits = service.handlers.some(({ stage }) => stage === 'dual-publish');
  return waits && service.hasRelay && cutOverOf(facts, name) !== null && relayStable({ service: name, subscribers: storedSubscribers(service) }, facts).reasons.length > 0;
}
