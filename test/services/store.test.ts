import type { DataSource, EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { integrationEvent } from '../../templates/typeorm/outbox/integration-event.js';
import { store } from '../../templates/typeorm/outbox/store.js';
import { connectWithTables, outboxRows } from './generated-tables.js';
import { freshDatabase } from './service.js';

const database = await freshDatabase();
const entry = { type: 'order.placed', aggregateType: 'Order', aggregateId: 7 };

describe.skipIf(!database.available)('store', () => {
  let dataSource: DataSource;
  const place = async (manager: EntityManager): Promise<void> => {
    await manager.query('INSERT INTO orders (id) VALUES (7)');
    await store(manager, integrationEvent({ orderId: 7, note: "O'Neil \\u0000 \\ 🛒" }), entry);
  };

  beforeAll(async () => {
    dataSource = await connectWithTables(database.url);
  });
  beforeEach(async () => {
    await dataSource.query('TRUNCATE outbox, orders');
  });
  afterAll(() => dataSource.destroy());

  it('stores one pending row with the transaction that commits', async () => {
    await dataSource.transaction(place);
    const rows = await outboxRows(dataSource);
    expect(rows).toMatchObject([{ message_type: 'order.placed', aggregate_type: 'Order', aggregate_id: '7', status: 'pending', attempts: 0, sent_at: null, last_error: null }]);
    expect(rows[0]?.payload).toMatchObject({ orderId: 7, note: "O'Neil \\u0000 \\ 🛒", eventId: rows[0]?.id });
  });

  it('stores nothing when the transaction rolls back', async () => {
    const failing = dataSource.transaction(async (manager) => {
      await place(manager);
      throw new Error('no stock');
    });
    await expect(failing).rejects.toThrow('no stock');
    expect(await outboxRows(dataSource)).toEqual([]);
    expect(await dataSource.query('SELECT * FROM orders')).toEqual([]);
  });

  it('joins a transaction of a query runner and does not commit it', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await place(runner.manager);
    expect(await outboxRows(dataSource)).toEqual([]);
    expect(runner.isTransactionActive).toBe(true);
    await runner.commitTransaction();
    await runner.release();
    expect(await outboxRows(dataSource)).toHaveLength(1);
  });

  it('throws without an active transaction, and stores nothing', async () => {
    const event = integrationEvent({ orderId: 7 });
    await expect(store(dataSource.manager, event, entry)).rejects.toThrow("Cannot store 'order.placed': no transaction is active");
    const runner = dataSource.createQueryRunner();
    await expect(store(runner.manager, event, entry)).rejects.toThrow('no transaction is active');
    await runner.release();
    expect(await outboxRows(dataSource)).toEqual([]);
  });

  it('sets the times by the clock of the database, in the order of the calls', async () => {
    await dataSource.transaction(async (manager) => {
      for (let index = 0; index < 3; index += 1) await store(manager, integrationEvent({ index }), entry);
    });
    const rows = (await dataSource.query("SELECT payload->>'index' AS index, count(*) OVER (PARTITION BY occurred_at) AS ties FROM outbox ORDER BY occurred_at")) as unknown;
    expect(rows).toEqual([{ index: '0', ties: '1' }, { index: '1', ties: '1' }, { index: '2', ties: '1' }]);
  });

  it('refuses the same event twice', async () => {
    const event = integrationEvent({ orderId: 7 });
    await dataSource.transaction((manager) => store(manager, event, entry));
    await expect(dataSource.transaction((manager) => store(manager, event, entry))).rejects.toThrow(/pk_outbox/);
  });

  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  it.each([
    ['a bigint', { amount: 1n }, /not JSON \(.*BigInt/],
    ['a cycle', circular, /not JSON \(.*circular/],
    ['a NUL character', { note: 'a\0b' }, /'note' has a NUL character/],
    ['half of a surrogate pair', { deep: { note: '\ud83d' } }, /'note' has .* surrogate/],
    ['a NUL character in a name', { 'a\0': 1 }, /NUL character/],
    ['a toJSON that loses the id', { toJSON: () => ({ orderId: 7 }) }, /loses the 'eventId'/],
    ['a toJSON that answers a list', { toJSON: () => [7] }, /not a JSON object/],
    ['a toJSON that answers nothing', { toJSON: () => undefined }, /not a JSON object/],
    ['more than a megabyte', { text: 'x'.repeat(1_048_576) }, /1048576 are allowed/],
  ])('refuses %s and leaves the transaction usable', async (_, message: object, expected) => {
    await dataSource.transaction(async (manager) => {
      await expect(store(manager, integrationEvent(message), entry)).rejects.toThrow(expected);
      await place(manager);
    });
    expect(await outboxRows(dataSource)).toHaveLength(1);
  });

  it.each([
    ['type', { ...entry, type: '' }],
    ['type', { ...entry, type: 'x'.repeat(256) }],
    ['aggregateType', { ...entry, aggregateType: 'x'.repeat(256) }],
    ['aggregateId', { ...entry, aggregateId: '' }],
  ])('refuses a bad %s', async (field, bad) => {
    await dataSource.transaction((manager) => expect(store(manager, integrationEvent({}), bad)).rejects.toThrow(`its ${field} has`));
  });

  it('refuses what is no integration event', async () => {
    const event = { eventId: '42', occurredAt: new Date().toISOString() };
    await dataSource.transaction((manager) => expect(store(manager, event, entry)).rejects.toThrow(/not a UUID/));
  });
});
