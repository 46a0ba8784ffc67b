import { createStatements } from '../create.js';
import { quote } from '../identifiers.js';
import { nearestUnique, replaceUnique } from '../inbox-unique.js';
import type { LiveIndex, LiveTable } from '../live.js';
import { describeIndex } from '../outbox-index.js';
import { plainName, sqlName, type SchemaRule } from '../rule.js';
import { inboxTable, keyName } from '../tables.js';

export const inboxUnique: SchemaRule = {
  id: 'inbox-unique',
  title: 'The inbox does not keep a message from being processed twice',
  severity: 'error',
  roles: ['inbox'],
  find(table) {
    const nearest = nearestUnique(table);
    if (nearest !== null && nearest.fault !== 'keys') return [];
    const found = nearest === null ? 'none on either' : `${nearest.index.isUnique ? 'the unique key' : 'the index that is not unique'} ${describeIndex(nearest.index)}`;
    return [{
      message: `'${plainName(table)}' needs a unique key on exactly event_id and consumer, and has ${found}: ${effect(nearest?.index)}.`,
      help: canHaveUnique(table) ? replaceUnique(table, faultyOf(nearest?.index)) : startOver(table),
    }];
  },
};

function effect(index: LiveIndex | undefined): string {
  const isShort = index?.isUnique === true && index.keys.length === 1;
  return isShort && index.keys[0]?.column === 'event_id' ? 'the event of a second consumer is taken for a duplicate and lost' : 'two deliveries of one event are both processed';
}

/** What has to go: an index that is unique by too little or too much, or that has the two keys and is not unique. */
function faultyOf(index: LiveIndex | undefined): LiveIndex | null {
  return index !== undefined && (index.isUnique || index.keys.length === 2) ? index : null;
}

/** PostgreSQL wants the whole partition key in every unique key. */
function canHaveUnique({ partitionKey }: LiveTable): boolean {
  return partitionKey.every((name) => inboxTable.primaryKey.columns.includes(name));
}

function startOver(table: LiveTable): string[] {
  const columns = inboxTable.columns.filter(({ name }) => table.columns.some((column) => column.name === name)).map(({ name }) => quote(name)).join(', ');
  const old = `${table.name}_old`;
  const primary = table.indexes.find(({ name }) => name === keyName(inboxTable, table.name));
  return [
    `ALTER TABLE ${sqlName(table)} RENAME TO ${quote(old)}`,
    ...(primary === undefined ? [] : [`ALTER INDEX ${sqlName({ ...table, name: primary.name })} RENAME TO ${quote(`${primary.name}_old`)}`]),
    ...createStatements(inboxTable, { schema: table.schema, name: table.name }),
    `INSERT INTO ${sqlName(table)} (${columns}) SELECT ${columns} FROM ${sqlName({ ...table, name: old })} ON CONFLICT DO NOTHING`,
  ];
}
