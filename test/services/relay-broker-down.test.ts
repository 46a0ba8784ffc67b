import { setTimeout as sleep } from 'node:timers/promises';
import amqp from 'amqplib';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectWithTables } from './generated-tables.js';
import { buildRelayApp } from './relay-app.js';
import { eventually, statusCounts, storeEvents } from './relay-kit.js';
import { freshDatabase, ownBroker, service, type OwnBroker } from './service.js';

const database = await freshDatabase();
const rabbitmq = await service('rabbitmq');
/** The full minute takes its time: OUTBOXIFY_TEST_OUTAGE_SECONDS=60. */
const outageMs = Number(process.env['OUTBOXIFY_TEST_OUTAGE_SECONDS'] ?? 20) * 1_000;

describe.skipIf(!database.available || !rabbitmq.available)('a broker that goes down', () => {
  const app = buildRelayApp();
  let dataSource: DataSource;
  let broker: OwnBroker;

  beforeAll(async () => {
    broker = await ownBroker();
    dataSource = await connectWithTables(database.url);
    await onBroker(async (channel) => {
      for (const queue of ['placed', 'paid']) await channel.assertQueue(queue, { durable: true });
    });
  });
  afterAll(async () => {
    await broker.remove();
    await dataSource.destroy();
  });

  const onBroker = async (work: (channel: amqp.Channel) => Promise<void>): Promise<void> => {
    const connection = await amqp.connect(broker.url);
    await work(await connection.createChannel());
    await connection.close();
  };
  /** Stores events of both types for a while; answers their ids, and how long each store with its commit took. */
  const produce = async (milliseconds: number): Promise<{ ids: string[]; medianMs: number }> => {
    const endsAt = Date.now() + milliseconds;
    const ids: string[] = [];
    const times: number[] = [];
    while (Date.now() < endsAt) {
      const startedAt = performance.now();
      ids.push(...(await storeEvents(dataSource, 1, ids.length % 2 === 0 ? 'order.placed' : 'order.paid')));
      times.push(performance.now() - startedAt);
      await sleep(10);
    }
    return { ids, medianMs: times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0 };
  };

  it.each([['stop', outageMs], ['kill', outageMs / 2]] as const)('costs no attempt, loses nothing and slows no producer (%s)', async (how, outageMs) => {
    await dataSource.query('TRUNCATE outbox');
    const relay = app.start({ DATABASE_URL: database.url, AMQP_URL: broker.url, NODE_ENV: 'production' });
    const before = await produce(3_000);
    await eventually(() => statusCounts(dataSource), (counts) => counts['sent'] === before.ids.length);

    const outage = Promise.all([produce(outageMs), broker[how]()]);
    const [during] = await outage;
    expect((await dataSource.query("SELECT count(*)::int AS count FROM outbox WHERE attempts > 0 OR status = 'failed' OR last_error IS NOT NULL")) as unknown).toEqual([{ count: 0 }]);
    expect((await statusCounts(dataSource))['pending']).toBeGreaterThan(0);
    const faults = relay.log.filter(({ event }) => event === 'outbox-relay.broker-down');
    expect(new Set(faults.map(({ broker: name }) => name))).toEqual(new Set(['amqp', 'nest:ORDERS_CLIENT']));
    expect(faults.map(({ waitMs }) => waitMs)).toEqual(expect.arrayContaining([1_000, 2_000, 4_000]));
    expect(faults.length).toBeLessThan(2 * Math.log2(outageMs / 1_000) + 2 * (outageMs / 30_000) + 6);
    expect(during.medianMs).toBeLessThan(before.medianMs * 2 + 5);

    await broker.start();
    const ids = [...before.ids, ...during.ids];
    await eventually(() => statusCounts(dataSource), (counts) => counts['sent'] === ids.length, 60_000);
    relay.child.kill('SIGTERM');
    expect(await relay.ended).toBe(0);
    const arrived = new Set<string>();
    await onBroker(async (channel) => {
      for (const queue of ['placed', 'paid']) {
        for (let message = await channel.get(queue, { noAck: true }); message !== false; message = await channel.get(queue, { noAck: true })) {
          arrived.add(String(message.properties.messageId));
        }
      }
    });
    expect([...arrived].sort()).toEqual(ids.sort());
  }, outageMs + 150_000);
});
