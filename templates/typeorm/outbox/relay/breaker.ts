/**
 * Remembers which brokers are down and until when to leave each alone: 1, 2, 4 … seconds. After that one message is
 * tried, and the rest only when it got through.
 */
export class Breaker {
  private readonly down = new Map<string, { failures: number; until: number }>();

  constructor(
    private readonly firstWaitMs: number,
    private readonly longestWaitMs: number,
  ) {}

  /** Returns the wait in milliseconds. */
  failed(broker: string): number {
    const failures = (this.down.get(broker)?.failures ?? 0) + 1;
    const wait = Math.min(this.firstWaitMs * 2 ** Math.min(failures - 1, 20), this.longestWaitMs);
    this.down.set(broker, { failures, until: Date.now() + wait });
    return wait;
  }

  answered(broker: string): void {
    this.down.delete(broker);
  }

  /** Faults in a row. Above 0 only one message may try it. */
  failures(broker: string): number {
    return this.down.get(broker)?.failures ?? 0;
  }

  /** Milliseconds until the broker may be tried; 0: now. */
  waitFor(broker: string): number {
    return Math.max(0, (this.down.get(broker)?.until ?? 0) - Date.now());
  }
}
