import type { TablesConfig } from '../core/config.js';

/** Which of the two tables. */
export type TableRole = 'outbox' | 'inbox';

/** Text that differs per database. Another database is another field. */
export interface PerDatabase {
  readonly postgresql: string;
}

export interface ColumnSpec {
  readonly name: string;
  readonly type: PerDatabase;
  readonly nullable: boolean;
  /** SQL expression; null: the column has no default. */
  readonly default: PerDatabase | null;
  /** Property of the entity. */
  readonly property: string;
}

export interface TableSpec {
  readonly role: TableRole;
  readonly columns: readonly ColumnSpec[];
  readonly primaryKey: { readonly name: string; readonly columns: readonly string[] };
  readonly index: { readonly name: string; readonly columns: readonly string[]; readonly shortColumns: readonly string[] } | null;
}

const databaseTime: PerDatabase = { postgresql: 'clock_timestamp()' };
const time: PerDatabase = { postgresql: 'timestamp with time zone' };

/** `id` is the eventId. Times are the database's: now() is the start of the transaction and ties. */
export const outboxTable: TableSpec = {
  role: 'outbox',
  columns: [
    { name: 'id', property: 'id', type: { postgresql: 'uuid' }, nullable: false, default: null },
    { name: 'aggregate_type', property: 'aggregateType', type: { postgresql: 'character varying(255)' }, nullable: false, default: null },
    { name: 'aggregate_id', property: 'aggregateId', type: { postgresql: 'character varying(255)' }, nullable: false, default: null },
    { name: 'message_type', property: 'messageType', type: { postgresql: 'character varying(255)' }, nullable: false, default: null },
    { name: 'payload', property: 'payload', type: { postgresql: 'jsonb' }, nullable: false, default: null },
    { name: 'occurred_at', property: 'occurredAt', type: time, nullable: false, default: databaseTime },
    { name: 'available_at', property: 'availableAt', type: time, nullable: false, default: databaseTime },
    { name: 'status', property: 'status', type: { postgresql: 'character varying(16)' }, nullable: false, default: { postgresql: "'pending'" } },
    { name: 'attempts', property: 'attempts', type: { postgresql: 'integer' }, nullable: false, default: { postgresql: '0' } },
    { name: 'last_error', property: 'lastError', type: { postgresql: 'text' }, nullable: true, default: null },
    { name: 'sent_at', property: 'sentAt', type: time, nullable: true, default: null },
  ],
  primaryKey: { name: 'pk_outbox', columns: ['id'] },
  // available_at behind the two: a broker outage leaves delayed rows at the head of the queue, and the index passes over them.
  index: { name: 'idx_outbox_status_time', columns: ['status', 'occurred_at', 'available_at'], shortColumns: ['status', 'occurred_at'] },
};

/**
 * UNIQUE (event_id, consumer) is the primary key: TypeORM's entities need one and their diff drops a second unique key on
 * the same columns; and a table without a primary key can't be updated where logical replication publishes it.
 */
export const inboxTable: TableSpec = {
  role: 'inbox',
  columns: [
    { name: 'event_id', property: 'eventId', type: { postgresql: 'uuid' }, nullable: false, default: null },
    { name: 'consumer', property: 'consumer', type: { postgresql: 'character varying(190)' }, nullable: false, default: null },
    { name: 'message_type', property: 'messageType', type: { postgresql: 'character varying(255)' }, nullable: true, default: null },
    { name: 'processed_at', property: 'processedAt', type: time, nullable: false, default: databaseTime },
    { name: 'duplicates', property: 'duplicates', type: { postgresql: 'integer' }, nullable: false, default: { postgresql: '0' } },
    { name: 'last_duplicate_at', property: 'lastDuplicateAt', type: time, nullable: true, default: null },
  ],
  primaryKey: { name: 'uq_inbox_event_consumer', columns: ['event_id', 'consumer'] },
  index: null,
};

export const tableSpecs: Readonly<Record<TableRole, TableSpec>> = { outbox: outboxTable, inbox: inboxTable };

/** Names that are used when nothing else is configured. */
export const defaultTables: TablesConfig = { outbox: 'outbox', inbox: 'inbox', schema: null };

const maximumName = 63;

/** Name of the primary key of a table of this name. */
export function keyName(spec: TableSpec, table: string): string {
  return spec.primaryKey.name.replace(spec.role, () => table).slice(0, maximumName);
}

/** Name of the index of a table of this name; null: it has none. */
export function indexName(spec: TableSpec, table: string): string | null {
  return spec.index === null ? null : spec.index.name.replace(spec.role, () => table).slice(0, maximumName);
}
