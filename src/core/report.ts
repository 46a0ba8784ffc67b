import type { Finding, SafePublish, Subscriber, Unresolved } from './finding.js';

/** A file that could not be read or parsed, and was passed over. */
export interface SkippedFile {
  readonly file: string;
  readonly reason: 'unreadable' | 'unparsable' | 'too-large' | 'not-utf8';
  readonly message: string;
}

/** Everything one scan found. */
export interface ScanResult {
  /** Absolute path of the project. */
  readonly root: string;
  readonly stats: { readonly files: number; readonly parsed: number; readonly milliseconds: number };
  readonly findings: readonly Finding[];
  readonly safe: readonly SafePublish[];
  readonly subscribers: readonly Subscriber[];
  readonly unresolved: readonly Unresolved[];
  readonly skipped: readonly SkippedFile[];
}
