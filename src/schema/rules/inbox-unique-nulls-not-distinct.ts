import { quote } from '../identifiers.js';
import { nullableKeys } from '../inbox-unique.js';
import { plainName, sqlName, type SchemaRule } from '../rule.js';

export const inboxUniqueNullsNotDistinct: SchemaRule = {
  id: 'inbox-unique-nulls-not-distinct',
  title: 'The inbox relies on NULLS NOT DISTINCT',
  severity: 'warning',
  roles: ['inbox'],
  find(table) {
    const { columns, nullsNotDistinct } = nullableKeys(table);
    if (columns.length === 0 || !nullsNotDistinct) return [];
    const names = columns.map((name) => `'${name}'`).join(' and ');
    return [{
      message: `${names} of '${plainName(table)}' may be NULL; the unique key is NULLS NOT DISTINCT, so all messages without one count as the same.`,
      help: [
        `DELETE FROM ${sqlName(table)} WHERE ${columns.map((name) => `${quote(name)} IS NULL`).join(' OR ')}`,
        `ALTER TABLE ${sqlName(table)} ${columns.map((name) => `ALTER COLUMN ${quote(name)} SET NOT NULL`).join(', ')}`,
      ],
    }];
  },
};
