import type { Aggregate, EventName } from './event.js';
import { quoted, type TextStyle } from './style.js';

/** `const orderPlaced = integrationEvent(…)`, then `await store(…)`. */
export function storeLines(style: TextStyle, indent: string, event: { readonly variable: string; readonly name: EventName; readonly aggregate: Aggregate; readonly manager: string }): string {
  const { variable, name, aggregate, manager } = event;
  const fields = [`type: ${quoted(style, name.type)}`, `aggregateType: ${quoted(style, aggregate.type)}`, `aggregateId: ${aggregate.id ?? `${variable}.eventId`}`];
  const head = `await store(${manager}, ${variable}, {`;
  const line = `${indent}${head} ${fields.join(', ')} })${style.semicolon}`;
  if (columns(line) <= style.width) return line;
  const broken = fields.map((field, index) => `${indent}${style.indent}${field}${index < fields.length - 1 ? ',' : style.trailingComma}`);
  return [`${indent}${head}`, ...broken, `${indent}})${style.semicolon}`].join(style.eol);
}

/** Columns of a line; a tab counts as two. */
export function columns(line: string): number {
  return line.replaceAll('\t', '  ').length;
}

/** Names that a callback returns, and what its caller writes to get them. */
export function returned(names: readonly string[]): { readonly pattern: string; readonly value: string } {
  const [only] = names;
  if (names.length === 1 && only !== undefined) return { pattern: only, value: only };
  return { pattern: `{ ${names.join(', ')} }`, value: `{ ${names.join(', ')} }` };
}
