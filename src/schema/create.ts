import { qualified, quote } from './identifiers.js';
import { indexName, keyName, type TableSpec } from './tables.js';

/** Kept by vacuum in time: a queue's rows die young, and the default waits for a fifth of a large table. */
const storageParameters: Readonly<Record<TableSpec['role'], string>> = {
  outbox: 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0',
  inbox: 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000',
};

export interface CreateOptions {
  /** Null: where the connection's search_path says. */
  readonly schema: string | null;
  readonly name: string;
  /** The index without `available_at`. */
  readonly twoColumns?: boolean;
}

/** Statements that create a table with its keys and index, in order; each may have several lines. */
export function createStatements(spec: TableSpec, options: CreateOptions): string[] {
  const table = qualified(options.schema, options.name);
  const columns = spec.columns.map((column) => {
    const fallback = column.default === null ? '' : ` DEFAULT ${column.default.postgresql}`;
    return `${quote(column.name)} ${column.type.postgresql}${column.nullable ? '' : ' NOT NULL'}${fallback}`;
  });
  const key = `CONSTRAINT ${quote(keyName(spec, options.name))} PRIMARY KEY (${spec.primaryKey.columns.map(quote).join(', ')})`;
  const index = indexName(spec, options.name);
  const lines = [...columns, key].map((line) => `  ${line}`).join(',\n');
  return [
    `CREATE TABLE ${table} (\n${lines}\n) WITH (${storageParameters[spec.role]})`,
    ...(index === null ? [] : [`CREATE INDEX ${quote(index)} ON ${table} (${indexColumns(spec, options).map(quote).join(', ')})`]),
  ];
}

export function indexColumns(spec: TableSpec, { twoColumns = false }: Pick<CreateOptions, 'twoColumns'>): readonly string[] {
  if (spec.index === null) return [];
  return twoColumns ? spec.index.shortColumns : spec.index.columns;
}

/** Statement that takes the table away again, with all that belongs to it. */
export function dropStatement({ schema, name }: CreateOptions): string {
  return `DROP TABLE ${qualified(schema, name)}`;
}
