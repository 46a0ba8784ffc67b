import type { Breaker } from './breaker.js';
import type { Destination } from './destinations.js';
import { BrokerFault, reasonOf, within, type Publisher } from './publisher.js';
import type { ClaimedRow } from './rows.js';

/** What became of a batch. A row that is in none of the lists stays as it was. */
export interface BatchResult {
  readonly sent: readonly ClaimedRow[];
  readonly faulty: readonly { readonly row: ClaimedRow; readonly reason: string }[];
  /** Rows whose type is not on the whitelist. */
  readonly unknown: readonly ClaimedRow[];
  readonly answered: readonly string[];
  readonly down: readonly { readonly broker: string; readonly publisher: Publisher; readonly reason: string }[];
  /** Rows not tried because their broker is suspect and one row tries it for all. */
  readonly heldBack: number;
}

interface Item {
  readonly row: ClaimedRow;
  readonly destination: Destination;
}

type Answer = Item & ({ readonly kind: 'sent' } | { readonly kind: 'message' | 'broker'; readonly reason: string });

/**
 * Publishes a batch: messages that never failed all at once, so that the broker confirms them together; then those that
 * did, one by one, because one that makes the broker close the channel would take the others with it.
 */
export async function publishBatch(
  rows: readonly ClaimedRow[],
  destinations: ReadonlyMap<string, Destination>,
  breaker: Breaker,
  timeoutMs: number,
): Promise<BatchResult> {
  const endsAt = Date.now() + timeoutMs;
  const { items, unknown, heldBack } = sortOut(rows, destinations, breaker);
  const answers = await Promise.all(items.filter(({ row }) => row.attempts === 0).map((item) => publishOne(item, timeoutMs)));
  for (const item of items.filter(({ row }) => row.attempts > 0)) {
    const isDown = answers.some((answer) => answer.kind === 'broker' && answer.destination.broker === item.destination.broker);
    const leftMs = endsAt - Date.now();
    if (!isDown && leftMs > 0) answers.push(await publishOne(item, leftMs));
  }
  return { ...summarise(answers), unknown, heldBack };
}

function sortOut(rows: readonly ClaimedRow[], destinations: ReadonlyMap<string, Destination>, breaker: Breaker) {
  const items: Item[] = [];
  const unknown: ClaimedRow[] = [];
  const tried = new Set<string>();
  let heldBack = 0;
  for (const row of rows) {
    const destination = destinations.get(row.type);
    if (destination === undefined) {
      unknown.push(row);
    } else if (tried.has(destination.broker)) {
      heldBack += 1;
    } else {
      items.push({ row, destination });
      if (breaker.isSuspect(destination.broker)) tried.add(destination.broker);
    }
  }
  return { items, unknown, heldBack };
}

async function publishOne(item: Item, timeoutMs: number): Promise<Answer> {
  try {
    await within(timeoutMs, item.destination.publish(item.row), 'the confirmation of the broker');
    return { ...item, kind: 'sent' };
  } catch (error) {
    return { ...item, kind: error instanceof BrokerFault ? 'broker' : 'message', reason: reasonOf(error) };
  }
}

function summarise(answers: readonly Answer[]): Omit<BatchResult, 'unknown' | 'heldBack'> {
  const sent: ClaimedRow[] = [];
  const faulty: { row: ClaimedRow; reason: string }[] = [];
  const down = new Map<string, BatchResult['down'][number]>();
  for (const answer of answers) {
    const { broker, publisher } = answer.destination;
    if (answer.kind === 'sent') sent.push(answer.row);
    else if (answer.kind === 'message') faulty.push({ row: answer.row, reason: answer.reason });
    else down.set(broker, { broker, publisher, reason: answer.reason });
  }
  const answered = new Set(answers.map((answer) => answer.destination.broker).filter((broker) => !down.has(broker)));
  return { sent, faulty, answered: [...answered], down: [...down.values()] };
}
