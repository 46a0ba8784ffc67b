import { qualified } from '../identifiers.js';
import type { LiveIndex } from '../live.js';
import { nearestIndex, replaceIndex } from '../outbox-index.js';
import type { SchemaRule } from '../rule.js';

export const outboxIndexUnusable: SchemaRule = {
  id: 'outbox-index-unusable',
  title: 'The index of the relay is there and is not used',
  severity: 'error',
  roles: ['outbox'],
  find(table) {
    const nearest = nearestIndex(table);
    if (nearest?.fault !== 'unusable') return [];
    const { index } = nearest;
    const name = qualified(index.schema, index.name);
    const canRebuild = index.method === 'btree' && index.isLive && table.kind !== 'partitioned table';
    return [{
      message: `Index '${index.name}' has the right keys and ${reason(index, table.kind === 'partitioned table')}: the planner passes it over, or it can't sort, and every poll reads the table.`,
      help: canRebuild ? [`REINDEX INDEX CONCURRENTLY ${name}`] : replaceIndex(table, index),
      index: `${index.schema}.${index.name}`,
    }];
  },
};

function reason(index: LiveIndex, isPartitioned: boolean): string {
  if (index.method !== 'btree') return `is of type '${index.method}', not btree`;
  if (isPartitioned) return 'is INVALID, because a partition has no index attached to it';
  if (!index.isLive) return 'is being dropped (not live)';
  return index.isReady ? 'is INVALID, as a CREATE INDEX CONCURRENTLY that failed leaves it' : 'is INVALID and not ready, as a CREATE INDEX CONCURRENTLY that failed leaves it';
}
