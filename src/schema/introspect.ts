import type { TablesConfig } from '../core/config.js';
import type { DatabaseConnection } from './connection.js';
import { displayName, tableName } from './identifiers.js';
import type { LiveColumn, LiveIndex, LiveKey, LiveTable, MissingTable, TakenName } from './live.js';
import type { TableRole } from './tables.js';

// Catalogs only, so that a user without any right on the tables will do. Names resolve as they do for the relay: by
// to_regclass on the connection's own search_path.

/** Reads a table as the database has it. */
export async function introspect(connection: DatabaseConnection, tables: TablesConfig, role: TableRole): Promise<LiveTable | MissingTable> {
  const [table] = await connection.query<TableRow>(tableSql, [tableName(tables, role)]);
  if (table === undefined) return readMissing(connection, tables, role);
  const [columns, indexes, partitions, names] = [
    await connection.query<LiveColumn>(columnSql, [table.oid]),
    await readIndexes(connection, table.oid),
    await connection.query<{ readonly name: string }>(unloggedPartitionSql, [table.oid]),
    await connection.query<TakenName>(namesSql, [table.schema, `idx_${table.name}`, `uq_${table.name}`]),
  ];
  return {
    role,
    schema: table.schema,
    name: table.name,
    kind: kinds[table.is_partition ? 'partition' : table.kind] ?? 'other',
    persistence: persistences[table.persistence] ?? 'permanent',
    columns,
    indexes,
    partitionKey: table.partition_key,
    unloggedPartitions: partitions.map(({ name }) => name),
    takenNames: names,
  };
}

/** Whether the name resolved. */
export function isLive(table: LiveTable | MissingTable): table is LiveTable {
  return 'columns' in table;
}

interface TableRow {
  readonly oid: string;
  readonly schema: string;
  readonly name: string;
  readonly kind: string;
  readonly persistence: string;
  readonly is_partition: boolean;
  readonly partition_key: readonly string[];
}

const kinds: Readonly<Record<string, LiveTable['kind']>> = {
  r: 'table', p: 'partitioned table', v: 'view', m: 'materialized view', f: 'foreign table', partition: 'partition',
};
const persistences: Readonly<Record<string, LiveTable['persistence']>> = { p: 'permanent', u: 'unlogged', t: 'temporary' };

const tableSql = `
  SELECT c.oid::int8::text AS oid, n.nspname AS schema, c.relname AS name, c.relkind AS kind, c.relpersistence AS persistence,
    c.relispartition AND c.relkind = 'r' AS is_partition,
    ARRAY(SELECT a.attname::text FROM pg_partitioned_table p, unnest(p.partattrs::int2[]) WITH ORDINALITY AS k(attnum, position)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum WHERE p.partrelid = c.oid ORDER BY k.position) AS partition_key
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = to_regclass(?)`;

// A timestamp without a precision has six digits. A domain may add NOT NULL.
const columnSql = `
  SELECT a.attname AS name, CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END AS type,
    a.attnotnull OR t.typnotnull AS "notNull",
    CASE WHEN COALESCE(base.typname, t.typname) IN ('timestamp', 'timestamptz')
      THEN COALESCE(NULLIF(CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END, -1), 6) END AS "fractionalDigits"
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type base ON base.oid = t.typbasetype AND t.typtype = 'd'
  WHERE a.attrelid = ?::int8::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`;

const unloggedPartitionSql = `
  WITH RECURSIVE parts AS (
    SELECT inhrelid FROM pg_inherits WHERE inhparent = ?::int8::oid
    UNION ALL SELECT i.inhrelid FROM pg_inherits i JOIN parts ON i.inhparent = parts.inhrelid)
  SELECT format('%I.%I', n.nspname, c.relname) AS name FROM parts JOIN pg_class c ON c.oid = parts.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relpersistence <> 'p' AND c.relkind = 'r' ORDER BY 1`;

/** Names that a mending statement may want. */
const namesSql = `
  SELECT c.relname AS name, i.indrelid::regclass::text AS "table"
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid
  WHERE n.nspname = ? AND (starts_with(c.relname, ?) OR starts_with(c.relname, ?))`;

interface IndexRow extends Omit<LiveIndex, 'keys' | 'included'> {
  readonly columns: readonly (KeyRow & { readonly isKey: boolean })[];
}

interface KeyRow {
  readonly column: string | null;
  readonly text: string;
  readonly option: number;
  readonly columnCollation: number;
  readonly keyCollation: number;
  readonly collation: string | null;
  readonly isDeterministic: boolean | null;
}

async function readIndexes(connection: DatabaseConnection, oid: string): Promise<LiveIndex[]> {
  const [server] = await connection.query<{ readonly version: number }>("SELECT current_setting('server_version_num')::int AS version");
  const rows = await connection.query<IndexRow>(indexSql((server?.version ?? 0) >= 150000), [oid]);
  return rows.map(({ columns, ...index }) => ({
    ...index,
    keys: columns.filter(({ isKey }) => isKey).map(toKey),
    included: columns.flatMap(({ isKey, column }) => (isKey || column === null ? [] : [column])),
  }));
}

function toKey(row: KeyRow): LiveKey {
  return {
    column: row.column,
    text: row.text,
    isDescending: (row.option & 1) !== 0,
    nullsFirst: (row.option & 2) !== 0,
    hasOtherCollation: row.column !== null && row.keyCollation !== row.columnCollation,
    collation: row.collation,
    isDeterministic: row.isDeterministic ?? true,
  };
}

function indexSql(hasNullsNotDistinct: boolean): string {
  return `
  SELECT c.relname AS name, n.nspname AS schema, am.amname AS method, i.indisunique AS "isUnique", i.indisprimary AS "isPrimary",
    i.indisvalid AS "isValid", i.indisready AS "isReady", i.indislive AS "isLive", NOT i.indimmediate AS "isDeferrable",
    ${hasNullsNotDistinct ? 'i.indnullsnotdistinct' : 'false'} AS "nullsNotDistinct",
    (SELECT conname FROM pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u', 'x') LIMIT 1) AS "constraint",
    pg_get_expr(i.indpred, i.indrelid) AS predicate,
    (SELECT json_agg(json_build_object('column', a.attname, 'text', pg_get_indexdef(i.indexrelid, k, true), 'isKey', k <= i.indnkeyatts,
        'option', CASE WHEN k <= i.indnkeyatts THEN i.indoption[k - 1] ELSE 0 END,
        'columnCollation', a.attcollation::int8, 'keyCollation', CASE WHEN k <= i.indnkeyatts THEN i.indcollation[k - 1]::int8 END,
        'collation', l.collname, 'isDeterministic', l.collisdeterministic) ORDER BY k)
      FROM generate_series(1, i.indnatts) AS k
      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k - 1] AND a.attnum > 0
      LEFT JOIN pg_collation l ON k <= i.indnkeyatts AND l.oid = i.indcollation[k - 1]) AS columns
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am am ON am.oid = c.relam
  WHERE i.indrelid = ?::int8::oid ORDER BY c.relname`;
}

async function readMissing(connection: DatabaseConnection, tables: TablesConfig, role: TableRole): Promise<MissingTable> {
  const elsewhere = await connection.query<{ readonly schema: string }>(
    "SELECT n.nspname AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = ? AND c.relkind IN ('r', 'p') ORDER BY 1",
    [tables[role]],
  );
  const [path] = await connection.query<{ readonly path: string }>("SELECT current_setting('search_path') AS path");
  return { role, wanted: displayName(tables, role), elsewhere: elsewhere.map(({ schema }) => schema), searchPath: path?.path ?? '' };
}
