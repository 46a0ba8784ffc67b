import { quote } from './identifiers.js';
import type { LiveIndex, LiveTable } from './live.js';

/** First half of an ALTER TABLE that sets another primary key. */
export function dropPresent(present: LiveIndex | undefined): string {
  return present?.constraint == null ? '' : `DROP CONSTRAINT ${quote(present.constraint)}, `;
}

/** On (id); on a partitioned table, where the partition key must be part of it, one that contains id. */
export function hasPrimaryKey(table: LiveTable): boolean {
  return table.indexes.some(({ isPrimary, keys }) =>
    isPrimary && keys.some(({ column }) => column === 'id') && (keys.length === 1 || table.kind === 'partitioned table' || table.kind === 'partition'),
  );
}

/** A unique key that does what the primary key should. */
export function uniqueOnId(table: LiveTable): LiveIndex | null {
  return table.indexes.find(({ isPrimary, isUnique, isValid, isReady, isLive, predicate, keys }) =>
    !isPrimary && isUnique && isValid && isReady && isLive && predicate === null && keys.length === 1 && keys[0]?.column === 'id') ?? null;
}
