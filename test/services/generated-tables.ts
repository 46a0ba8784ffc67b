import { DataSource } from 'typeorm';
import { createStatements } from '../../src/schema/create.js';
import { tableSpecs } from '../../src/schema/tables.js';

export interface OutboxRow {
  readonly id: string;
  readonly message_type: string;
  readonly payload: Record<string, unknown>;
  readonly status: string;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly sent_at: Date | null;
  readonly occurred_at: Date;
  readonly available_at: Date;
}

/** A connection to a database with both tables as the generated migration creates them, and a table of orders. */
export async function connectWithTables(url: string): Promise<DataSource> {
  const dataSource = await connect(url);
  for (const spec of Object.values(tableSpecs)) {
    for (const statement of createStatements(spec, { schema: null, name: spec.role })) await dataSource.query(statement);
  }
  await dataSource.query('CREATE TABLE orders (id integer PRIMARY KEY)');
  return dataSource;
}

export async function connect(url: string): Promise<DataSource> {
  return new DataSource({ type: 'postgres', url, poolSize: 20 }).initialize();
}

export async function outboxRows(dataSource: DataSource): Promise<readonly OutboxRow[]> {
  return (await dataSource.query('SELECT * FROM outbox ORDER BY occurred_at, id')) as readonly OutboxRow[];
}
