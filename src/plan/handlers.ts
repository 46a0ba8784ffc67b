import type { ServiceConfig } from '../core/config.js';
import type { Entry, Finding, FindingKind, Handler, SafePublish, Stage, Subscriber } from '../core/finding.js';
import type { ScanResult } from '../core/report.js';
import { handlerSubject, labelOf } from '../core/subject.js';
import { serviceOf } from '../workspace/services.js';
import { subscribersOf } from './subscriptions.js';

/** A handler on its way, as the code shows it. */
export interface HandlerState {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  readonly entry: Entry;
  /** Name of its service; empty where it belongs to none. */
  readonly service: string;
  /** The earliest stage of its publishes. */
  readonly stage: Stage;
  /** Null once nothing is published besides the outbox. */
  readonly kind: FindingKind | null;
  /** Names of its events, in the order of the code. */
  readonly events: readonly string[];
  readonly subscribers: readonly Subscriber[];
  /** Whether it waits for every publish. */
  readonly awaited: boolean;
  readonly findings: readonly Finding[];
  /** How it is named on the command line. */
  readonly subject: string;
  /** How people call it: its name, with the file where the name is not enough. */
  readonly label: string;
}

/** Every handler with a dual write or an outbox, most painful first. The order does not depend on the stage, so that a plan keeps its order. */
export function handlersOf(result: ScanResult, services: readonly ServiceConfig[]): readonly HandlerState[] {
  const groups = new Map<string, Group>();
  for (const finding of result.findings) groupOf(groups, finding.handler).findings.push(finding);
  for (const publish of result.safe) {
    if (publish.reason === 'outbox-store' && publish.handler !== null) groupOf(groups, publish.handler).stores.push(publish);
  }
  const all = [...groups.values()];
  const named = all.map(({ handler }) => handler);
  return all.map((group) => toState(group, { result, services, named })).sort(byPain);
}

/** Name of the event that a finding is about, as its subscribers and the outbox know it. */
export function eventOf({ publish }: Finding): string {
  const { route } = publish;
  // A fanout exchange is published to with an empty routing key: that names nothing.
  return [route.pattern, route.routingKey, route.queue, publish.destination].find((name) => name !== null && name !== '') ?? 'an event without a name';
}

/** Whether bindings of the broker decide who gets the event. */
export function goesToExchange({ publish }: Finding): boolean {
  return publish.route.transport === 'amqp' && publish.route.exchange !== null;
}

interface Group {
  readonly handler: Handler;
  readonly findings: Finding[];
  readonly stores: SafePublish[];
}

function groupOf(groups: Map<string, Group>, handler: Handler): Group {
  const key = `${handler.file}:${handler.span.start}`;
  const known = groups.get(key);
  if (known !== undefined) return known;
  const group: Group = { handler, findings: [], stores: [] };
  groups.set(key, group);
  return group;
}

interface Surroundings {
  readonly result: ScanResult;
  readonly services: readonly ServiceConfig[];
  /** Every handler there is. */
  readonly named: readonly Handler[];
}

function toState({ handler, findings, stores }: Group, { result, services, named }: Surroundings): HandlerState {
  const { file, line, name, entry } = handler;
  const stored = stores.flatMap(({ destination }) => (destination === null ? [] : [destination]));
  const events = [...new Set([...findings.map(eventOf), ...stored])];
  const destinations = [...events, ...findings.map(({ publish }) => publish.destination)];
  return {
    file, line, name, entry, events, findings,
    service: serviceOf(services, file)?.name ?? '',
    stage: stageOf(findings),
    kind: kindOf(findings),
    subscribers: subscribersOf({ names: destinations, goesToExchange: findings.some(goesToExchange) }, result.subscribers),
    awaited: findings.every(({ publish }) => publish.awaited),
    subject: handlerSubject(handler, findings[0]?.id ?? null, named),
    label: labelOf(handler, named),
  };
}

function stageOf(findings: readonly Finding[]): Stage {
  if (findings.length === 0) return 'outbox-only';
  return findings.some(({ stage }) => stage === 'legacy') ? 'legacy' : 'dual-publish';
}

function kindOf(findings: readonly Finding[]): FindingKind | null {
  if (findings.length === 0) return null;
  return findings.some(({ kind }) => kind === 'lost-event') ? 'lost-event' : 'phantom-event';
}

/** A lost event is noticed by nobody; people and other services wait for http and subscribers; more subscribers, more harm. */
function byPain(a: HandlerState, b: HandlerState): number {
  return kindRank(a) - kindRank(b) || entryRank(a) - entryRank(b) || b.subscribers.length - a.subscribers.length
    || Number(a.awaited) - Number(b.awaited) || compare(a.file, b.file) || compare(a.name, b.name);
}

function kindRank({ kind }: HandlerState): number {
  return kind === 'phantom-event' ? 1 : 0;
}

function entryRank({ entry }: HandlerState): number {
  return { http: 0, subscriber: 0, command: 1, cron: 2, unknown: 3 }[entry];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
