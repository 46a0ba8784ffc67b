import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inboxMetrics, isFirstDelivery } from '../../templates/typeorm/outbox/inbox.js';
import { connectWithTables } from './generated-tables.js';
import { freshDatabase } from './service.js';

const database = await freshDatabase();
const consumer = 'payments.PaymentsController.onOrderPlaced';

describe.skipIf(!database.available)('isFirstDelivery', () => {
  let dataSource: DataSource;
  const deliver = (message: unknown, name = consumer): Promise<boolean> => dataSource.transaction((manager) => isFirstDelivery(manager, message, name));
  const recordOf = async (eventId: string): Promise<unknown> => {
    const rows = (await dataSource.query('SELECT consumer, duplicates, last_duplicate_at IS NOT NULL AS dated FROM inbox WHERE event_id = $1 ORDER BY consumer', [eventId])) as unknown;
    return rows;
  };
  /** A delivery whose transaction stays open until `end` is called. */
  const open = async (message: unknown) => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    const first = isFirstDelivery(runner.manager, message, consumer);
    const end = async (how: 'commit' | 'rollback'): Promise<void> => {
      await (how === 'commit' ? runner.commitTransaction() : runner.rollbackTransaction());
      await runner.release();
    };
    return { first, end };
  };

  beforeAll(async () => {
    dataSource = await connectWithTables(database.url);
  });
  afterAll(() => dataSource.destroy());

  it('lets the first delivery through and counts the others', async () => {
    const message = { eventId: randomUUID(), orderId: 1 };
    expect([await deliver(message), await deliver(message), await deliver(message)]).toEqual([true, false, false]);
    expect(await recordOf(message.eventId)).toEqual([{ consumer, duplicates: 2, dated: true }]);
    expect(inboxMetrics()).toContain(`inbox_duplicates_total{consumer="${consumer}"} 2`);
  });

  it('keeps a record for each consumer', async () => {
    const message = { eventId: randomUUID() };
    expect([await deliver(message), await deliver(message, 'mails.onOrderPlaced'), await deliver(message, 'Mails.onOrderPlaced')]).toEqual([true, true, true]);
  });

  it('makes the second of two at once wait, and turns it away when the first commits', async () => {
    const message = { eventId: randomUUID() };
    const winner = await open(message);
    expect(await winner.first).toBe(true);
    const loser = await open(message);
    expect(await Promise.race([loser.first, sleep(200, 'waiting')])).toBe('waiting');
    await winner.end('commit');
    expect(await loser.first).toBe(false);
    await loser.end('commit');
    expect(await recordOf(message.eventId)).toEqual([{ consumer, duplicates: 1, dated: true }]);
  });

  it('lets the second of two at once through when the first rolls back', async () => {
    const message = { eventId: randomUUID() };
    const winner = await open(message);
    expect(await winner.first).toBe(true);
    const loser = await open(message);
    expect(await Promise.race([loser.first, sleep(200, 'waiting')])).toBe('waiting');
    await winner.end('rollback');
    expect(await loser.first).toBe(true);
    await loser.end('commit');
    expect(await recordOf(message.eventId)).toEqual([{ consumer, duplicates: 0, dated: false }]);
  });

  it('lets exactly one of twenty at once through', async () => {
    const message = { eventId: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(message)));
    expect(answers.filter((first) => first)).toHaveLength(1);
    expect(await recordOf(message.eventId)).toEqual([{ consumer, duplicates: 19, dated: true }]);
  });

  it('forgets a delivery whose work fails', async () => {
    const message = { eventId: randomUUID() };
    const failing = dataSource.transaction(async (manager) => {
      expect(await isFirstDelivery(manager, message, consumer)).toBe(true);
      throw new Error('work failed');
    });
    await expect(failing).rejects.toThrow('work failed');
    expect(await deliver(message)).toBe(true);
  });

  it.each([[{ orderId: 1 }], [{ eventId: 'concert-42' }], [{ eventId: 42 }], ['text'], [null], [undefined], [[1]]])('always lets %j through: it has no identity', async (message) => {
    expect([await deliver(message), await deliver(message)]).toEqual([true, true]);
  });

  it('takes an id in upper case for the same id', async () => {
    const eventId = randomUUID();
    expect([await deliver({ eventId }), await deliver({ eventId: eventId.toUpperCase() })]).toEqual([true, false]);
  });

  it('throws without an active transaction', async () => {
    await expect(isFirstDelivery(dataSource.manager, { eventId: randomUUID() }, consumer)).rejects.toThrow(`The inbox of '${consumer}' needs the transaction`);
  });
});
