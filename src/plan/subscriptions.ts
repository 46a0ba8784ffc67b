import type { Subscriber } from '../core/finding.js';

/** Buses whose subscribers name a queue. Which messages a queue gets is said by its bindings, which the code may not show. */
const queueBuses: readonly string[] = ['amqplib', 'amqp-connection-manager'];

export interface EventNames {
  /** Pattern, routing key, queue or message type; null: the code does not tell. */
  readonly names: readonly (string | null)[];
  /** Whether it is published to an exchange: then every subscriber that names a queue may get it. */
  readonly goesToExchange: boolean;
}

/** The subscribers of an event, and those of which the code does not tell: they may be. */
export function subscribersOf({ names, goesToExchange }: EventNames, subscribers: readonly Subscriber[]): readonly Subscriber[] {
  return subscribers.filter(({ destination, bus }) => {
    if (destination === null || (goesToExchange && queueBuses.includes(bus))) return true;
    return names.some((name) => name !== null && isSubscription(destination, name));
  });
}

/** Whether a subscription takes a message of this name. Topic patterns: `*` and `+` stand for one word, `#` for any number of them. */
export function isSubscription(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  if (!/[*+#]/.test(pattern)) return false;
  return matchWords(pattern.split(/[./]/), name.split(/[./]/));
}

function matchWords(pattern: readonly string[], words: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return words.length === 0;
  if (first === '#') return words.some((_, index) => matchWords(rest, words.slice(index))) || matchWords(rest, []);
  const [word, ...others] = words;
  if (word === undefined) return false;
  return (first === '*' || first === '+' || first === word) && matchWords(rest, others);
}
