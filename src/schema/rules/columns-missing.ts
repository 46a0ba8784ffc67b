import { quote } from '../identifiers.js';
import type { LiveTable } from '../live.js';
import { plainName, sqlName, type SchemaRule } from '../rule.js';
import { tableSpecs, type ColumnSpec } from '../tables.js';

/** Columns that no generated code needs. */
const optional: readonly string[] = ['inbox.message_type'];

export const columnsMissing: SchemaRule = {
  id: 'columns-missing',
  title: 'The table lacks a column',
  severity: 'error',
  roles: ['outbox', 'inbox'],
  find(table) {
    const missing = missingColumns(table);
    if (missing.length === 0) return [];
    const names = missing.map(({ name }) => `'${name}'`).join(', ');
    return [{
      message: `'${plainName(table)}' has no column ${names}: every statement on it fails. A column that was renamed or dropped took its indexes and constraints along.`,
      help: missing.map((column) => `ALTER TABLE ${sqlName(table)} ADD COLUMN ${definition(column)}`),
    }];
  },
};

function missingColumns(table: LiveTable): readonly ColumnSpec[] {
  const present = new Set(table.columns.map(({ name }) => name));
  return tableSpecs[table.role].columns.filter(({ name }) => !present.has(name) && !optional.includes(`${table.role}.${name}`));
}

function definition(column: ColumnSpec): string {
  const fallback = column.default === null ? '' : ` DEFAULT ${column.default.postgresql}`;
  return `${quote(column.name)} ${column.type.postgresql}${column.nullable ? '' : ' NOT NULL'}${fallback}`;
}
