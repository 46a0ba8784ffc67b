import type { TableRole } from './tables.js';

/** One of the two tables as the database has it. */
export interface LiveTable {
  readonly role: TableRole;
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'partitioned table' | 'partition' | 'view' | 'materialized view' | 'foreign table' | 'other';
  readonly persistence: 'permanent' | 'unlogged' | 'temporary';
  readonly columns: readonly LiveColumn[];
  readonly indexes: readonly LiveIndex[];
  /** Columns of the partition key; empty for a plain table. */
  readonly partitionKey: readonly string[];
  /** Partitions that are unlogged, with their schema, quoted. */
  readonly unloggedPartitions: readonly string[];
  /** Names in the table's schema that a new index can't have. */
  readonly takenNames: readonly TakenName[];
}

export interface TakenName {
  readonly name: string;
  /** Table whose index has the name; null when something else has it. */
  readonly table: string | null;
}

/** The name does not resolve. */
export interface MissingTable {
  readonly role: TableRole;
  readonly wanted: string;
  /** Schemas that have a table of this name and that the connection does not look into. */
  readonly elsewhere: readonly string[];
  readonly searchPath: string;
}

export interface LiveColumn {
  readonly name: string;
  /** As `format_type` writes it; of a domain, the type below it. */
  readonly type: string;
  readonly notNull: boolean;
  /** Fractional digits of a timestamp; null for other types. */
  readonly fractionalDigits: number | null;
}

export interface LiveIndex {
  readonly name: string;
  readonly schema: string;
  readonly method: string;
  readonly isUnique: boolean;
  readonly isPrimary: boolean;
  /** False after a failed CREATE INDEX CONCURRENTLY, and for an index on a partitioned table that lacks a partition. */
  readonly isValid: boolean;
  readonly isReady: boolean;
  readonly isLive: boolean;
  readonly isDeferrable: boolean;
  readonly nullsNotDistinct: boolean;
  /** The constraint that owns it; null for a plain index. */
  readonly constraint: string | null;
  readonly predicate: string | null;
  /** Key columns only, in order: an INCLUDE column is not a key. */
  readonly keys: readonly LiveKey[];
  readonly included: readonly string[];
}

export interface LiveKey {
  /** Null for an expression. */
  readonly column: string | null;
  /** The column or expression as SQL. */
  readonly text: string;
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
  /** Whether the index sorts by another collation than the column's. */
  readonly hasOtherCollation: boolean;
  readonly collation: string | null;
  readonly isDeterministic: boolean;
}
