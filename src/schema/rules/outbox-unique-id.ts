import { qualified, quote } from '../identifiers.js';
import { dropPresent, hasPrimaryKey, uniqueOnId } from '../outbox-identity.js';
import { plainName, sqlName, type SchemaRule } from '../rule.js';

export const outboxUniqueId: SchemaRule = {
  id: 'outbox-unique-id',
  title: 'The id of the outbox is unique, but not its primary key',
  severity: 'warning',
  roles: ['outbox'],
  find(table) {
    const unique = uniqueOnId(table);
    if (hasPrimaryKey(table) || unique === null) return [];
    const present = table.indexes.find(({ isPrimary }) => isPrimary);
    const replace = unique.constraint === null
      ? `${dropPresent(present)}ADD PRIMARY KEY USING INDEX ${quote(unique.name)}`
      : `${dropPresent(present)}DROP CONSTRAINT ${quote(unique.constraint)}, ADD PRIMARY KEY ("id")`;
    return [{
      message: `'${plainName(table)}' has a unique key on (id) that is not its primary key: ORMs and logical replication find no identity for its rows.`,
      help: [`ALTER TABLE ${sqlName(table)} ${replace}`],
      index: qualified(unique.schema, unique.name),
    }];
  },
};
