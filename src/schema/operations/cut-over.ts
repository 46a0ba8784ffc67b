import type { TablesConfig } from '../../core/config.js';
import { ToolError, UsageError } from '../../core/errors.js';
import type { DatabaseConnection } from '../connection.js';
import { inBatches } from './failed.js';
import { cutOverMark } from './figures.js';
import { requireTable } from './require-table.js';

/** What a cut-over would do. */
export interface CutOverPlan {
  /** ISO time with milliseconds. Older rows count as delivered by the legacy publish. */
  readonly instant: string;
  /** Pending rows from before it. */
  readonly pending: number;
}

export interface CutOverResult extends CutOverPlan {
  readonly marked: number;
  /** Pending rows from before the instant that another session holds locked, or has stored meanwhile. Run it again. */
  readonly left: number;
}

/** ISO instant of the last cut-over, as the rows that it marked say; null: none is marked, or they are purged. */
export async function markedInstant(connection: DatabaseConnection, tables: TablesConfig): Promise<string | null> {
  const table = await requireTable(connection, tables, 'outbox');
  const [row] = await connection.query<{ readonly instant: string | null }>(
    `SELECT max(substring(last_error FROM '\\(cut-over ([^)]+)\\)$')) AS instant FROM ${table} WHERE status = 'sent' AND last_error LIKE '${cutOverMark}%'`,
  );
  return row?.instant ?? null;
}

/**
 * Fixes the instant: the given one, or now by the database's clock. Refused where the relay has published a row from
 * before it: rows of that time wait for the relay and have no other way to be delivered.
 */
export async function planCutOver(connection: DatabaseConnection, tables: TablesConfig, before: string | null): Promise<CutOverPlan> {
  const table = await requireTable(connection, tables, 'outbox');
  const [times] = await connection.query<{ readonly instant: Date; readonly now: Date }>(
    `SELECT date_trunc('milliseconds', coalesce(?::timestamptz, clock_timestamp())) AS instant, clock_timestamp() AS now`, [before],
  );
  if (times === undefined) throw new Error('SELECT without FROM answered no row');
  const instant = times.instant.toISOString();
  if (times.instant > times.now) {
    throw new UsageError(`The cut-over can't be at '${instant}': by the clock of the database it is ${times.now.toISOString()}.`, {
      code: 'cut-over-in-future', hint: "Leave '--before' out for now, or give an instant that has passed.",
    });
  }
  const [published] = await connection.query<{ readonly sentAt: Date }>(
    `SELECT sent_at AS "sentAt" FROM ${table} WHERE status = 'sent' AND occurred_at < ?::timestamptz AND last_error IS NULL LIMIT 1`, [instant],
  );
  if (published !== undefined) {
    throw new ToolError(`The relay has published rows from before '${instant}' already (one at ${published.sentAt?.toISOString() ?? 'an unknown time'}): a cut-over there would give up rows that only the relay delivers.`, {
      code: 'relay-has-published', hint: "Repeat a cut-over with its own instant: '--before <instant>'.",
    });
  }
  const [row] = await connection.query<{ readonly count: number }>(`SELECT count(*)::int AS count FROM ${table} WHERE status = 'pending' AND occurred_at < ?::timestamptz`, [instant]);
  return { instant, pending: row?.count ?? 0 };
}

export interface CutOverOptions {
  readonly plan: CutOverPlan;
  /** Rows in one statement. */
  readonly batch: number;
  /** Called with the rows marked so far. */
  readonly onBatch: (marked: number) => void;
}

/** Marks the rows in batches. It can be stopped and run again with the same instant. */
export async function cutOver(connection: DatabaseConnection, tables: TablesConfig, { plan, batch, onBatch }: CutOverOptions): Promise<CutOverResult> {
  const table = await requireTable(connection, tables, 'outbox');
  let soFar = 0;
  const marked = await inBatches(async () => {
    const count = await connection.execute(
      `WITH picked AS MATERIALIZED (
          SELECT id FROM ${table} WHERE status = 'pending' AND occurred_at < ?::timestamptz ORDER BY occurred_at LIMIT ? FOR UPDATE SKIP LOCKED)
        UPDATE ${table} AS outbox SET status = 'sent', sent_at = clock_timestamp(), last_error = ? FROM picked WHERE outbox.id = picked.id`,
      [plan.instant, batch, `${cutOverMark} (cut-over ${plan.instant})`],
    );
    soFar += count;
    if (count > 0) onBatch(soFar);
    return count;
  });
  const [row] = await connection.query<{ readonly count: number }>(`SELECT count(*)::int AS count FROM ${table} WHERE status = 'pending' AND occurred_at < ?::timestamptz`, [plan.instant]);
  return { ...plan, marked, left: row?.count ?? 0 };
}
