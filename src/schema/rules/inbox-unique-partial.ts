import { nearestUnique, replaceUnique } from '../inbox-unique.js';
import type { SchemaRule } from '../rule.js';

export const inboxUniquePartial: SchemaRule = {
  id: 'inbox-unique-partial',
  title: 'The unique key of the inbox has a predicate',
  severity: 'error',
  roles: ['inbox'],
  find(table) {
    const nearest = nearestUnique(table);
    if (nearest?.fault !== 'partial') return [];
    const { index } = nearest;
    return [{
      message: `Unique index '${index.name}' covers only rows where ${index.predicate}: other rows may be there twice, and ON CONFLICT (event_id, consumer) fails.`,
      help: replaceUnique(table, index),
      index: `${index.schema}.${index.name}`,
    }];
  },
};
