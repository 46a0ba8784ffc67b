import { quote } from '../identifiers.js';
import { dropPresent, hasPrimaryKey, uniqueOnId } from '../outbox-identity.js';
import { plainName, sqlName, type SchemaRule } from '../rule.js';

export const outboxPrimaryKey: SchemaRule = {
  id: 'outbox-primary-key',
  title: 'Two outbox rows can have one id',
  severity: 'error',
  roles: ['outbox'],
  find(table) {
    if (hasPrimaryKey(table) || uniqueOnId(table) !== null) return [];
    const present = table.indexes.find(({ isPrimary }) => isPrimary);
    const found = present === undefined ? 'no primary key' : `a primary key on (${present.keys.map(({ text }) => text).join(', ')})`;
    return [{
      message: `'${plainName(table)}' has ${found}, where one on (id) is expected: an event can be stored twice under one id, and marking a row as sent reads the whole table.`,
      help: [`ALTER TABLE ${sqlName(table)} ${dropPresent(present)}ADD PRIMARY KEY (${['id', ...table.partitionKey.filter((name) => name !== 'id')].map(quote).join(', ')})`],
    }];
  },
};
