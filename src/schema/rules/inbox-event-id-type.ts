import { plainName, sqlName, type SchemaRule } from '../rule.js';

export const inboxEventIdType: SchemaRule = {
  id: 'inbox-event-id-type',
  title: 'The inbox keeps event ids as something other than uuid',
  severity: 'error',
  roles: ['inbox'],
  find(table) {
    const type = table.columns.find(({ name }) => name === 'event_id')?.type;
    // citext is a fault of comparison and has a rule of its own.
    if (type === undefined || type === 'uuid') return [];
    return [{
      message: `'${plainName(table)}.event_id' is '${type}', not uuid: 'ABC…' and 'abc…', with dashes and without, are one id and count as different messages.`,
      help: [`ALTER TABLE ${sqlName(table)} ALTER COLUMN "event_id" TYPE uuid USING "event_id"::uuid`],
    }];
  },
};
