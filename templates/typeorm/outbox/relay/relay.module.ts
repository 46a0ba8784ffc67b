import { Inject, Injectable, Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { createRelay, type CreatedRelay } from './create-relay.js';
import { jsonLog } from './log.js';
import { RelayMetrics } from './metrics.js';
import { readRelayOptions, type RelayOptions } from './options.js';
import { BrokerFault, reasonOf, within } from './publisher.js';

/** Runs the relay as long as the service runs. */
@Injectable()
export class RelayRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private options: RelayOptions | null = null;
  private created: CreatedRelay | null = null;

  constructor(
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(RelayMetrics) private readonly metrics: RelayMetrics,
  ) {}

  onApplicationBootstrap(): void {
    if (process.env['OUTBOX_RELAY'] === 'off') return;
    this.options = readRelayOptions();
    this.created = createRelay((token) => this.moduleRef.get<unknown>(token, { strict: false }), this.options, this.metrics);
    this.created.relay.start().catch((error: unknown) => {
      jsonLog('error', 'ended', { reason: reasonOf(error) });
    });
  }

  /** Before the hooks that close the database and the broker clients: what is in flight needs both. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.created === null || this.options === null) return;
    try {
      await within(this.options.stopTimeoutMs, this.created.relay.stop(), 'stopping the relay');
    } catch (error) {
      if (!(error instanceof BrokerFault)) throw error;
      jsonLog('warn', 'stop-timeout', { reason: reasonOf(error) });
    }
    await Promise.all(this.created.publishers.map((publisher) => publisher.close()));
  }
}

/**
 * The relay in the service: add it to the imports of the application's module. It needs `app.enableShutdownHooks()` to
 * stop cleanly. `OUTBOX_RELAY=off` keeps it from starting: in tests, and where the own process (`main.ts`) runs instead.
 * `RelayMetrics.text()` is what your metrics endpoint adds to its answer.
 */
@Module({ providers: [RelayRunner, RelayMetrics], exports: [RelayMetrics] })
export class RelayModule {}
