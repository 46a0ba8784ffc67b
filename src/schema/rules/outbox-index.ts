import { describeIndex, nearestIndex, replaceIndex } from '../outbox-index.js';
import { plainName, type SchemaRule } from '../rule.js';

export const outboxIndex: SchemaRule = {
  id: 'outbox-index',
  title: 'No index serves the relay',
  severity: 'error',
  roles: ['outbox'],
  find(table) {
    const nearest = nearestIndex(table);
    if (nearest !== null && nearest.fault !== 'keys') return [];
    const found = nearest === null ? 'no index on its status' : `${describeIndex(nearest.index)}, which does not lead with them`;
    return [{
      message: `'${plainName(table)}' has ${found}; the relay needs an index whose first keys are status, then occurred_at. Without it every poll reads and sorts the backlog or the whole table.`,
      help: replaceIndex(table, nearest?.index ?? null),
    }];
  },
};
