import { Chalk, type ChalkInstance } from 'chalk';

export type TextStyle = ChalkInstance;

/** Styles that do nothing where no colour is wanted. */
export function createStyle(usesColor: boolean): TextStyle {
  return new Chalk({ level: usesColor ? 1 : 0 });
}

/** Text that can't steer a terminal, on one line: names come from files that anyone may have written. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ');
}

/** Text with a link behind it (OSC 8). */
export function link(text: string, url: string): string {
  return `\x1b]8;;${url}\x1b\\${text}\x1b]8;;\x1b\\`;
}

/** Cut to a width, with a sign that it was. */
export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(1, width - 1)).join('').replace(/[…{(,\s]+$/, '')}…`;
}

/** Filled up with blanks to a width. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - [...text].length));
}
