import type { EntityManager } from 'typeorm';

const table = '"inbox"';

/**
 * One statement, so that the UNIQUE key decides a race: of two deliveries at once the second waits here until the first
 * has committed (then it is the duplicate) or rolled back (then it is the first).
 */
const insert = `INSERT INTO ${table} AS inbox (event_id, consumer, processed_at)
  VALUES ($1::uuid, $2, clock_timestamp())
  ON CONFLICT (event_id, consumer) DO UPDATE SET duplicates = inbox.duplicates + 1, last_duplicate_at = clock_timestamp()
  RETURNING inbox.duplicates = 0 AS first`;

/**
 * Whether this consumer sees the message for the first time. Call it first in the transaction that does the work, and
 * acknowledge after that transaction has committed, for a duplicate, too: its commit is what counts the duplicate.
 *
 * - `false`: the work is done already; return without doing anything.
 * - A message without an `eventId`, or with one that is not a UUID, has no identity: it is always a first delivery, as before.
 * - `consumer` names the subscriber. Each has its own record; keep the name when you move or rename the code.
 */
export async function isFirstDelivery(manager: EntityManager, message: unknown, consumer: string): Promise<boolean> {
  if (manager.queryRunner?.isTransactionActive !== true) {
    throw new Error(`The inbox of '${consumer}' needs the transaction that does the work; none is active.`);
  }
  const eventId = eventIdOf(message);
  if (eventId === null) return true;
  const rows: unknown = await manager.query(insert, [eventId, consumer]);
  const [row] = rows as readonly { readonly first: boolean }[];
  if (row?.first === true) return true;
  turnedAway.set(consumer, (turnedAway.get(consumer) ?? 0) + 1);
  return false;
}

const turnedAway = new Map<string, number>();

/** Duplicates that the subscribers of this process turned away, in Prometheus' text format: add it to your metrics endpoint. */
export function inboxMetrics(): string {
  const lines = ['# HELP inbox_duplicates_total Copies of messages that the inbox turned away.', '# TYPE inbox_duplicates_total counter'];
  for (const [consumer, count] of turnedAway) lines.push(`inbox_duplicates_total{consumer=${JSON.stringify(consumer)}} ${count}`);
  return `${lines.join('\n')}\n`;
}

function eventIdOf(message: unknown): string | null {
  if (typeof message !== 'object' || message === null || !('eventId' in message)) return null;
  const { eventId } = message;
  return typeof eventId === 'string' && /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(eventId) ? eventId : null;
}
