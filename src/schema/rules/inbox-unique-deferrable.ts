import { nearestUnique, replaceUnique } from '../inbox-unique.js';
import type { SchemaRule } from '../rule.js';

export const inboxUniqueDeferrable: SchemaRule = {
  id: 'inbox-unique-deferrable',
  title: 'The unique key of the inbox is checked too late',
  severity: 'error',
  roles: ['inbox'],
  find(table) {
    const nearest = nearestUnique(table);
    if (nearest?.fault !== 'deferrable') return [];
    const { index } = nearest;
    return [{
      message: `Constraint '${index.constraint ?? index.name}' is DEFERRABLE: ON CONFLICT can't use it and fails, and a plain INSERT learns of the duplicate only after the work is done.`,
      help: replaceUnique(table, index),
      index: `${index.schema}.${index.name}`,
    }];
  },
};
