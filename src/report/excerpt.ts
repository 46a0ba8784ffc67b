import type { Span } from '../core/place.js';
import { printable } from './text.js';

/** A call on one line: `await this.orders.save({…})`, object and function bodies folded when it is long. */
export function codeLine(source: string, span: Span, width = 48): string {
  const isAwaited = /\bawait\s+$/.test(source.slice(Math.max(0, span.start - 12), span.start));
  const call = oneLine(source.slice(span.start, span.end));
  const text = `${isAwaited ? 'await ' : ''}${call}`;
  const shorter = [(line: string) => line, withoutTypeArguments, fold].reduce((line, shorten) => ([...line].length <= width ? line : shorten(line)), text);
  return printable(shorter);
}

/** `emit<void, OrderPaid>(…)` as `emit(…)`. */
function withoutTypeArguments(text: string): string {
  return text.replace(/(\w)<[^()<>]*(?:<[^()<>]*>[^()<>]*)*>\(/g, '$1(');
}

function oneLine(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .join(' ')
    .replace(/ ?(\?\.|\.)(?=\w)/g, '$1')
    .replace(/([([]) /g, '$1')
    .replace(/,? ([)\]])/g, '$1');
}

/** Replaces the outermost braces by `{…}`; braces within a string are folded, too, which only shortens more. */
function fold(text: string): string {
  let depth = 0;
  let result = '';
  for (const character of text) {
    if (character === '{') {
      if (depth === 0) result += '{…}';
      depth++;
    } else if (character === '}' && depth > 0) {
      depth--;
    } else if (depth === 0) {
      result += character;
    }
  }
  return result;
}
