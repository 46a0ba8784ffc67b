import { quote } from '../identifiers.js';
import { nearestUnique, replaceUnique } from '../inbox-unique.js';
import type { LiveTable } from '../live.js';
import { plainName, sqlName, type Fault, type SchemaRule } from '../rule.js';

export const inboxUniqueCollation: SchemaRule = {
  id: 'inbox-unique-collation',
  title: 'The inbox takes different consumers for one',
  severity: 'error',
  roles: ['inbox'],
  find(table) {
    const citext = findCitext(table);
    if (citext.length > 0) return citext;
    const nearest = nearestUnique(table);
    if (nearest?.fault !== 'collation') return [];
    const { index } = nearest;
    const keys = index.keys.filter(({ isDeterministic }) => !isDeterministic);
    const names = keys.map(({ column, collation }) => `${column ?? ''} (collation '${collation ?? ''}')`).join(', ');
    const own = keys.filter(({ hasOtherCollation }) => !hasOtherCollation).flatMap(({ column }) => (column === null ? [] : [column]));
    return [{
      message: `The unique key '${index.name}' compares ${names} by a nondeterministic collation: consumers that differ in case or accent count as one, and the second one's messages are lost.`,
      // The key follows its column; where the key has a collation of its own, the key is made anew.
      help: own.length > 0 ? own.map((column) => toDatabaseCollation(table, column)) : replaceUnique(table, index),
      index: `${index.schema}.${index.name}`,
    }];
  },
};

function findCitext(table: LiveTable): Fault[] {
  return table.columns.filter(({ name, type }) => (name === 'consumer' || name === 'event_id') && /(^|\.)citext$/.test(type)).map(({ name }) => ({
    message: `'${plainName(table)}.${name}' is of type citext: 'Billing' and 'billing' count as one, and the second one's messages are lost.`,
    help: [toDatabaseCollation(table, name)],
  }));
}

/** A database's own collation is always deterministic. */
function toDatabaseCollation(table: LiveTable, column: string): string {
  return `ALTER TABLE ${sqlName(table)} ALTER COLUMN ${quote(column)} TYPE character varying(190) COLLATE "default"`;
}
