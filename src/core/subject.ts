import type { Finding, Handler, Subscriber } from './finding.js';
import type { Place, Span } from './place.js';

/** Something that a command can be told to work on. */
interface Named extends Place {
  readonly name: string;
  readonly span: Span;
}

/**
 * How a handler is named on the command line: by its name, with its file where others are called alike, else by the id of one of
 * its findings. Never by what a shell would not take as one word, as the name of a function without a name is.
 */
export function handlerSubject(handler: Handler, id: string | null, all: readonly Handler[]): string {
  return wordFor(handler, all) ?? id ?? lineSubject(handler);
}

/** How a subscriber is named on the command line: as a handler is, else by its file and line. */
export function subscriberSubject(subscriber: Subscriber, all: readonly Subscriber[]): string {
  return wordFor(subscriber, all) ?? lineSubject(subscriber);
}

/** How a person calls it: the name, with the file where others are called alike. */
export function labelOf({ file, name, span }: Named, all: readonly Named[]): string {
  return isWord(name) && !all.some((other) => other.name === name && !isSame(other, { file, span })) ? name : `${file}#${name}`;
}

/** Whether a person who names a place means this: the line where it begins, or `extra` lines that belong to it. */
export function isAt(subject: string, { file, line }: Place, extra: readonly Place[] = []): boolean {
  return [{ file, line }, ...extra].some((place) => subject.replace(/^\.\//, '') === lineSubject(place));
}

/** Whether a person who names a place means this finding: the line of its handler, or one that its path leads over. */
export function isFindingAt(subject: string, { handler, publish, witness }: Finding): boolean {
  return isAt(subject, handler, [publish, ...publish.path, ...witness.filter(({ role }) => role !== 'crash')]);
}

function wordFor(named: Named, all: readonly Named[]): string | null {
  const others = all.filter((other) => !isSame(other, named));
  const full = `${named.file}#${named.name}`;
  if (isWord(named.name) && !others.some(({ name }) => name === named.name)) return named.name;
  return isWord(full) && !others.some(({ file, name }) => file === named.file && name === named.name) ? full : null;
}

function isWord(text: string): boolean {
  return /^[\w.][\w./#@:-]*$/.test(text);
}

function isSame(a: Pick<Named, 'file' | 'span'>, b: Pick<Named, 'file' | 'span'>): boolean {
  return a.file === b.file && a.span.start === b.span.start;
}

function lineSubject({ file, line }: Place): string {
  return `${file}:${line}`;
}
