import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../../app.module.js';
import { createRelay } from './create-relay.js';
import { jsonLog } from './log.js';
import { RelayMetrics } from './metrics.js';
import { serveMonitoring } from './monitoring.js';
import { readRelayOptions } from './options.js';
import { reasonOf } from './publisher.js';

/**
 * The relay as a process of its own. It starts the application's module without its HTTP server and without Nest's
 * subscribers, for its database connection and its broker clients. Schedulers and consumers that the module starts by
 * itself would run here, too: then put a module with just the database and the clients in its place.
 */
async function main(): Promise<void> {
  const options = readRelayOptions();
  process.env['OUTBOX_RELAY'] = 'off'; // the RelayModule of the service, if it is there, leaves the work to this process
  const metrics = new RelayMetrics();
  const app = await NestFactory.createApplicationContext(AppModule, { abortOnError: false, logger: ['warn', 'error'] });
  const { relay, publishers } = createRelay((token) => app.get<unknown>(token, { strict: false }), options, metrics);
  const server = serveMonitoring(options.monitoringPort, relay, metrics);
  const stop = (): void => {
    setTimeout(() => {
      jsonLog('error', 'stop-timeout', { milliseconds: options.stopTimeoutMs });
      process.exit(1);
    }, options.stopTimeoutMs).unref();
    void relay.stop();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  await relay.start();
  server?.close();
  await Promise.all(publishers.map((publisher) => publisher.close()));
  await app.close();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    jsonLog('error', 'ended', { reason: reasonOf(error) });
    process.exit(1);
  },
);
