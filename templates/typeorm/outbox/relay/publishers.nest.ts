import { NestPublisher } from './nest-publisher.js';
import type { Publisher } from './publisher.js';

/** Resolves an injection token of the application; throws when there is no such provider. */
export type FindProvider = (token: string | symbol | (abstract new (...args: never[]) => unknown)) => unknown;

/** The publishers of this service, by transport. The first one that knows a route serves it. */
export function createPublishers(find: FindProvider): Publisher[] {
  return [new NestPublisher(find)];
}
