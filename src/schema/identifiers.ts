import type { TablesConfig } from '../core/config.js';
import { ConfigError } from '../core/errors.js';
import type { TableRole } from './tables.js';

/** Longest name that PostgreSQL keeps whole (NAMEDATALEN - 1); it cuts longer ones silently. */
const maximumLength = 63;

/** Refuses a configured name that is not a plain identifier. `what` says what it names. */
export function assertIdentifier(name: string, what: string): void {
  if (name.length <= maximumLength && /^[A-Za-z_][A-Za-z0-9_$]*$/.test(name)) return;
  throw new ConfigError(`'${name}' can't be the name of ${what}: letters, digits, '_' and '$' are allowed, at most ${maximumLength}.`, {
    code: 'bad-table-name',
    hint: "Change 'tables' in outboxify.json.",
  });
}

/** Quotes any name for PostgreSQL, also one that was read from the database. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text literal for PostgreSQL. */
export function literal(text: string): string {
  return text.includes('\\') ? `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'` : `'${text.replaceAll("'", "''")}'`;
}

/** `"schema"."name"`, or just the name where no schema is given. */
export function qualified(schema: string | null, name: string): string {
  return schema === null ? quote(name) : `${quote(schema)}.${quote(name)}`;
}

/** The configured name of a table, validated and quoted: what SQL of ours may contain. */
export function tableName(tables: TablesConfig, role: TableRole): string {
  assertIdentifier(tables[role], `the ${role} table`);
  if (tables.schema !== null) assertIdentifier(tables.schema, 'the schema');
  return qualified(tables.schema, tables[role]);
}

/** The same for people: without quotes. */
export function displayName(tables: TablesConfig, role: TableRole): string {
  return tables.schema === null ? tables[role] : `${tables.schema}.${tables[role]}`;
}
