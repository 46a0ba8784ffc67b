import type { DataSource } from 'typeorm';
import { integrationEvent } from '../../templates/typeorm/outbox/integration-event.js';
import type { LogFields } from '../../templates/typeorm/outbox/relay/log.js';
import { RelayMetrics } from '../../templates/typeorm/outbox/relay/metrics.js';
import { readRelayOptions, type RelayOptions } from '../../templates/typeorm/outbox/relay/options.js';
import type { OutboxMessage, Publisher } from '../../templates/typeorm/outbox/relay/publisher.js';
import { Relay } from '../../templates/typeorm/outbox/relay/relay.js';
import type { Route } from '../../templates/typeorm/outbox/routes.js';
import { store } from '../../templates/typeorm/outbox/store.js';

/** Options of a relay that does not make a test wait. */
export function quickOptions(changed: Partial<RelayOptions> = {}): RelayOptions {
  return {
    ...readRelayOptions({ OUTBOX_CUT_OVER_AT: '2020-01-01T00:00:00Z' }),
    idleMinMs: 10, idleMaxMs: 20, retryDelayMs: 10, brokerWaitMs: 50, brokerWaitMaxMs: 400, publishTimeoutMs: 1_000, ...changed,
  };
}

export interface StartedRelay {
  readonly relay: Relay;
  readonly metrics: RelayMetrics;
  readonly log: readonly ({ readonly event: string } & LogFields)[];
}

export function createTestRelay(
  dataSource: DataSource,
  publishers: readonly Publisher[],
  routes: Readonly<Record<string, Route>>,
  options: Partial<RelayOptions> = {},
): StartedRelay {
  const metrics = new RelayMetrics();
  const log: ({ readonly event: string } & LogFields)[] = [];
  const relay = new Relay({ dataSource, publishers, routes, metrics, options: quickOptions(options), log: (level, event, fields = {}) => log.push({ level, event, ...fields }) });
  return { relay, metrics, log };
}

/** A publisher of the test: every route of `nest` is its own, one broker per client. */
export function fakePublisher(publish: (message: OutboxMessage, broker: string) => Promise<void>): Publisher {
  const brokerOf = (route: Route): string | null => (route.transport === 'nest' ? `nest:${String(route.client)}` : null);
  return {
    brokerOf,
    publish: (route, message) => publish(message, brokerOf(route) ?? ''),
    reset: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** Stores events of one type, each in its own transaction; answers their ids, in order. */
export async function storeEvents(dataSource: DataSource, count: number, type = 'order.placed', fields: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const event = integrationEvent({ index, ...fields });
    await dataSource.transaction((manager) => store(manager, event, { type, aggregateType: 'Order', aggregateId: index + 1 }));
    ids.push(event.eventId);
  }
  return ids;
}

/** Waits until the condition holds; fails with what it last saw. */
export async function eventually<T>(look: () => Promise<T> | T, holds: (value: T) => boolean, milliseconds = 20_000): Promise<T> {
  const endsAt = Date.now() + milliseconds;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (Date.now() > endsAt) throw new Error(`still not after ${milliseconds} ms: ${JSON.stringify(value)?.slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Rows by status. */
export async function statusCounts(dataSource: DataSource): Promise<Readonly<Record<string, number>>> {
  const rows = (await dataSource.query('SELECT status, count(*)::int AS count FROM outbox GROUP BY status')) as readonly { status: string; count: number }[];
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}
