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
  const rows = (await manager.query(insert, [eventId, consumer])) as readonly { readonly first: boolean }[];
  return rows[0]?.first === true;
}

function eventIdOf(message: unknown): string | null {
  if (typeof message !== 'object' || message === null || !('eventId' in message)) return null;
  const { eventId } = message;
  return typeof eventId === 'string' && /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(eventId) ? eventId : null;
}
