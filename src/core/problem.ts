import type { Severity } from './finding.js';

/** One thing that `check` found: the shape of its JSON. */
export interface Problem {
  /** Kebab-case id of the rule. */
  readonly rule: string;
  readonly severity: Severity;
  readonly subject: 'outbox' | 'inbox' | 'code';
  /** `schema.table`, an index, or a file. */
  readonly object: string;
  /** Empty for a problem of the database. */
  readonly file: string;
  /** 0 for a problem of the database. */
  readonly line: number;
  /** What is there, and why it matters. */
  readonly message: string;
  /** The statements or the command that mend it. Statements end in `;`, one a line, and run one by one, outside a transaction. */
  readonly fix: string;
}
