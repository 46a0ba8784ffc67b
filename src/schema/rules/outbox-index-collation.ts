import { describeIndex, nearestIndex, replaceIndex } from '../outbox-index.js';
import type { SchemaRule } from '../rule.js';

export const outboxIndexCollation: SchemaRule = {
  id: 'outbox-index-collation',
  title: 'The index of the relay sorts by another collation',
  severity: 'error',
  roles: ['outbox'],
  find(table) {
    const nearest = nearestIndex(table);
    if (nearest?.fault !== 'collation') return [];
    const { index } = nearest;
    return [{
      message: `Index ${describeIndex(index)} is sorted by another collation than its column has: status = 'pending' does not use it.`,
      help: replaceIndex(table, index),
      index: `${index.schema}.${index.name}`,
    }];
  },
};
