/** A range of UTF-16 code units in one file: `[start, end)`. Files are relative to the project root, with `/`. */
export interface Span {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** Where something stands, for people: 1-based line. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

/** One call on the way from a handler down to an effect. `function` is the qualified name of the function that contains the call. */
export interface CallSite extends Place {
  readonly function: string;
  /** The whole call expression. Internal: not part of the JSON output. */
  readonly span: Span;
}

/** Whether `inner` lies within `outer` (same file, bounds included). */
export function isWithin(inner: Span, outer: Span): boolean {
  return inner.file === outer.file && inner.start >= outer.start && inner.end <= outer.end;
}
