import { qualified } from '../identifiers.js';
import { nearestUnique } from '../inbox-unique.js';
import type { LiveIndex, LiveTable } from '../live.js';
import { nearestIndex } from '../outbox-index.js';
import { plainName, type SchemaRule } from '../rule.js';

export const indexLeftOver: SchemaRule = {
  id: 'index-left-over',
  title: 'An index that failed to build was left behind',
  severity: 'warning',
  roles: ['outbox', 'inbox'],
  find(table) {
    if (table.kind === 'partitioned table') return [];
    return table.indexes.filter((index) => (!index.isValid || !index.isReady) && !isReported(table, index)).map((index) => ({
      message: `Index '${index.name}' of '${plainName(table)}' is INVALID: every write maintains it and nothing reads it.`,
      help: [`DROP INDEX CONCURRENTLY ${qualified(index.schema, index.name)}`],
      index: `${index.schema}.${index.name}`,
    }));
  },
};

/** The one that another rule wants to be rebuilt. */
function isReported(table: LiveTable, index: LiveIndex): boolean {
  const nearest = table.role === 'outbox' ? nearestIndex(table) : nearestUnique(table);
  return nearest?.fault === 'unusable' && nearest.index === index;
}
