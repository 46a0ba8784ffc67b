import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Stage } from '../../src/core/finding.js';
import type { ProjectFacts } from '../../src/plan/facts.js';
import { gateFor, nextGates } from '../../src/plan/gates.js';
import { nextSteps, type Progress } from '../../src/plan/next.js';
import { gateReasons } from '../../src/plan/reasons.js';
import { isSubscription } from '../../src/plan/subscriptions.js';
import type { Figures } from '../../src/schema/operations/figures.js';
import type { EvidenceRecord } from '../../src/workspace/evidence.js';
import { facts, finding, migrated, subscriber } from './handlers.js';

const none = { count: 0, isCapped: false };
const healthy: Figures = {
  outbox: { pending: none, sent: { count: 9, isCapped: false }, failed: none, oldestPendingSeconds: null, cutOver: none, lastSentAt: '2026-03-07T23:59:00Z', types: [] },
  inbox: { consumers: [{ consumer: 'orders.Mails.onPlaced', messages: 9, duplicates: 8, since: '2026-03-01T00:00:00Z' }], isCapped: false },
};
const cutOver: EvidenceRecord = { kind: 'cut-over', service: 'orders', subject: 'outbox', recordedAt: '2026-03-01T00:00:00Z', by: 'kim', details: { instant: '2026-03-01T00:00:00Z' } };
const relay = { ...migrated, 'src/outbox/relay/relay.ts': 'export {};' };

function project({ stage = 'dual-publish' as Stage, inbox = true, files = relay as Readonly<Record<string, string>>, evidence = [cutOver] as readonly EvidenceRecord[], figures = healthy as Figures | null } = {}): ProjectFacts {
  return facts({
    files, evidence,
    result: { findings: [finding({ name: 'Orders.place', stage })], subscribers: [subscriber('Mails.onPlaced', 'order.placed', inbox)] },
    ...(figures === null ? {} : { figures: new Map([['orders', figures]]) }),
  });
}

const codes = (stage: 'dual-publish' | 'outbox-only', all: ProjectFacts): readonly string[] => all.handlers.flatMap((handler) => gateFor(stage, handler, all).map(({ code }) => code));

describe('the gate before dual-publish', () => {
  test('needs the code and the migration', () => {
    expect(codes('dual-publish', project({ files: {}, figures: null }))).toEqual(['no-outbox']);
    expect(codes('dual-publish', project({ files: { 'src/outbox/store.ts': '' }, figures: null }))).toEqual(['no-outbox-migration']);
    expect(codes('dual-publish', project({ files: migrated, figures: null }))).toEqual([]);
  });

  test('believes a database that is asked more than the code', () => {
    expect(codes('dual-publish', project({ figures: { outbox: null, inbox: null } }))).toEqual(['outbox-not-migrated']);
    expect(codes('dual-publish', project({ files: { 'src/outbox/store.ts': '' } }))).toEqual([]);
  });
});

describe('the gate before outbox-only', () => {
  test('is met when inboxes, cut-over and figures say so', () => {
    expect(codes('outbox-only', project())).toEqual([]);
  });

  test.each<{ name: string; change: Parameters<typeof project>[0]; code: string }>([
    { name: 'a subscriber without its inbox', change: { inbox: false }, code: 'subscriber-without-inbox' },
    { name: 'no cut-over', change: { evidence: [] }, code: 'no-cut-over' },
    { name: "another service's cut-over", change: { evidence: [{ ...cutOver, service: 'payments' }] }, code: 'no-cut-over' },
    { name: 'no relay', change: { files: migrated }, code: 'no-relay' },
    { name: 'a relay that has published nothing', change: { figures: { ...healthy, outbox: { ...healthy.outbox!, lastSentAt: null } } }, code: 'relay-silent' },
    { name: 'failed rows', change: { figures: { ...healthy, outbox: { ...healthy.outbox!, failed: { count: 1, isCapped: false } } } }, code: 'failed-rows' },
    { name: 'a row that waits', change: { figures: { ...healthy, outbox: { ...healthy.outbox!, oldestPendingSeconds: 61 } } }, code: 'relay-lag' },
    { name: 'an inbox that has turned nothing away', change: { figures: { ...healthy, inbox: { consumers: [{ ...healthy.inbox!.consumers[0]!, duplicates: 0 }], isCapped: false } } }, code: 'no-duplicates' },
    { name: 'a table that is gone', change: { figures: { outbox: null, inbox: healthy.inbox } }, code: 'outbox-not-migrated' },
  ])('is not met: $name', ({ change, code }) => {
    expect(codes('outbox-only', project(change))).toEqual([code]);
  });

  test('takes figures that were recorded within a week, and no older ones', () => {
    const outbox: EvidenceRecord = { kind: 'outbox-figures', service: 'orders', subject: 'outbox', recordedAt: '2026-03-02T00:00:00Z', by: 'kim', details: { failed: 0, lastSentAt: '2026-03-01T00:00:00Z' } };
    const inbox: EvidenceRecord = { kind: 'inbox-figures', service: 'orders', subject: 'orders.Mails.onPlaced', recordedAt: '2026-03-02T00:00:00Z', by: 'kim', details: { messages: 2, duplicates: 1 } };
    expect(codes('outbox-only', project({ figures: null, evidence: [cutOver, outbox, inbox] }))).toEqual([]);
    expect(codes('outbox-only', project({ figures: null, evidence: [cutOver, inbox] }))).toEqual(['no-figures']);
    const old = '2026-02-28T00:00:00Z';
    expect(codes('outbox-only', project({ figures: null, evidence: [cutOver, { ...outbox, recordedAt: old }, { ...inbox, recordedAt: old }] }))).toEqual(['no-figures', 'no-figures']);
    expect(codes('outbox-only', project({ figures: null, evidence: [cutOver, outbox, { ...outbox, details: { failed: 2, lastSentAt: 'x' } }, inbox] }))).toEqual(['failed-rows']);
  });

  test('a handler that has arrived has no gate before it', () => {
    const safe = [{ file: 'src/orders.ts', line: 3, bus: 'outbox', reason: 'outbox-store' as const, destination: 'order.placed', handler: finding({ name: 'Orders.place' }).handler, span: { file: 'src/orders.ts', start: 1, end: 2 } }];
    const all = facts({ result: { safe } });
    expect(all.handlers).toMatchObject([{ name: 'Orders.place', stage: 'outbox-only', kind: null, events: ['order.placed'], service: 'orders' }]);
    expect(nextGates(all.handlers[0]!, all)).toEqual([]);
  });
});

test('an event that goes to an exchange may reach every queue, whatever its name', () => {
  const placed = finding({ name: 'Orders.place' });
  const toExchange = { ...placed, publish: { ...placed.publish, route: { ...placed.publish.route, transport: 'amqp' as const, pattern: null, exchange: 'shop', routingKey: 'order.placed' } } };
  const subscribers = [{ ...subscriber('Mails.listen', 'mails'), bus: 'amqplib' }, subscriber('Other.onPaid', 'order.paid')];
  expect(facts({ result: { findings: [toExchange], subscribers } }).handlers[0]?.subscribers.map(({ name }) => name)).toEqual(['Mails.listen']);
  expect(facts({ result: { findings: [placed], subscribers } }).handlers[0]?.subscribers).toEqual([]);
});

describe('order of work', () => {
  test('lost before phantom, http and subscribers before commands and cron, more subscribers, then those not awaited', () => {
    const { handlers } = facts({
      result: {
        findings: [
          finding({ name: 'A.phantom', kind: 'phantom-event' }), finding({ name: 'B.cron', entry: 'cron' }), finding({ name: 'C.command', entry: 'command' }), finding({ name: 'D.quiet' , event: 'quiet' }),
          finding({ name: 'E.unawaited', event: 'quiet', awaited: false }), finding({ name: 'F.popular' }), finding({ name: 'G.unknown', entry: 'unknown' }),
        ],
        subscribers: [subscriber('Mails.onPlaced', 'order.placed'), subscriber('Stock.onAny', 'order.*')],
      },
    });
    expect(handlers.map(({ name }) => name)).toEqual(['F.popular', 'E.unawaited', 'D.quiet', 'C.command', 'B.cron', 'G.unknown', 'A.phantom']);
    expect(handlers[0]?.subscribers.map(({ name }) => name)).toEqual(['Mails.onPlaced', 'Stock.onAny']);
  });

  test('two handlers of one name are told apart by their file', () => {
    const { handlers } = facts({ result: { findings: [finding({ name: 'A.run', file: 'src/a.ts' }), finding({ name: 'A.run', file: 'src/b.ts' }), finding({ name: 'B.run' })] } });
    expect(handlers.map(({ subject }) => subject)).toEqual(['src/a.ts#A.run', 'src/b.ts#A.run', 'B.run']);
  });

  test('a handler with publishes at two stages is at the earlier one', () => {
    const { handlers } = facts({ result: { findings: [finding({ name: 'A.run', event: 'one', stage: 'dual-publish' }), finding({ name: 'A.run', event: 'two' })] } });
    expect(handlers).toMatchObject([{ stage: 'legacy', events: ['one', 'two'] }]);
  });

  test.each([
    ['order.placed', 'order.placed', true], ['order.*', 'order.placed', true], ['order.*', 'order.placed.late', false], ['order.#', 'order.placed.late', true], ['order.#', 'order', true],
    ['#', 'anything.at.all', true], ['shop/+/placed', 'shop/orders/placed', true], ['*.placed', 'order.placed', true], ['#.placed', 'placed', true], ['order.placed', 'order.place', false], ['order.?', 'order.x', false],
  ])('subscription %s takes %s: %s', (pattern, name, expected) => {
    expect(isSubscription(pattern, name)).toBe(expected);
  });
});

describe('what comes next', () => {
  const first = (all: ProjectFacts, more: Partial<Progress> = {}): string | undefined => nextSteps({ facts: all, hasConfig: true, hasPlan: true, hasBaseline: true, canRewrite: () => true, canInbox: () => true, ...more }).map(({ id, targets }) => `${id} ${targets.map(({ name }) => name).join(',')}`.trim())[0];
  const inboxCode = { 'src/outbox/inbox.ts': 'export {};' };

  test('walks from init to the end', () => {
    const legacy = { stage: 'legacy' as const, inbox: false, evidence: [], figures: null };
    expect(first(project({ ...legacy, files: {} }), { hasConfig: false, hasPlan: false, hasBaseline: false })).toBe('init');
    expect(first(project({ ...legacy, files: {} }), { hasPlan: false, hasBaseline: false })).toBe('plan');
    expect(first(project({ ...legacy, files: {} }), { hasBaseline: false })).toBe('baseline');
    expect(first(project({ ...legacy, files: {} }))).toBe('outbox-table orders');
    expect(first(project({ ...legacy, files: migrated }))).toBe('dual-publish Orders.place');
    expect(first(project({ ...legacy, files: migrated }), { canRewrite: () => false })).toBe('inbox-table orders');
    expect(first(project({ inbox: false, files: migrated, evidence: [], figures: null }))).toBe('inbox-table orders');
    expect(first(project({ inbox: false, files: { ...migrated, ...inboxCode }, evidence: [], figures: null }))).toBe('inbox Mails.onPlaced');
    expect(first(project({ inbox: false, files: { ...migrated, ...inboxCode }, evidence: [], figures: null }), { canInbox: () => false })).not.toBe('inbox Mails.onPlaced');
    expect(first(project({ files: { ...migrated, ...inboxCode }, evidence: [], figures: null }))).toBe('cut-over orders');
    expect(first(project({ files: { ...migrated, ...inboxCode }, figures: null }))).toBe('relay orders');
    expect(first(project({ figures: null }))).toBe('relay-stable orders');
    expect(first(project())).toBe('outbox-only Orders.place');
    expect(first(facts({}))).toBeUndefined();
  });
});

test('every reason of a gate is documented, and every documented one is used', () => {
  const source = ['gates', 'checklist'].map((name) => readFileSync(`src/plan/${name}.ts`, 'utf8')).join('');
  const used = new Set([...source.matchAll(/gateReason\(\s*'([a-z-]+)'/g)].map(([, code = '']) => code));
  expect([...used].filter((code) => code !== 'no-outbox').sort()).toEqual(Object.keys(gateReasons).sort());
});
