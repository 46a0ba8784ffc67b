import { DataSource } from 'typeorm';
import { routes } from '../routes.js';
import { jsonLog } from './log.js';
import { RelayMetrics } from './metrics.js';
import type { RelayOptions } from './options.js';
import { createPublishers, type FindProvider } from './publishers.js';
import type { Publisher } from './publisher.js';
import { Relay } from './relay.js';

export interface CreatedRelay {
  readonly relay: Relay;
  readonly publishers: readonly Publisher[];
}

/** The relay over the application's own database connection and broker clients. Throws when something is missing. */
export function createRelay(find: FindProvider, options: RelayOptions, metrics: RelayMetrics): CreatedRelay {
  const dataSource = find(DataSource);
  if (!(dataSource instanceof DataSource)) throw new Error('The outbox relay does not start: the application has no DataSource of TypeORM.');
  const publishers = createPublishers(find);
  return { publishers, relay: new Relay({ dataSource, routes, publishers, options, metrics, log: jsonLog }) };
}
