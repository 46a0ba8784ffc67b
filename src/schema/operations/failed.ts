import type { TablesConfig } from '../../core/config.js';
import type { DatabaseConnection } from '../connection.js';
import { requireTable } from './require-table.js';

/** A message that the relay has given up. */
export interface FailedMessage {
  readonly id: string;
  readonly type: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  /** ISO time. */
  readonly occurredAt: string;
  readonly attempts: number;
  readonly lastError: string | null;
}

export interface FailedSelection {
  readonly type: string | null;
  readonly limit: number;
}

/** The failed messages, oldest first; one more than `limit` is not read, so `hasMore` says whether there are others. */
export async function listFailed(connection: DatabaseConnection, tables: TablesConfig, { type, limit }: FailedSelection): Promise<{ readonly messages: readonly FailedMessage[]; readonly hasMore: boolean }> {
  const table = await requireTable(connection, tables, 'outbox');
  const rows = await connection.query<Omit<FailedMessage, 'occurredAt'> & { readonly occurredAt: Date }>(
    `SELECT id, message_type AS type, aggregate_type AS "aggregateType", aggregate_id AS "aggregateId", occurred_at AS "occurredAt", attempts, last_error AS "lastError"
      FROM ${table} WHERE status = 'failed' AND (?::text IS NULL OR message_type = ?::text) ORDER BY occurred_at, id LIMIT ?`,
    [type, type, limit + 1],
  );
  const messages = rows.slice(0, limit).map((row) => ({ ...row, occurredAt: row.occurredAt.toISOString() }));
  return { messages, hasMore: rows.length > limit };
}

export interface RetrySelection {
  /** Null: not by id. */
  readonly ids: readonly string[] | null;
  readonly type: string | null;
}

const retryable = `status = 'failed' AND (?::uuid[] IS NULL OR id = ANY (?::uuid[])) AND (?::text IS NULL OR message_type = ?::text)`;

/** How many failed messages the selection has, and which of its ids are no failed message. */
export async function countRetryable(connection: DatabaseConnection, tables: TablesConfig, selection: RetrySelection): Promise<{ readonly count: number; readonly unknownIds: readonly string[] }> {
  const table = await requireTable(connection, tables, 'outbox');
  const [row] = await connection.query<{ readonly count: number; readonly ids: readonly string[] | null }>(
    `SELECT count(*)::int AS count, array_agg(id::text) FILTER (WHERE ?) AS ids FROM ${table} WHERE ${retryable}`,
    [selection.ids !== null, ...bindings(selection)],
  );
  const found = new Set(row?.ids ?? []);
  return { count: row?.count ?? 0, unknownIds: (selection.ids ?? []).filter((id) => !found.has(id.toLowerCase())) };
}

/** Makes failed messages pending again, with all their attempts, in batches. Answers how many. */
export async function retryFailed(connection: DatabaseConnection, tables: TablesConfig, { batch, ...selection }: RetrySelection & { readonly batch: number }): Promise<number> {
  const table = await requireTable(connection, tables, 'outbox');
  return inBatches(() =>
    connection.execute(
      `WITH picked AS MATERIALIZED (SELECT id FROM ${table} WHERE ${retryable} ORDER BY occurred_at LIMIT ? FOR UPDATE SKIP LOCKED)
        UPDATE ${table} AS outbox SET status = 'pending', attempts = 0, last_error = NULL, available_at = clock_timestamp() FROM picked WHERE outbox.id = picked.id`,
      [...bindings(selection), batch],
    ),
  );
}

function bindings({ ids, type }: RetrySelection): (string | null | readonly string[])[] {
  return [ids, ids, type, type];
}

/** Repeats a step until it has nothing left to do; the sum of what it did. */
export async function inBatches(step: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const count = await step();
    if (count === 0) return total;
    total += count;
  }
}
