import type { DataSource } from 'typeorm';
import type { Route } from '../routes.js';
import { publishBatch, type BatchResult } from './batch.js';
import { Breaker } from './breaker.js';
import { findDestinations, type Destination } from './destinations.js';
import type { Log } from './log.js';
import type { RelayMetrics } from './metrics.js';
import type { RelayOptions } from './options.js';
import { reasonOf, type Publisher } from './publisher.js';
import { claimRows, markRowsFailed, markRowsSent, sampleRows, type FailedRow } from './rows.js';

export interface RelayParts {
  readonly dataSource: DataSource;
  /** The whitelist: message type to route. */
  readonly routes: Readonly<Record<string, Route>>;
  readonly publishers: readonly Publisher[];
  readonly options: RelayOptions;
  readonly metrics: RelayMetrics;
  readonly log: Log;
}

const longestRetryMs = 300_000;
const sampleEveryMs = 5_000;

/**
 * Publishes what the outbox holds, each row at least once.
 *
 * One cycle is one transaction: it locks a batch of rows, publishes them, marks those that the broker confirmed, and
 * commits. A relay that dies loses its locks at once, and the rows are there for the next one. Any number of relays may
 * run: each passes over the rows that another has locked. Rows are published in the order in which they were stored;
 * with several relays, and after a retry, nothing promises that order.
 */
export class Relay {
  private readonly destinations: ReadonlyMap<string, Destination>;
  private readonly breaker: Breaker;
  private running: Promise<void> | null = null;
  private stopping = false;
  private wakeUp: () => void = () => undefined;
  private lastSampleAt = 0;
  private lastSignOfLife = Date.now();

  /** Throws when a route can't be served. */
  constructor(private readonly parts: RelayParts) {
    this.destinations = findDestinations(parts.routes, parts.publishers);
    this.breaker = new Breaker(parts.options.brokerWaitMs, parts.options.brokerWaitMaxMs);
  }

  /** Starts the relay; resolves when it has stopped by itself or by `stop`. */
  start(): Promise<void> {
    this.running ??= this.run();
    return this.running;
  }

  /** Lets the batch in flight finish, then stops. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.wakeUp();
    await this.running;
  }

  /** Ends the pause of an idle relay: a hint that something was stored. The relay finds it without the hint, too. */
  wake(): void {
    this.wakeUp();
  }

  /** False when the loop stands still. A broker or database that is down does not make it so. */
  isAlive(): boolean {
    const { publishTimeoutMs, brokerWaitMaxMs } = this.parts.options;
    return Date.now() - this.lastSignOfLife < 3 * publishTimeoutMs + 2 * brokerWaitMaxMs + 10_000;
  }

  private async run(): Promise<void> {
    const { options, log } = this.parts;
    const endsAt = options.timeLimitMs > 0 ? Date.now() + options.timeLimitMs : Infinity;
    log('info', 'started', { types: [...this.destinations.keys()], cutOverAt: options.cutOverAt.toISOString(), batchSize: options.batchSize });
    let idleMs = options.idleMinMs;
    while (!this.stopping && Date.now() < endsAt) {
      this.lastSignOfLife = Date.now();
      const outcome = await this.cycle();
      await this.sample();
      idleMs = outcome === 'idle' ? Math.min(idleMs * 2, options.idleMaxMs) : options.idleMinMs;
      const pauseMs = outcome === 'more' ? 0 : outcome === 'idle' || outcome === 'drained' ? idleMs : outcome;
      if (pauseMs > 0) await this.pause(Math.min(pauseMs, Math.max(0, endsAt - Date.now())));
    }
    log('info', 'stopped', {});
  }

  /** One batch. A number says how long to wait because nothing can be reached. */
  private async cycle(): Promise<'idle' | 'drained' | 'more' | number> {
    const brokers = [...new Set([...this.destinations.values()].map((destination) => destination.broker))];
    const waits = brokers.map((broker) => this.breaker.waitFor(broker));
    if (waits.length > 0 && waits.every((wait) => wait > 0)) return Math.min(...waits);
    try {
      const result = await this.claimAndPublish();
      this.breaker.answered('database');
      if (result === null) return 'idle';
      await this.learn(result);
      return result.more ? 'more' : 'drained';
    } catch (error) {
      const waitMs = this.breaker.failed('database');
      this.parts.log('error', 'database-fault', { reason: reasonOf(error), waitMs });
      return waitMs;
    }
  }

  private async claimAndPublish(): Promise<(BatchResult & { readonly more: boolean }) | null> {
    const { dataSource, options } = this.parts;
    const waiting = [...this.destinations].filter(([, { broker }]) => this.breaker.waitFor(broker) > 0).map(([type]) => type);
    return dataSource.transaction('READ COMMITTED', async (manager) => {
      const rows = await claimRows(manager, {
        cutOverAt: options.cutOverAt,
        batchSize: options.batchSize,
        holdMs: 3 * options.publishTimeoutMs + 5_000, // a broker in doubt is tried up to three times in one cycle
        exceptTypes: waiting,
      });
      if (rows.length === 0) return null;
      const result = await publishBatch(rows, this.destinations, this.breaker, options.publishTimeoutMs);
      await markRowsSent(manager, result.sent.map((row) => row.id));
      await markRowsFailed(manager, this.failures(result));
      return { ...result, more: rows.length === options.batchSize || result.heldBack > 0 };
    });
  }

  private failures(result: BatchResult): FailedRow[] {
    const { maxAttempts, retryDelayMs } = this.parts.options;
    const unknown = result.unknown.map((row): FailedRow => {
      return { id: row.id, reason: `no route for the message type '${row.type}' in routes.ts`, retryInMs: null, attempts: 0 };
    });
    const faulty = result.faulty.map(({ row, reason }): FailedRow => {
      const delay = Math.min(retryDelayMs * 4 ** row.attempts, longestRetryMs);
      const retryInMs = row.attempts + 1 >= maxAttempts ? null : Math.round(delay * (0.9 + Math.random() * 0.2));
      return { id: row.id, reason, retryInMs, attempts: 1 };
    });
    return [...unknown, ...faulty];
  }

  /** After the commit: figures, log lines, and which brokers to leave alone for a while. */
  private async learn(result: BatchResult): Promise<void> {
    const { metrics, log, options } = this.parts;
    for (const row of result.sent) metrics.add('outbox_published_total', 1, { type: row.type });
    for (const row of result.unknown) log('error', 'unknown-type', { id: row.id, type: row.type });
    metrics.add('outbox_failed_total', result.unknown.length);
    for (const { row, reason } of result.faulty) {
      const isLast = row.attempts + 1 >= options.maxAttempts;
      metrics.add('outbox_publish_errors_total', 1, { fault: 'message' });
      if (isLast) metrics.add('outbox_failed_total', 1);
      log(isLast ? 'error' : 'warn', isLast ? 'message-failed' : 'message-fault', { id: row.id, type: row.type, attempts: row.attempts + 1, reason });
    }
    for (const broker of result.answered) this.breaker.answered(broker);
    for (const { broker, publisher, reason } of result.down) {
      const waitMs = this.breaker.failed(broker);
      metrics.add('outbox_publish_errors_total', 1, { fault: 'broker' });
      log('warn', 'broker-down', { broker, reason, waitMs });
      await publisher.reset(broker).catch((error: unknown) => {
        log('warn', 'reset-failed', { broker, reason: reasonOf(error) });
      });
    }
  }

  private async sample(): Promise<void> {
    const isFirst = this.lastSampleAt === 0;
    if (Date.now() - this.lastSampleAt < sampleEveryMs) return;
    this.lastSampleAt = Date.now();
    const { dataSource, metrics, options, log } = this.parts;
    try {
      const sample = await sampleRows(dataSource.manager, options.cutOverAt);
      metrics.set('outbox_pending_seconds', sample.pendingSeconds);
      metrics.set('outbox_pending_count', sample.pendingCount);
      metrics.set('outbox_failed_count', sample.failedCount);
      if (isFirst && sample.beforeCutOver > 0) {
        log('warn', 'rows-before-cut-over', { count: sample.beforeCutOver, meaning: 'delivered by the legacy publish; the relay leaves them alone' });
      }
    } catch (error) {
      log('warn', 'sample-failed', { reason: reasonOf(error) });
    }
  }

  private async pause(milliseconds: number): Promise<void> {
    if (this.stopping) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
