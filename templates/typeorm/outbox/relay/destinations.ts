import type { Route } from '../routes.js';
import type { OutboxMessage, Publisher } from './publisher.js';

/** Where the messages of one type go. */
export interface Destination {
  readonly broker: string;
  readonly publisher: Publisher;
  readonly deliver: (message: OutboxMessage) => Promise<void>;
}

/** The whitelist with a publisher for each type. Throws, naming them all, when some route can't be served. */
export function findDestinations(routes: Readonly<Record<string, Route>>, publishers: readonly Publisher[]): ReadonlyMap<string, Destination> {
  const destinations = new Map<string, Destination>();
  const faults: string[] = [];
  if (Object.keys(routes).length === 0) faults.push('There is none: every stored message would become failed.');
  for (const [type, route] of Object.entries(routes)) {
    try {
      destinations.set(type, findDestination(route, publishers));
    } catch (error) {
      faults.push(`'${type}': ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (faults.length > 0) throw new Error(`The outbox relay does not start: routes.ts has entries that it can't serve. ${faults.join(' ')}`);
  return destinations;
}

function findDestination(route: Route, publishers: readonly Publisher[]): Destination {
  if (route.transport === 'unresolved') throw new Error(`the route is not resolved (${route.note}); say where the legacy publish sends it.`);
  for (const publisher of publishers) {
    const broker = publisher.brokerOf(route);
    if (broker !== null) return { broker, publisher, deliver: (message) => publisher.publish(route, message) };
  }
  throw new Error(`no publisher in publishers.ts serves the transport '${route.transport}'.`);
}
