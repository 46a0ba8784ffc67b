import { qualified } from '../identifiers.js';
import { nearestUnique, replaceUnique } from '../inbox-unique.js';
import type { SchemaRule } from '../rule.js';

export const inboxUniqueUnusable: SchemaRule = {
  id: 'inbox-unique-unusable',
  title: 'The unique key of the inbox is INVALID',
  severity: 'error',
  roles: ['inbox'],
  find(table) {
    const nearest = nearestUnique(table);
    if (nearest?.fault !== 'unusable') return [];
    const { index } = nearest;
    const rebuild = index.isLive && index.constraint === null && table.kind !== 'partitioned table';
    const [removeCopies, ...replace] = replaceUnique(table, index);
    return [{
      message: `Unique index '${index.name}' is INVALID, as a CREATE UNIQUE INDEX CONCURRENTLY that failed leaves it: it is listed as unique, duplicates are accepted, and ON CONFLICT (event_id, consumer) fails.`,
      help: [removeCopies ?? '', ...(rebuild ? [`REINDEX INDEX CONCURRENTLY ${qualified(index.schema, index.name)}`] : replace)],
      index: `${index.schema}.${index.name}`,
    }];
  },
};
