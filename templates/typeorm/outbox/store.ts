import type { EntityManager } from 'typeorm';
import { isUuid, type IntegrationEvent } from './integration-event.js';

/** What the outbox row says about an event, besides the event. */
export interface OutboxEntry {
  /** Message type: the key of its route in `routes.ts`. */
  readonly type: string;
  readonly aggregateType: string;
  readonly aggregateId: string | number;
}

const table = '"outbox"';
const maxPayloadBytes = 1_048_576;
const maxNameLength = 255;

/** Both times are the database's: the clocks of several services do not agree, and now() is the start of the transaction. */
const insert = `INSERT INTO ${table} (id, aggregate_type, aggregate_id, message_type, payload, occurred_at, available_at, status)
  VALUES ($1::uuid, $2, $3, $4, $5::jsonb, clock_timestamp(), clock_timestamp(), 'pending')`;

/**
 * Stores an event in the outbox, in the caller's transaction: it is published if and only if that transaction commits.
 * Throws without an active transaction. Never commits.
 */
export async function store(manager: EntityManager, event: IntegrationEvent, entry: OutboxEntry): Promise<void> {
  if (manager.queryRunner?.isTransactionActive !== true) {
    throw new Error(`Cannot store '${entry.type}': no transaction is active. Hand over the manager of the transaction that saves the state.`);
  }
  const aggregateId = String(entry.aggregateId);
  assertName('type', entry.type);
  assertName('aggregateType', entry.aggregateType);
  assertName('aggregateId', aggregateId);
  const payload = serialise(event, entry.type);
  await manager.query(insert, [event.eventId, entry.aggregateType, aggregateId, entry.type, payload]);
}

function assertName(field: string, value: string): void {
  if (value.length > 0 && value.length <= maxNameLength) return;
  throw new TypeError(`Cannot store an event: its ${field} has ${value.length} characters, 1 to ${maxNameLength} are allowed.`);
}

function serialise(event: IntegrationEvent, type: string): string {
  const refuse = (why: string): TypeError => new TypeError(`Cannot store '${type}': ${why}`);
  if (!isUuid(event.eventId)) throw refuse("its 'eventId' is not a UUID. Make the event with integrationEvent().");
  let text: string | undefined;
  try {
    text = JSON.stringify(event, (key: string, value: unknown) => {
      if (!isStorable(key) || !isStorable(value)) throw new TypeError(`'${key}' has a NUL character or half of a surrogate pair`);
      return value;
    });
  } catch (error) {
    throw refuse(`it is not JSON (${error instanceof Error ? error.message : String(error)}).`);
  }
  const parsed: unknown = text === undefined ? undefined : JSON.parse(text);
  if (text === undefined || typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw refuse('it is not a JSON object.');
  if ((parsed as { eventId?: unknown }).eventId !== event.eventId) throw refuse("its toJSON() loses the 'eventId'.");
  const bytes = Buffer.byteLength(text);
  if (bytes > maxPayloadBytes) throw refuse(`it has ${bytes} bytes, ${maxPayloadBytes} are allowed. Send a reference to the data.`);
  return text;
}

/** PostgreSQL's jsonb has no text with these characters. */
function isStorable(value: unknown): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && !/[\ud800-\udfff]/u.test(value));
}
