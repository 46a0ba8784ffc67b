import type { DataSource as DataSource03, EntityManager as EntityManager03 } from 'typeorm';
import { DataSource } from 'typeorm-1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStatements } from '../../src/schema/create.js';
import { tableSpecs } from '../../src/schema/tables.js';
import { isFirstDelivery } from '../../templates/typeorm/outbox/inbox.js';
import { integrationEvent } from '../../templates/typeorm/outbox/integration-event.js';
import { store } from '../../templates/typeorm/outbox/store.js';
import { createTestRelay, eventually, fakePublisher } from './relay-kit.js';
import { freshDatabase } from './service.js';

const database = await freshDatabase();
const entry = { type: 'order.placed', aggregateType: 'Order', aggregateId: 7 };

describe.skipIf(!database.available)('the generated code on TypeORM 1', () => {
  let dataSource: DataSource;
  /** The templates are typed against the version that is installed as 'typeorm'. */
  const as03 = (manager: unknown): EntityManager03 => manager as EntityManager03;

  beforeAll(async () => {
    dataSource = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    for (const spec of Object.values(tableSpecs)) {
      for (const statement of createStatements(spec, { schema: null, name: spec.role })) await dataSource.query(statement);
    }
  });
  afterAll(() => dataSource.destroy());

  it('stores, relays and turns duplicates away', async () => {
    const event = integrationEvent({ orderId: 7 });
    await expect(store(as03(dataSource.manager), event, entry)).rejects.toThrow('no transaction is active');
    await dataSource.transaction((manager) => store(as03(manager), event, entry));
    const seen: string[] = [];
    const publisher = fakePublisher(async ({ id, payload }) => {
      expect(JSON.parse(payload)).toEqual(event);
      seen.push(id);
      if (seen.length === 1) throw new Error('once');
    });
    const { relay } = createTestRelay(dataSource as unknown as DataSource03, [publisher], { 'order.placed': { transport: 'nest', client: 'X', pattern: 'order.placed' } });
    void relay.start();
    const rows = await eventually(async () => (await dataSource.query('SELECT id, status, attempts FROM outbox')) as unknown as { id: string; status: string; attempts: number }[], (all) => all[0]?.status === 'sent');
    await relay.stop();
    expect(rows).toEqual([{ id: event.eventId, status: 'sent', attempts: 1 }]);
    expect(seen).toEqual([event.eventId, event.eventId]);
    const deliver = (): Promise<boolean> => dataSource.transaction((manager) => isFirstDelivery(as03(manager), event, 'payments'));
    expect([await deliver(), await deliver()]).toEqual([true, false]);
  });
});
