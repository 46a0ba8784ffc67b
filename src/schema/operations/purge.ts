import type { TablesConfig } from '../../core/config.js';
import { UsageError } from '../../core/errors.js';
import type { DatabaseConnection } from '../connection.js';
import { inBatches } from './failed.js';
import { requireTable } from './require-table.js';

/** Sent rows are kept at least a week, so that a lost message can be looked up, and at most a month. */
export const outboxDays = { least: 7, most: 30, usual: 14 } as const;

export interface InboxWindow {
  /** Days that a message can wait in a queue of the broker. */
  readonly messageDays: number;
  /** Days over which publisher, relay and subscriber together may repeat it. */
  readonly retryDays: number;
}

/** Days that sent rows are kept. */
export function outboxRetention(days: number | undefined): number {
  const kept = days ?? outboxDays.usual;
  if (kept >= outboxDays.least && kept <= outboxDays.most) return kept;
  throw new UsageError(`Sent rows can't be kept for ${kept} days: ${outboxDays.least} to ${outboxDays.most} are allowed.`, {
    code: 'outbox-retention-out-of-range', hint: `Give '--days' from ${outboxDays.least} to ${outboxDays.most}; without it, ${outboxDays.usual}.`,
  });
}

/** Days that inbox rows are kept: a message that comes after its row is gone is processed a second time. */
export function inboxRetention(days: number | undefined, window: Partial<InboxWindow>): number {
  const { messageDays, retryDays } = window;
  if (messageDays === undefined || retryDays === undefined) {
    throw new UsageError('How long inbox rows must be kept depends on how long a message can be on its way.', {
      code: 'inbox-window-needed',
      hint: "Give '--message-days' (how long the broker keeps a message, dead-letter queues included) and '--retry-days' (the longest time over which one is repeated).",
    });
  }
  const least = messageDays + retryDays;
  const kept = days ?? least;
  if (kept >= least) return kept;
  throw new UsageError(`Inbox rows can't be purged after ${kept} days: a message can come again for ${messageDays} + ${retryDays} days and would be processed twice.`, {
    code: 'inbox-retention-too-short', hint: `Give '--days' from ${least}, or leave it out.`,
  });
}

const sentBefore = `status = 'sent' AND occurred_at < clock_timestamp() - make_interval(days => ?::int) AND sent_at < clock_timestamp() - make_interval(days => ?::int)`;

export async function countSentOutbox(connection: DatabaseConnection, tables: TablesConfig, days: number): Promise<number> {
  const table = await requireTable(connection, tables, 'outbox');
  const [row] = await connection.query<{ readonly count: number }>(`SELECT count(*)::int AS count FROM ${table} WHERE ${sentBefore}`, [days, days]);
  return row?.count ?? 0;
}

/** Deletes sent rows; pending and failed ones never. Answers how many. */
export async function purgeOutbox(connection: DatabaseConnection, tables: TablesConfig, { days, batch }: { readonly days: number; readonly batch: number }): Promise<number> {
  const table = await requireTable(connection, tables, 'outbox');
  return inBatches(() =>
    connection.execute(
      `WITH picked AS MATERIALIZED (SELECT id FROM ${table} WHERE ${sentBefore} ORDER BY occurred_at LIMIT ? FOR UPDATE SKIP LOCKED)
        DELETE FROM ${table} AS outbox USING picked WHERE outbox.id = picked.id`,
      [days, days, batch],
    ),
  );
}

/** A row whose copies still come is kept. */
const lastSeenBefore = `coalesce(last_duplicate_at, processed_at) < clock_timestamp() - make_interval(days => ?::int)`;

export async function countOldInbox(connection: DatabaseConnection, tables: TablesConfig, days: number): Promise<number> {
  const table = await requireTable(connection, tables, 'inbox');
  const [row] = await connection.query<{ readonly count: number }>(`SELECT count(*)::int AS count FROM ${table} WHERE ${lastSeenBefore}`, [days]);
  return row?.count ?? 0;
}

interface Page {
  readonly deleted: number;
  readonly eventId: string | null;
  readonly consumer: string | null;
}

/** Deletes old inbox rows, walking once along the key: no index has their age. Answers how many. */
export async function purgeInbox(connection: DatabaseConnection, tables: TablesConfig, { days, batch }: { readonly days: number; readonly batch: number }): Promise<number> {
  const table = await requireTable(connection, tables, 'inbox');
  let total = 0;
  let last: { readonly eventId: string; readonly consumer: string } | null = null;
  for (;;) {
    const bindings: (string | number)[] = [...(last === null ? [] : [last.eventId, last.consumer]), batch, days];
    const [page]: readonly Page[] = await connection.query<Page>(
      `WITH page AS MATERIALIZED (
          SELECT event_id, consumer FROM ${table} ${last === null ? '' : 'WHERE (event_id, consumer) > (?::uuid, ?)'} ORDER BY event_id, consumer LIMIT ?),
        gone AS (DELETE FROM ${table} AS inbox USING page WHERE inbox.event_id = page.event_id AND inbox.consumer = page.consumer AND ${lastSeenBefore} RETURNING 1),
        tail AS (SELECT event_id, consumer FROM page ORDER BY event_id DESC, consumer DESC LIMIT 1)
        SELECT (SELECT count(*) FROM gone)::int AS deleted, (SELECT event_id::text FROM tail) AS "eventId", (SELECT consumer FROM tail) AS consumer`,
      bindings,
    );
    if (page === undefined || page.eventId === null || page.consumer === null) return total;
    total += page.deleted;
    last = { eventId: page.eventId, consumer: page.consumer };
  }
}
