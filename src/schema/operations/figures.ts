import type { TablesConfig } from '../../core/config.js';
import type { DatabaseConnection } from '../connection.js';
import { tableName } from '../identifiers.js';
import type { TableRole } from '../tables.js';

/** A count that stops at a limit: beyond it the exact figure says nothing more, and counting is what takes a database down. */
export interface CappedCount {
  readonly count: number;
  readonly isCapped: boolean;
}

export interface TypeFigures {
  readonly type: string;
  readonly pending: number;
  readonly failed: number;
  /** Age of the oldest pending row of the type among those counted; null without one. */
  readonly oldestPendingSeconds: number | null;
}

export interface OutboxFigures {
  readonly pending: CappedCount;
  readonly sent: CappedCount;
  readonly failed: CappedCount;
  /** Age of the oldest pending row; null without one. */
  readonly oldestPendingSeconds: number | null;
  /** Rows that the cut-over marked as delivered by the legacy publish. */
  readonly cutOver: CappedCount;
  /** ISO time of the newest sent row that the relay published; null: it has published none. */
  readonly lastSentAt: string | null;
  /** Types with pending or failed rows, most rows first. */
  readonly types: readonly TypeFigures[];
}

export interface ConsumerFigures {
  readonly consumer: string;
  readonly messages: number;
  /** Copies that the inbox turned away: the evidence that both paths deliver. */
  readonly duplicates: number;
  /** ISO time of the first message. */
  readonly since: string;
}

export interface InboxFigures {
  readonly consumers: readonly ConsumerFigures[];
  /** Whether only a part of the table was read. */
  readonly isCapped: boolean;
}

/** Live figures of the tables. Null: the table does not exist there. */
export interface Figures {
  readonly outbox: OutboxFigures | null;
  readonly inbox: InboxFigures | null;
}

const countLimit = 10_000;
const inboxLimit = 100_000;

/** Begins `last_error` of a row that the cut-over marked. */
export const cutOverMark = 'delivered by the legacy publish';

/** Reads the figures of both tables. A read-only user will do. */
export async function readFigures(connection: DatabaseConnection, tables: TablesConfig): Promise<Figures> {
  return {
    outbox: (await exists(connection, tables, 'outbox')) ? await readOutbox(connection, tableName(tables, 'outbox')) : null,
    inbox: (await exists(connection, tables, 'inbox')) ? await readInbox(connection, tableName(tables, 'inbox')) : null,
  };
}

/** Whether the name resolves for this connection. */
export async function exists(connection: DatabaseConnection, tables: TablesConfig, role: TableRole): Promise<boolean> {
  const [row] = await connection.query<{ readonly found: boolean }>('SELECT to_regclass(?) IS NOT NULL AS found', [tableName(tables, role)]);
  return row?.found === true;
}

interface OutboxRow {
  readonly pending: number;
  readonly sent: number;
  readonly failed: number;
  readonly cutOver: number;
  readonly oldest: number | null;
  readonly lastSentAt: Date | null;
}

async function readOutbox(connection: DatabaseConnection, table: string): Promise<OutboxFigures> {
  const counted = (condition: string): string => `(SELECT count(*) FROM (SELECT FROM ${table} WHERE ${condition} LIMIT ${countLimit}) AS counted)::int`;
  // Rows of the cut-over are the oldest that were sent, those of the relay the newest: only that end of the table is read.
  const sentFrom = (order: string): string => `(SELECT sent_at, last_error FROM ${table} WHERE status = 'sent' ORDER BY occurred_at ${order} LIMIT ${countLimit}) AS part`;
  const [row] = await connection.query<OutboxRow>(`SELECT
    ${counted("status = 'pending'")} AS pending, ${counted("status = 'sent'")} AS sent, ${counted("status = 'failed'")} AS failed,
    (SELECT count(*) FROM ${sentFrom('ASC')} WHERE last_error LIKE '${cutOverMark}%')::int AS "cutOver",
    (SELECT extract(epoch FROM clock_timestamp() - occurred_at) FROM ${table} WHERE status = 'pending' ORDER BY occurred_at LIMIT 1)::float8 AS oldest,
    (SELECT max(sent_at) FROM ${sentFrom('DESC')} WHERE last_error IS NULL) AS "lastSentAt"`);
  const types = await connection.query<TypeFigures>(`SELECT message_type AS type,
      (count(*) FILTER (WHERE status = 'pending'))::int AS pending, (count(*) FILTER (WHERE status = 'failed'))::int AS failed,
      extract(epoch FROM clock_timestamp() - min(occurred_at) FILTER (WHERE status = 'pending'))::float8 AS "oldestPendingSeconds"
    FROM ((SELECT message_type, status, occurred_at FROM ${table} WHERE status = 'pending' ORDER BY occurred_at LIMIT ${countLimit})
      UNION ALL (SELECT message_type, status, occurred_at FROM ${table} WHERE status = 'failed' ORDER BY occurred_at LIMIT ${countLimit})) AS waiting
    GROUP BY message_type ORDER BY count(*) DESC, message_type`);
  return {
    pending: capped(row?.pending),
    sent: capped(row?.sent),
    failed: capped(row?.failed),
    oldestPendingSeconds: row?.oldest ?? null,
    cutOver: capped(row?.cutOver),
    lastSentAt: row?.lastSentAt?.toISOString() ?? null,
    types,
  };
}

async function readInbox(connection: DatabaseConnection, table: string): Promise<InboxFigures> {
  const rows = await connection.query<Omit<ConsumerFigures, 'since'> & { readonly since: Date }>(`SELECT consumer, count(*)::int AS messages,
      coalesce(sum(duplicates), 0)::int AS duplicates, min(processed_at) AS since
    FROM (SELECT consumer, duplicates, processed_at FROM ${table} LIMIT ${inboxLimit}) AS part GROUP BY consumer ORDER BY consumer`);
  const consumers = rows.map((row) => ({ ...row, since: row.since.toISOString() }));
  return { consumers, isCapped: consumers.reduce((sum, { messages }) => sum + messages, 0) >= inboxLimit };
}

function capped(count: number | undefined): CappedCount {
  return { count: count ?? 0, isCapped: (count ?? 0) >= countLimit };
}
