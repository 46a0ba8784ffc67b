import { AmqpPublisher } from './amqp-publisher.js';
import type { Publisher } from './publisher.js';

/** Resolves an injection token of the application; throws when there is no such provider. */
export type FindProvider = (token: string | symbol | (abstract new (...args: never[]) => unknown)) => unknown;

/** The publishers of this service, by transport. The first one that knows a route serves it. */
export const createPublishers: (find: FindProvider) => Publisher[] = () => {
  const url = process.env['AMQP_URL'];
  if (!url) throw new Error('The outbox relay does not start: AMQP_URL is not set, and routes.ts has routes to RabbitMQ.');
  return [new AmqpPublisher(url)];
};
