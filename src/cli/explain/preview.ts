import type { RewriteVerdict } from '../../report/json.js';

/** What the next rewrite of a finding's handler would do. */
export interface Preview extends RewriteVerdict {
  /** Unified diff; empty when it is not possible. */
  readonly patch: string;
}
