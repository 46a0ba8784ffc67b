import type { Subscriber } from '../../core/finding.js';
import type { Reason } from '../../core/outcome.js';
import { subscriberSubject } from '../../core/subject.js';
import { isSubscription } from '../../plan/subscriptions.js';
import type { RouteEntry } from '../../templates/routes.js';

/**
 * What stands against a relay: it delivers each event a second time next to the legacy publish, so every subscriber of
 * the recorded events needs its inbox first.
 */
export function relayGate(routes: readonly RouteEntry[], subscribers: readonly Subscriber[]): readonly Reason[] {
  if (routes.length === 0) {
    return [{ code: 'no-routes', message: "routes.ts has no entry: bring a handler to dual-publish first, with 'outboxify rewrite <handler> --to dual-publish --write'." }];
  }
  const unresolved = routes.filter((route) => route.transport === 'unresolved').map((route): Reason => {
    return { code: 'unresolved-route', message: `The route of '${route.type}' is not resolved: say in routes.ts where the legacy publish sends it.` };
  });
  const unguarded = subscribers.filter((subscriber) => !subscriber.inbox && routes.some((route) => isSubscribed(subscriber, route)));
  return [...unresolved, ...unguarded.map((subscriber) => toReason(subscriber, subscribers))];
}

function toReason(subscriber: Subscriber, all: readonly Subscriber[]): Reason {
  const what = subscriber.destination === null ? 'and the code does not tell what it subscribes to' : `and can get an event of routes.ts through '${subscriber.destination}'`;
  return {
    code: 'subscriber-without-inbox',
    message: `'${subscriber.name}' (${subscriber.file}:${subscriber.line}) has no inbox, ${what}: run 'outboxify inbox ${subscriberSubject(subscriber, all)} --write'.`,
  };
}

/** Their subscribers name a queue, and which exchange feeds it is not in the code that consumes. */
const queueBuses: readonly string[] = ['amqplib', 'amqp-connection-manager'];

/** A subscriber that does not tell its destination may be one of the event's. */
function isSubscribed(subscriber: Subscriber, route: RouteEntry): boolean {
  if (subscriber.destination === null) return true;
  if (route.address === 'routing-key' && queueBuses.includes(subscriber.bus)) return true;
  const { destination } = subscriber;
  return [route.destination, route.type].some((name) => name !== null && isSubscription(destination, name));
}
