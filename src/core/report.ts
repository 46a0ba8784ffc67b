import type { Finding, SafePublish, Subscriber, Unresolved } from './finding.js';
import type { Place } from './place.js';
import type { StacksSeen } from './stacks.js';

/** A file that could not be read or parsed, and was passed over. */
export interface SkippedFile {
  readonly file: string;
  readonly reason: 'unreadable' | 'unparsable' | 'too-large' | 'not-utf8' | 'link';
  readonly message: string;
}

/** An import of code that belongs to the project's people and could not be read. */
export interface UnreadImport extends Place {
  readonly specifier: string;
  /** Why, and what to do. */
  readonly hint: string;
}

/** What was read beside a project that is a member of a workspace. */
export interface BesideProject {
  /** The workspace's root, from the project. */
  readonly root: string;
  /** Files that the project's own reach by imports. */
  readonly files: number;
  /** Dual writes of handlers in them: they belong to no file of the project. */
  readonly findings: number;
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
  readonly unread: readonly UnreadImport[];
  /** Null: the project stands alone. */
  readonly beside: BesideProject | null;
  readonly stacks: StacksSeen;
}
