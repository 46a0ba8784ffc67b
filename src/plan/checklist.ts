import type { Reason } from '../core/outcome.js';
import type { Finding, Subscriber } from '../core/finding.js';
import { subscriberSubject } from '../core/subject.js';
import { cutOverOf, type ProjectFacts, type ServiceFacts } from './facts.js';
import { cutOver, gatesFor, inboxes, relayStable, type Gate } from './gates.js';
import type { Block, Item, Line } from './document.js';
import { eventOf, goesToExchange, type HandlerState } from './handlers.js';
import { storedSubscribers } from './next.js';
import { gateReason } from './reasons.js';
import { subscribersOf } from './subscriptions.js';

/** Whether the next rewrite of a handler is possible. */
export interface RewriteVerdict {
  readonly possible: boolean;
  readonly reasons: readonly Reason[];
}

export interface ChecklistInput {
  readonly facts: ProjectFacts;
  readonly rewriteOf: (finding: Finding) => RewriteVerdict;
  readonly inboxOf: (subscriber: Subscriber) => RewriteVerdict;
  readonly hasBaseline: boolean;
}

const byHand = '*(by hand)*';

/** The way to the outbox as a list: per service, per handler and per event, with the commands. */
export function checklist(input: ChecklistInput): readonly Block[] {
  const { facts } = input;
  const services = facts.services.filter((service) => service.handlers.length > 0 || service.subscribers.length > 0);
  const events = [...new Set(facts.handlers.flatMap((handler) => handler.events))];
  return [
    summary(facts.handlers),
    section('services', 'Services'),
    ...services.map((service) => serviceBlock(service, facts)),
    section('handlers', 'Handlers, most painful first'),
    ...facts.handlers.map((handler, index) => handlerBlock(handler, handlerKey(handler, facts.handlers.slice(0, index), facts.handlers), input)),
    section('events', 'Events'),
    ...events.map((event) => eventBlock(event, input)),
    guard(input.hasBaseline),
  ];
}

function section(key: string, title: string): Block {
  return { key, lines: [`## ${title}`] };
}

function summary(handlers: readonly HandlerState[]): Block {
  const at = (stage: HandlerState['stage']): number => handlers.filter((handler) => handler.stage === stage).length;
  return {
    key: 'summary',
    lines: [
      '`npx outboxify plan` keeps this list current: it ticks what code and evidence show. Text outside the marked blocks is yours, and so are',
      `lines within them that begin with \`>\`, and the ticks of lines that end in ${byHand}.`,
      '',
      `Handlers: ${at('legacy')} legacy, ${at('dual-publish')} dual-publish, ${at('outbox-only')} outbox-only.`,
      '',
      '1. For each service: the outbox table.',
      '2. For each handler, from the top: dual-publish. The legacy publish goes on; nothing changes for subscribers.',
      '3. For each event: the inbox of every subscriber.',
      '4. For each service: the cut-over, then the relay.',
      '5. For each handler, from the top: outbox-only, once its gates are met.',
    ],
  };
}

function serviceBlock(service: ServiceFacts, facts: ProjectFacts): Block {
  const { name } = service.config;
  return {
    key: `service ${plain(name)}`,
    lines: [
      `### Service ${code(name)}`,
      '',
      ...(service.handlers.length > 0 ? tableItems('outbox', service) : []),
      ...(service.subscribers.length > 0 ? tableItems('inbox', service) : []),
      ...(service.handlers.length > 0 ? relayItems(service, facts) : []),
    ],
  };
}

function tableItems(role: 'outbox' | 'inbox', service: ServiceFacts): readonly Item[] {
  const { name } = service.config;
  const { hasCode, migration } = service[role];
  return [
    { text: `${role} table: ${command(`migration ${role} --service ${argument(name)} --write`)}`, done: hasCode && migration !== null },
    { text: `${role} migration has run in production, and ${command(`check --service ${argument(name)} --db <url>`)} is content ${byHand}`, done: null },
  ];
}

function relayItems(service: ServiceFacts, facts: ProjectFacts): readonly Line[] {
  const { config, hasRelay } = service;
  const whole = { service: config.name, subscribers: storedSubscribers(service) };
  const stored = storedGate(service);
  const name = argument(config.name);
  return [
    { text: `cut-over: ${command(`ops cut-over --service ${name} --write`)}`, done: cutOverOf(facts, config.name) !== null },
    ...gateLine(cutOverOf(facts, config.name) === null ? [stored, inboxes(whole, facts)] : []),
    { text: `relay: ${command(`relay --service ${name} --write`)}`, done: hasRelay },
    ...gateLine(hasRelay ? [] : [stored, inboxes(whole, facts), cutOver(config.name, facts)]),
    { text: `relay runs in production, with its alerts ${byHand}`, done: null },
    { text: `relay stable: ${command(`status --service ${name} --db <url> --record`)}`, done: relayStable(whole, facts).reasons.length === 0 },
  ];
}

/** A relay has something to deliver once an event is stored. */
function storedGate({ handlers }: ServiceFacts): Gate {
  const isMet = handlers.some(({ stage }) => stage !== 'legacy');
  return { id: 'stored-events', title: 'a handler at dual-publish', reasons: isMet ? [] : [gateReason('no-stored-events', 'No handler of the service stores its event yet.')] };
}

/** Unique in the document: handlers that are called alike in one file are told apart by their events, then by their order. */
function handlerKey(handler: HandlerState, before: readonly HandlerState[], all: readonly HandlerState[]): string {
  const isAlike = (other: HandlerState): boolean => other.file === handler.file && other.name === handler.name;
  const key = `handler ${plain(handler.file)}#${plain(handler.name)}`;
  if (all.filter(isAlike).length === 1) return key;
  const events = handler.events.join(', ');
  const count = before.filter((other) => isAlike(other) && other.events.join(', ') === events).length;
  return `${key} ${plain(events)}${count === 0 ? '' : ` (${count + 1})`}`;
}

function handlerBlock(handler: HandlerState, key: string, { facts, rewriteOf }: ChecklistInput): Block {
  const about = [
    ...(handler.kind === null ? [] : [handler.kind]), handler.entry, count(handler.subscribers.length, 'subscriber'), ...(handler.awaited ? [] : ['not awaited']),
    ...handler.events.map(code), code(handler.file),
  ];
  const first = handler.stage === 'legacy' ? verdictOf(handler, rewriteOf) : null;
  return {
    key,
    lines: [
      `### ${code(handler.name)}`,
      '',
      about.join(' · '),
      '',
      ...rewriteLines(handler, 'dual-publish', { verdict: first, gates: gatesFor('dual-publish', handler, facts) }),
      ...rewriteLines(handler, 'outbox-only', { verdict: handler.stage === 'dual-publish' ? verdictOf(handler, rewriteOf) : null, gates: gatesFor('outbox-only', handler, facts), isLater: first !== null }),
    ],
  };
}

/** The first thing that stands against a rewrite besides the missing table, which has a line of its own. */
function verdictOf({ findings }: HandlerState, rewriteOf: (finding: Finding) => RewriteVerdict): Reason | null {
  const verdicts = findings.map(rewriteOf).filter(({ possible }) => !possible);
  return verdicts.flatMap(({ reasons }) => reasons).find(({ code: id }) => id !== 'gate-not-met' && id !== 'no-outbox') ?? null;
}

function rewriteLines(handler: HandlerState, stage: 'dual-publish' | 'outbox-only', { verdict, gates, isLater = false }: { readonly verdict: Reason | null; readonly gates: readonly Gate[]; readonly isLater?: boolean }): readonly Line[] {
  const order = ['legacy', 'dual-publish', 'outbox-only'];
  const done = order.indexOf(handler.stage) >= order.indexOf(stage);
  if (isLater) return [{ text: `${stage}: once dual-publish is done by hand, this plan says how`, done }];
  const how = verdict === null || done ? command(`rewrite ${argument(handler.subject)} --to ${stage} --commit`) : 'by hand, since no rewrite of it can be proved';
  return [
    { text: `${stage}: ${how}`, done },
    ...(verdict === null || done ? [] : [`  ${text(verdict.message)} (${verdict.code})`]),
    ...(done ? [] : gateLine(gates)),
  ];
}

function gateLine(gates: readonly Gate[]): readonly string[] {
  const open = gates.filter(({ reasons }) => reasons.length > 0);
  return open.length === 0 ? [] : [`  Gate, not met: ${open.map(({ title }) => title).join(', ')}.`];
}

function eventBlock(event: string, { facts, inboxOf }: ChecklistInput): Block {
  const publishers = facts.handlers.filter((handler) => handler.events.includes(event));
  const findings = publishers.flatMap((handler) => handler.findings).filter((finding) => eventOf(finding) === event);
  const names = [event, ...findings.map(({ publish }) => publish.destination)];
  const subscribers = subscribersOf({ names, goesToExchange: findings.some(goesToExchange) }, facts.subscribers);
  return {
    key: `event ${plain(event)}`,
    lines: [
      `### ${code(event)}`,
      '',
      `Published by ${publishers.map(({ label }) => code(label)).join(', ')}.`,
      '',
      ...subscribers.flatMap((subscriber) => inboxLines(subscriber, facts.subscribers, inboxOf(subscriber))),
      { text: `subscribers outside this repository ignore duplicates ${byHand}`, done: null },
    ],
  };
}

function inboxLines(subscriber: Subscriber, all: readonly Subscriber[], { possible, reasons }: RewriteVerdict): readonly Line[] {
  const verdict = subscriber.inbox || possible ? undefined : reasons.find(({ code: id }) => id !== 'no-inbox');
  // It waits for another rewrite, and can be done behind that.
  const isLater = verdict?.code === 'publish-on';
  const how = verdict === undefined || isLater ? command(`inbox ${argument(subscriberSubject(subscriber, all))} --commit`) : 'by hand, since no rewrite of it can be proved';
  return [
    { text: `inbox of ${code(subscriber.name)}: ${how}`, done: subscriber.inbox },
    ...(verdict === undefined ? [] : [`  ${isLater ? 'Not yet: ' : ''}${text(verdict.message)} (${verdict.code})`]),
  ];
}

function guard(hasBaseline: boolean): Block {
  return {
    key: 'guard',
    lines: [
      '## Guard',
      '',
      { text: `baseline: ${command('check --update-baseline')}`, done: hasBaseline },
      { text: `${command('check')} runs in CI ${byHand}`, done: null },
    ],
  };
}

function command(args: string): string {
  return code(`npx outboxify ${args}`);
}

function argument(value: string): string {
  return /^[\w./#@:-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? '' : 's'}`;
}

/** Text on one line. */
function text(value: string): string {
  return value.replace(/\s+/g, ' ').replace(/[<>]/g, (sign) => `\\${sign}`);
}

function code(value: string): string {
  const line = value.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

/** Text within a marker: it can't end the comment. */
function plain(value: string): string {
  return value.replace(/\s+/g, ' ').replaceAll('-->', '-');
}
