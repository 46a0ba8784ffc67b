import { describeIndex, nearestIndex, replaceIndex } from '../outbox-index.js';
import type { SchemaRule } from '../rule.js';

export const outboxIndexOrder: SchemaRule = {
  id: 'outbox-index-order',
  title: 'The index of the relay has another order',
  severity: 'error',
  roles: ['outbox'],
  find(table) {
    const nearest = nearestIndex(table);
    if (nearest?.fault !== 'order') return [];
    const { index } = nearest;
    return [{
      message: `Index ${describeIndex(index)} has its NULLs where ORDER BY occurred_at does not expect them: the relay sorts the whole backlog at every poll.`,
      help: replaceIndex(table, index),
      index: `${index.schema}.${index.name}`,
    }];
  },
};
