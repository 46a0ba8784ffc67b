import { quote } from '../identifiers.js';
import { nullableKeys } from '../inbox-unique.js';
import { plainName, sqlName, type SchemaRule } from '../rule.js';

export const inboxUniqueNullable: SchemaRule = {
  id: 'inbox-unique-nullable',
  title: 'A row of the inbox escapes the unique key',
  severity: 'error',
  roles: ['inbox'],
  find(table) {
    const { columns, nullsNotDistinct } = nullableKeys(table);
    if (columns.length === 0 || nullsNotDistinct) return [];
    const names = columns.map((name) => `'${name}'`).join(' and ');
    return [{
      message: `${names} of '${plainName(table)}' may be NULL, and one NULL is never equal to another: such rows may be there any number of times.`,
      help: [
        `DELETE FROM ${sqlName(table)} WHERE ${columns.map((name) => `${quote(name)} IS NULL`).join(' OR ')}`,
        `ALTER TABLE ${sqlName(table)} ${columns.map((name) => `ALTER COLUMN ${quote(name)} SET NOT NULL`).join(', ')}`,
      ],
    }];
  },
};
