import { plainName, sqlName, type SchemaRule } from '../rule.js';

/** Fewer digits than milliseconds have: events of one handler tie. */
const enough = 3;

export const outboxOccurredAtPrecision: SchemaRule = {
  id: 'outbox-occurred-at-precision',
  title: 'The times of events are too coarse to order them',
  severity: 'warning',
  roles: ['outbox'],
  find(table) {
    const column = table.columns.find(({ name }) => name === 'occurred_at');
    if (column === undefined || column.fractionalDigits === null || column.fractionalDigits >= enough) return [];
    return [{
      message: `'${plainName(table)}.occurred_at' is '${column.type}': events of the same second have the same time, and their order is left to chance.`,
      help: [`ALTER TABLE ${sqlName(table)} ALTER COLUMN "occurred_at" TYPE ${column.type.replace(/\(\d\)/, '(6)')}`],
    }];
  },
};
