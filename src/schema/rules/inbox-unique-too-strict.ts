import { qualified, quote } from '../identifiers.js';
import { nearestUnique, tooStrict } from '../inbox-unique.js';
import { sqlName, type SchemaRule } from '../rule.js';

export const inboxUniqueTooStrict: SchemaRule = {
  id: 'inbox-unique-too-strict',
  title: 'A second unique key refuses what the inbox must take',
  severity: 'error',
  roles: ['inbox'],
  find(table) {
    // Where it stands in the place of the right one, that is what is reported.
    if (nearestUnique(table)?.fault === 'keys') return [];
    return tooStrict(table).map((index) => ({
      message: `Unique key '${index.name}' on (${index.keys.map(({ text }) => text).join(', ')}) alone refuses the second ${index.keys[0]?.column === 'event_id' ? 'consumer of an event' : 'event of a consumer'}: the message fails for ever.`,
      help: [index.constraint === null ? `DROP INDEX ${qualified(index.schema, index.name)}` : `ALTER TABLE ${sqlName(table)} DROP CONSTRAINT ${quote(index.constraint)}`],
      index: `${index.schema}.${index.name}`,
    }));
  },
};
