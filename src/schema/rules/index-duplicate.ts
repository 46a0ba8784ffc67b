import { qualified, quote } from '../identifiers.js';
import type { LiveIndex } from '../live.js';
import { plainName, sqlName, type SchemaRule } from '../rule.js';
import { indexName, tableSpecs } from '../tables.js';

export const indexDuplicate: SchemaRule = {
  id: 'index-duplicate',
  title: 'Two indexes do the same',
  severity: 'warning',
  roles: ['outbox', 'inbox'],
  find(table) {
    // The one to keep comes first: a primary key, then a constraint, then the one that the entity declares, then the first by name.
    const declared = indexName(tableSpecs[table.role], table.name);
    const rank = ({ isPrimary, constraint, name }: LiveIndex): number => [isPrimary, constraint !== null, name === declared, true].indexOf(true);
    const ordered = table.indexes.filter(isWhole).sort((a, b) => rank(a) - rank(b));
    return ordered.flatMap((index, position) => {
      const kept = ordered.slice(0, position).find((other) => signature(other) === signature(index));
      if (kept === undefined) return [];
      const isPlain = index.constraint === null;
      const concurrently = table.kind === 'partitioned table' ? '' : ' CONCURRENTLY';
      return [{
        message: `Index '${index.name}' of '${plainName(table)}' does the same as '${kept.name}': every write maintains both.`,
        help: [isPlain ? `DROP INDEX${concurrently} ${qualified(index.schema, index.name)}` : `ALTER TABLE ${sqlName(table)} DROP CONSTRAINT ${quote(index.constraint)}`],
        index: `${index.schema}.${index.name}`,
      }];
    });
  },
};

/** What failed to build, or is checked late, is no copy of a whole one, and other rules tell of it. */
function isWhole(index: LiveIndex): boolean {
  return index.isValid && index.isReady && index.isLive && !index.isDeferrable;
}

/** A unique index is no copy of one that is not. */
function signature({ method, isUnique, nullsNotDistinct, predicate, keys, included }: LiveIndex): string {
  return JSON.stringify([method, isUnique, nullsNotDistinct, predicate, keys, [...included].sort()]);
}
