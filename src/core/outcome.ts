import type { Edit } from './edit.js';
import type { Span } from './place.js';

/** Why a command changes nothing, or a gate is not met. The code is one of the documented ids. */
export interface Reason {
  readonly code: string;
  readonly message: string;
}

/** A file that does not exist yet. */
export interface NewFile {
  readonly file: string;
  readonly content: string;
}

/** What a codemod answers. */
export type CodemodResult =
  | { readonly kind: 'edits'; readonly edits: readonly Edit[]; readonly newFiles?: readonly NewFile[]; readonly followUps: readonly string[] }
  | { readonly kind: 'suggest'; readonly range: Span; readonly text: string; readonly reason: Reason }
  | { readonly kind: 'skip'; readonly reason: Reason };

/** JSON of `rewrite`, `inbox` and `migration`. */
export interface ChangeOutcome {
  readonly outcome: 'written' | 'dry-run' | 'refused' | 'nothing-to-do';
  readonly reasons: readonly Reason[];
  readonly files: readonly { readonly path: string; readonly change: 'created' | 'modified' | 'deleted' }[];
  /** Unified diff that `git apply` takes. */
  readonly patch: string;
}
