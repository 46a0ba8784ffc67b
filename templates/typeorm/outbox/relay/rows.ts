import type { EntityManager } from 'typeorm';
import type { OutboxMessage } from './publisher.js';

const table = '"outbox"';

/** A row that this relay holds locked until its transaction ends. */
export interface ClaimedRow extends OutboxMessage {
  /** Failures of the message so far. */
  readonly attempts: number;
}

/** A message that failed, with what is to become of it. */
export interface FailedRow {
  readonly id: string;
  readonly reason: string;
  /** Milliseconds until the next attempt; null: no further attempt, the row is `failed`. */
  readonly retryInMs: number | null;
  /** 1 when a publish was tried, 0 when there was nothing to try. */
  readonly attempts: 0 | 1;
}

/** What the relay reads of the table from time to time, for its metrics. Counts stop at the sample's limit. */
export interface Sample {
  readonly pendingSeconds: number;
  readonly pendingCount: number;
  readonly failedCount: number;
  /** Pending rows from before the cut-over: never published. */
  readonly beforeCutOver: number;
}

/** Counting a table that grew is what takes a database down; beyond this many rows the exact figure says nothing more. */
export const sampleLimit = 10_000;

/**
 * Losing the mark of a published row publishes it again, and the inbox turns the copy away: so its commit need not wait
 * for the disk. The server ends a relay that hangs, so that its locks go.
 */
const prepare = `SELECT set_config('synchronous_commit', 'off', true), set_config('idle_in_transaction_session_timeout', $1, true)`;

/**
 * Written so that the index on (status, occurred_at, available_at) serves it whole, also when a plan is made without the
 * values: the status is a literal, statement_timestamp() can be an index condition (clock_timestamp() can't), and types
 * are excluded only while there is something to exclude.
 */
const claim = (exclude: boolean): string => `SELECT id, message_type AS type, payload::text AS payload, attempts FROM ${table}
  WHERE status = 'pending' AND occurred_at >= $1 AND available_at <= statement_timestamp()${exclude ? ' AND message_type <> ALL ($3::text[])' : ''}
  ORDER BY occurred_at, id LIMIT $2 FOR UPDATE SKIP LOCKED`;

const markSent = `UPDATE ${table} SET status = 'sent', sent_at = clock_timestamp(), last_error = NULL WHERE id = ANY ($1::uuid[])`;

const markFailed = `UPDATE ${table} AS outbox SET attempts = outbox.attempts + fault.attempts, last_error = fault.reason,
    status = CASE WHEN fault.retry_in IS NULL THEN 'failed' ELSE 'pending' END,
    available_at = clock_timestamp() + coalesce(fault.retry_in, 0) * interval '1 millisecond'
  FROM unnest($1::uuid[], $2::text[], $3::int[], $4::int[]) AS fault (id, reason, retry_in, attempts) WHERE outbox.id = fault.id`;

/** The order is what keeps each part on the index, however many rows there are. */
const sample = `SELECT
  coalesce((SELECT extract(epoch FROM clock_timestamp() - occurred_at) FROM ${table}
    WHERE status = 'pending' AND occurred_at >= $1 ORDER BY occurred_at LIMIT 1), 0)::float8 AS "pendingSeconds",
  (SELECT count(*) FROM (SELECT FROM ${table} WHERE status = 'pending' AND occurred_at >= $1 ORDER BY occurred_at LIMIT $2) AS counted)::int AS "pendingCount",
  (SELECT count(*) FROM (SELECT FROM ${table} WHERE status = 'failed' ORDER BY occurred_at LIMIT $2) AS counted)::int AS "failedCount",
  (SELECT count(*) FROM (SELECT FROM ${table} WHERE status = 'pending' AND occurred_at < $1 ORDER BY occurred_at LIMIT $2) AS counted)::int AS "beforeCutOver"`;

/** Locks the next rows, oldest first, past those that another relay holds. */
export async function claimRows(
  manager: EntityManager,
  limits: { readonly cutOverAt: Date; readonly batchSize: number; readonly holdMs: number; readonly exceptTypes: readonly string[] },
): Promise<readonly ClaimedRow[]> {
  await manager.query(prepare, [String(limits.holdMs)]);
  const exclude = limits.exceptTypes.length > 0;
  const values = [limits.cutOverAt.toISOString(), limits.batchSize, ...(exclude ? [limits.exceptTypes] : [])];
  const rows: unknown = await manager.query(claim(exclude), values);
  return rows as readonly ClaimedRow[];
}

export async function markRowsSent(manager: EntityManager, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await manager.query(markSent, [ids]);
}

export async function markRowsFailed(manager: EntityManager, rows: readonly FailedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = [rows.map((row) => row.id), rows.map((row) => row.reason), rows.map((row) => row.retryInMs), rows.map((row) => row.attempts)];
  await manager.query(markFailed, columns);
}

export async function sampleRows(manager: EntityManager, cutOverAt: Date): Promise<Sample> {
  const rows: unknown = await manager.query(sample, [cutOverAt.toISOString(), sampleLimit]);
  const [row] = rows as readonly Sample[];
  if (row === undefined) throw new Error('the sample of the outbox has no row');
  return row;
}
