import { describeIndex, nearestIndex, replaceIndex } from '../outbox-index.js';
import type { SchemaRule } from '../rule.js';

export const outboxIndexPredicate: SchemaRule = {
  id: 'outbox-index-predicate',
  title: 'The index of the relay leaves pending rows out',
  severity: 'error',
  roles: ['outbox'],
  find(table) {
    const nearest = nearestIndex(table);
    if (nearest?.fault !== 'predicate') return [];
    const { index } = nearest;
    return [{
      message: `Index ${describeIndex(index)} covers only rows where ${index.predicate}, and status = 'pending' does not imply that: the relay can't use it.`,
      help: replaceIndex(table, index),
      index: `${index.schema}.${index.name}`,
    }];
  },
};
