import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import amqp from 'amqplib';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectWithTables } from './generated-tables.js';
import { buildRelayApp, type RelayProcess } from './relay-app.js';
import { eventually, statusCounts, storeEvents } from './relay-kit.js';
import { freshDatabase, ownBroker, service, type OwnBroker } from './service.js';

const database = await freshDatabase();
const rabbitmq = await service('rabbitmq');
const batchSize = 10;

describe.skipIf(!database.available || !rabbitmq.available)('the generated relay as a process', () => {
  const app = buildRelayApp();
  let dataSource: DataSource;
  let broker: OwnBroker;
  let env: Record<string, string>;
  let channel: amqp.Channel;
  let connection: Awaited<ReturnType<typeof amqp.connect>>;

  beforeAll(async () => {
    broker = await ownBroker();
    dataSource = await connectWithTables(database.url);
    connection = await amqp.connect(broker.url);
    channel = await connection.createChannel();
    for (const queue of ['placed', 'paid']) await channel.assertQueue(queue, { durable: true });
    env = { DATABASE_URL: database.url, AMQP_URL: broker.url, OUTBOX_BATCH_SIZE: String(batchSize), NODE_ENV: 'production' };
  });
  beforeEach(async () => {
    await dataSource.query('TRUNCATE outbox');
    for (const queue of ['placed', 'paid']) await channel.purgeQueue(queue);
  });
  afterAll(async () => {
    await connection.close();
    await broker.remove();
    await dataSource.destroy();
  });

  /** How often each event arrived. */
  const arrivals = async (): Promise<Map<string, number>> => {
    const times = new Map<string, number>();
    for (const queue of ['placed', 'paid']) {
      for (;;) {
        const message = await channel.get(queue, { noAck: true });
        if (message === false) break;
        const id = String(message.properties.messageId);
        times.set(id, (times.get(id) ?? 0) + 1);
      }
    }
    return times;
  };
  const duplicatesIn = (times: ReadonlyMap<string, number>): number => [...times.values()].reduce((sum, count) => sum + count - 1, 0);
  const storeBoth = async (count: number): Promise<string[]> => [...(await storeEvents(dataSource, count)), ...(await storeEvents(dataSource, count, 'order.paid'))];
  const drain = async (count: number): Promise<void> => {
    await eventually(() => statusCounts(dataSource), (counts) => counts['sent'] === count, 30_000);
  };
  const terminate = async ({ child, ended }: RelayProcess): Promise<string | number> => {
    child.kill('SIGTERM');
    return ended;
  };

  it.each([
    // fault, rows that may be marked when it dies, copies that may arrive
    ['before-publish', 0, 0],
    ['before-publish:5', 0, batchSize],
    ['after-publish', 0, batchSize],
    ['after-publish:5', 0, batchSize],
    ['after-publish:13', batchSize, batchSize],
    ['before-mark', 0, batchSize],
    ['before-commit', 0, batchSize],
  ])('loses nothing when it is killed %s', async (fault, marked, copies) => {
    const ids = await storeBoth(20);
    expect(await app.start({ ...env, FAULT: fault }).ended).toBe('SIGKILL');
    expect(await eventually(() => statusCounts(dataSource), (counts) => (counts['sent'] ?? 0) === marked)).toEqual(marked === 0 ? { pending: 40 } : { sent: marked, pending: 40 - marked });
    const startedAt = Date.now();
    const next = app.start(env);
    await drain(40);
    expect(Date.now() - startedAt).toBeLessThan(10_000); // the locks of the dead relay are gone at once
    expect(await terminate(next)).toBe(0);
    const times = await arrivals();
    expect([...times.keys()].sort()).toEqual([...ids].sort());
    expect(duplicatesIn(times)).toBeLessThanOrEqual(copies);
    expect((await dataSource.query('SELECT count(*)::int AS count FROM outbox WHERE attempts > 0')) as unknown).toEqual([{ count: 0 }]);
  });

  it('loses nothing with two relays that are killed again and again while events are stored', async () => {
    const kills = 6;
    let relays = [app.start(env), app.start(env)];
    const storing = Promise.all([storeEvents(dataSource, 400), storeEvents(dataSource, 400, 'order.paid')]);
    for (let kill = 0; kill < kills; kill += 1) {
      const [victim, other] = relays;
      await eventually(() => victim?.log ?? [], (lines) => lines.some(({ event }) => event === 'outbox-relay.started'));
      await sleep(20 + 35 * kill);
      victim?.child.kill('SIGKILL');
      await victim?.ended;
      relays = [...(other === undefined ? [] : [other]), app.start(env)];
    }
    const ids = (await storing).flat();
    await drain(800);
    // A process that has not started yet is ended by the signal itself.
    for (const relay of relays) await eventually(() => relay.log, (lines) => lines.some(({ event }) => event === 'outbox-relay.started'));
    expect(await Promise.all(relays.map(terminate))).toEqual([0, 0]);
    const times = await arrivals();
    expect(times.size).toBe(ids.length);
    expect(duplicatesIn(times)).toBeLessThanOrEqual(kills * batchSize);
  }, 120_000);

  it('publishes each event once with two relays that live', async () => {
    const relays = [app.start(env), app.start(env)];
    await storeBoth(150);
    await drain(300);
    expect(await Promise.all(relays.map(terminate))).toEqual([0, 0]);
    const times = await arrivals();
    expect([times.size, duplicatesIn(times)]).toEqual([300, 0]);
  });

  it.each(['outbox/relay/main', 'service'] as const)('finishes what is in flight on SIGTERM and repeats nothing afterwards (%s)', async (entry) => {
    const ids = await storeBoth(200);
    const first = app.start(env, entry);
    await eventually(() => statusCounts(dataSource), (counts) => (counts['sent'] ?? 0) > 0);
    // Nest ends a service by the signal itself once its hooks have run.
    expect(await terminate(first)).toBe(entry === 'service' ? 'SIGTERM' : 0);
    expect(first.log.at(-1)).toMatchObject({ event: 'outbox-relay.stopped' });
    const next = app.start(env, entry);
    await drain(400);
    await terminate(next);
    const times = await arrivals();
    expect([times.size, duplicatesIn(times)]).toEqual([ids.length, 0]);
  });

  it('does not start without the cut-over', async () => {
    const relay = app.start({ ...env, OUTBOX_CUT_OVER_AT: '' });
    expect(await relay.ended).toBe(1);
    expect(relay.log).toMatchObject([{ level: 'error', event: 'outbox-relay.ended', reason: expect.stringContaining('OUTBOX_CUT_OVER_AT is not set') as string }]);
  });

  it('answers /metrics and /healthz', async () => {
    await storeEvents(dataSource, 3);
    const port = await freePort();
    const relay = app.start({ ...env, OUTBOX_MONITORING_PORT: String(port) });
    await drain(3);
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(metrics.headers.get('content-type')).toContain('version=0.0.4');
    const text = await metrics.text();
    expect(text).toContain('outbox_published_total{type="order.placed"} 3');
    for (const name of ['outbox_pending_seconds', 'outbox_pending_count', 'outbox_failed_total', 'outbox_publish_errors_total']) expect(text).toMatch(new RegExp(`^# TYPE ${name} `, 'm'));
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/else`)).status).toBe(404);
    expect(await terminate(relay)).toBe(0);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
