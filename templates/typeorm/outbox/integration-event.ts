import { randomBytes } from 'node:crypto';

/** A message as other services see it: what the publisher sends, with an id of its own and the time it happened. */
export type IntegrationEvent<T extends object = object> = T & { readonly eventId: string; readonly occurredAt: string };

/**
 * Makes an integration event of a message: a shallow copy with the same prototype (some publishers derive the
 * destination from the class), a new `eventId` (UUIDv7) and `occurredAt`. The message itself stays as it is.
 *
 * - An `occurredAt` that the message has is kept; a Date becomes the ISO string that JSON would make of it.
 * - An `eventId` that is a UUID is replaced: it came in with the event that this one was copied from, and two events
 *   with one id are one event to every inbox. Any other `eventId` means something else to subscribers and is refused.
 */
export function integrationEvent<T extends object>(message: T): IntegrationEvent<T> {
  if (Array.isArray(message) || Buffer.isBuffer(message)) {
    throw new TypeError('An integration event is an object with named fields; wrap the list or the buffer in one.');
  }
  const present: { eventId?: unknown; occurredAt?: unknown } = message;
  if (present.eventId !== undefined && present.eventId !== null && !isUuid(present.eventId)) {
    throw new TypeError("The message has an 'eventId' that is not a UUID; rename that field, the event's own id goes by this name.");
  }
  const fields = {
    ...Object.getOwnPropertyDescriptors(message),
    eventId: field(uuidv7()),
    occurredAt: field(toIsoTime(present.occurredAt)),
  };
  const event: unknown = Object.create(Object.getPrototypeOf(message) as object | null, fields);
  return event as IntegrationEvent<T>;
}

/** Whether a value is the text of a UUID, of any version. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(value);
}

function field(value: string): PropertyDescriptor {
  return { value, enumerable: true, configurable: true, writable: true };
}

function toIsoTime(value: unknown): string {
  if (value === undefined || value === null) return new Date().toISOString();
  if (typeof value === 'string') return value;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new TypeError("The message has an 'occurredAt' that is neither a valid Date nor a string.");
}

let lastTick = 0;
let sequence = 0;

/** UUIDv7 (RFC 9562): sorts by time, and within one process and millisecond by a counter. */
function uuidv7(): string {
  const bytes = randomBytes(16);
  const now = Date.now();
  if (now > lastTick) {
    lastTick = now;
    sequence = bytes.readUInt16BE(6) & 0x07ff; // the upper half of the counter's range stays free to count in
  } else {
    sequence += 1; // the same millisecond, or a clock that went back
    if (sequence > 0x0fff) {
      lastTick += 1;
      sequence = 0;
    }
  }
  bytes.writeUIntBE(lastTick, 0, 6);
  bytes.writeUInt16BE(0x7000 | sequence, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
