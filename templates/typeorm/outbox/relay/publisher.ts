import type { Route } from '../routes.js';

/** One claimed row, as publishers see it. */
export interface OutboxMessage {
  readonly id: string;
  readonly type: string;
  /** The event as JSON text; not decoded by the relay. */
  readonly payload: string;
}

/** Hands messages to one kind of broker. Add your own to `publishers.ts`. */
export interface Publisher {
  /**
   * The broker that a route leads to: routes with the same name wait together while it is down. Null when the route is
   * not this publisher's. Throws when the route can't work; the relay then does not start.
   */
  brokerOf(route: Route): string | null;
  /**
   * Resolves when the broker has confirmed the message. Rejects with a `BrokerFault` when the broker can't be reached or
   * does not answer, and with any other error when this message is at fault.
   */
  publish(route: Route, message: OutboxMessage): Promise<void>;
  /** Called after a fault of that broker: the next publish is to start with a connection that works. */
  reset(broker: string): Promise<void>;
  close(): Promise<void>;
}

/** The broker is down, not the message: no attempt is counted and the relay waits. */
export class BrokerFault extends Error {}

/** Rejects with a `BrokerFault` when the promise takes longer. */
export async function within<T>(milliseconds: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new BrokerFault(`${what} took longer than ${milliseconds} ms`));
    }, milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What an error says, whatever was thrown; without NUL characters, which PostgreSQL can't keep. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.split('\0').join('').slice(0, 2_000);
}
