import type { Span } from './place.js';

/** Replaces the text of a span. An insertion has `start === end`. */
export interface Edit extends Span {
  readonly text: string;
}

/**
 * Applies edits to the text of one file, from the end backwards, so that bytes outside them stay as they are.
 * Insertions at the same offset keep the order in which they are given.
 * Throws on overlap and on a range outside the text: both are bugs of a codemod.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const ordered = edits.map((edit, index) => ({ edit, index }))
    .sort((a, b) => a.edit.start - b.edit.start || a.edit.end - b.edit.end || a.index - b.index)
    .map(({ edit }) => edit);
  let result = '';
  let position = 0;
  for (const edit of ordered) {
    if (edit.start < position) throw new Error(`overlapping edits at offset ${edit.start} of ${edit.file}`);
    if (edit.end < edit.start || edit.end > text.length) throw new Error(`edit outside the file: ${edit.start}..${edit.end} of ${edit.file}`);
    result += text.slice(position, edit.start) + edit.text;
    position = edit.end;
  }
  return result + text.slice(position);
}
