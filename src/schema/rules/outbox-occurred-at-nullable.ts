import { plainName, sqlName, type SchemaRule } from '../rule.js';

export const outboxOccurredAtNullable: SchemaRule = {
  id: 'outbox-occurred-at-nullable',
  title: 'An event can have no time',
  severity: 'error',
  roles: ['outbox'],
  find(table) {
    if (table.columns.find(({ name }) => name === 'occurred_at')?.notNull !== false) return [];
    return [{
      message: `'${plainName(table)}.occurred_at' may be NULL: such an event sorts behind all others and waits as long as there are any.`,
      help: [
        `UPDATE ${sqlName(table)} SET "occurred_at" = clock_timestamp() WHERE "occurred_at" IS NULL`,
        `ALTER TABLE ${sqlName(table)} ALTER COLUMN "occurred_at" SET NOT NULL`,
      ],
    }];
  },
};
