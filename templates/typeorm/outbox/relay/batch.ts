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

/** So many faults in a row of a broker that one and the same message tries: then another message tries it, too. */
const doubtAfter = 3;

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
  const doubted = await Promise.all(answers.map((answer) => doubt(answer, heldBack, breaker, timeoutMs)));
  return { ...summarise(doubted.flat()), unknown, heldBack: heldBack.length };
}

function sortOut(rows: readonly ClaimedRow[], destinations: ReadonlyMap<string, Destination>, breaker: Breaker) {
  const items: Item[] = [];
  const unknown: ClaimedRow[] = [];
  const heldBack: Item[] = [];
  const tried = new Set<string>();
  for (const row of rows) {
    const destination = destinations.get(row.type);
    if (destination === undefined) {
      unknown.push(row);
    } else if (tried.has(destination.broker)) {
      heldBack.push({ row, destination });
    } else {
      items.push({ row, destination });
      if (breaker.failures(destination.broker) > 0) tried.add(destination.broker);
    }
  }
  return { items, unknown, heldBack };
}

/**
 * A message that makes the broker drop the connection, or that its client never answers for, looks like a broker that is
 * down. When another message gets through and this one then fails once more, it was the message.
 */
async function doubt(answer: Answer, heldBack: readonly Item[], breaker: Breaker, timeoutMs: number): Promise<readonly Answer[]> {
  const { broker, publisher } = answer.destination;
  const others = heldBack.filter((item) => item.destination.broker === broker);
  const other = others.find((item) => item.row.type !== answer.row.type) ?? others[0];
  if (answer.kind !== 'broker' || breaker.failures(broker) < doubtAfter || other === undefined) return [answer];
  await publisher.reset(broker).catch(() => undefined);
  const second = await publishOne(other, timeoutMs);
  if (second.kind !== 'sent') return [answer];
  const again = await publishOne(answer, timeoutMs); // the broker may have come back in between
  return [again.kind === 'broker' ? { ...again, kind: 'message' } : again, second];
}

async function publishOne({ row, destination }: Item, timeoutMs: number): Promise<Answer> {
  try {
    await within(timeoutMs, destination.deliver(row), 'the confirmation of the broker');
    return { row, destination, kind: 'sent' };
  } catch (error) {
    return { row, destination, kind: error instanceof BrokerFault ? 'broker' : 'message', reason: reasonOf(error) };
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
