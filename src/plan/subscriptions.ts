import type { Subscriber } from '../core/finding.js';

/** The subscribers of an event, and those whose destination the code does not tell: they may be. */
export function subscribersOf(names: readonly (string | null)[], subscribers: readonly Subscriber[]): readonly Subscriber[] {
  return subscribers.filter(({ destination }) => destination === null || names.some((name) => name !== null && isSubscription(destination, name)));
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
