import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimRows, sampleRows } from '../../templates/typeorm/outbox/relay/rows.js';
import { connectWithTables } from './generated-tables.js';
import { freshDatabase } from './service.js';

const database = await freshDatabase();
const cutOverAt = new Date('2020-01-01T00:00:00Z');

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** 100,000 sent rows, 30,000 that a failure delayed at the head of the queue, and 30,000 that are due. */
describe.skipIf(!database.available)('the statements of the relay on a long backlog', () => {
  let dataSource: DataSource;

  beforeAll(async () => {
    dataSource = await connectWithTables(database.url);
    await dataSource.query(`INSERT INTO outbox (id, aggregate_type, aggregate_id, message_type, payload, status, occurred_at, available_at)
      SELECT gen_random_uuid(), 'Order', i::text, 'order.placed', '{}', CASE WHEN i <= 100000 THEN 'sent' ELSE 'pending' END,
        now() - interval '1 day' + i * interval '1 ms', now() + CASE WHEN i BETWEEN 100001 AND 130000 THEN interval '1 hour' ELSE interval '-1 second' END
      FROM generate_series(1, 160000) AS i`);
    await dataSource.query('VACUUM ANALYZE outbox');
  });
  afterAll(() => dataSource.destroy());

  /** The plan that PostgreSQL runs for what the relay sends, as it sent it. */
  const planOf = async (mode: string, run: (manager: DataSource['manager']) => Promise<unknown>): Promise<PlanNode> => {
    const statements: { query: string; parameters: readonly unknown[] }[] = [];
    await run({ query: async (query: string, parameters: readonly unknown[] = []) => (statements.push({ query, parameters }), [{}]) } as never);
    const last = statements.at(-1);
    if (last === undefined) throw new Error('no statement was sent');
    return dataSource.transaction(async (manager) => {
      await manager.query(`SET LOCAL plan_cache_mode = ${mode}`);
      const values = last.parameters.map((value) => (Array.isArray(value) ? `'{${value.join(',')}}'` : `'${String(value)}'`)).join(', ');
      await manager.query(`PREPARE relay AS ${last.query}`);
      const rows = (await manager.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE relay (${values})`)) as readonly { 'QUERY PLAN': readonly { Plan: PlanNode }[] }[];
      await manager.query('DEALLOCATE relay');
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
      if (plan === undefined) throw new Error('no plan');
      return plan;
    });
  };
  const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

  it.each(['force_custom_plan', 'force_generic_plan'])('claims through the index, past delayed rows, without sorting the backlog (%s)', async (mode) => {
    const plan = await planOf(mode, (manager) => claimRows(manager, { cutOverAt, batchSize: 100, holdMs: 1_000, exceptTypes: [] }));
    const scan = nodesOf(plan).find((node) => node['Index Name'] !== undefined);
    expect(scan).toMatchObject({ 'Node Type': 'Index Scan', 'Index Name': 'idx_outbox_status_time' });
    expect(scan?.['Index Cond']).toContain('available_at');
    expect(scan?.['Actual Rows']).toBeLessThan(500);
    expect(scan?.['Rows Removed by Filter'] ?? 0).toBe(0);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(1_500);
  });

  it('samples without reading the table', async () => {
    const plan = await planOf('force_custom_plan', (manager) => sampleRows(manager, cutOverAt));
    expect(nodesOf(plan).filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    const sample = await sampleRows(dataSource.manager, cutOverAt);
    expect(sample).toMatchObject({ pendingCount: 10_000, failedCount: 0, beforeCutOver: 0 });
    expect(sample.pendingSeconds).toBeGreaterThan(80_000);
  });

  it('leaves out the types that it is told to', async () => {
    const rows = await dataSource.transaction((manager) => claimRows(manager, { cutOverAt, batchSize: 5, holdMs: 1_000, exceptTypes: ['order.placed', "o'clock"] }));
    expect(rows).toEqual([]);
  });
});
