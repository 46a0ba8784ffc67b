import { quote, qualified } from './identifiers.js';
import type { LiveIndex, LiveKey, LiveTable } from './live.js';
import { sqlName } from './rule.js';
import { indexName, outboxTable } from './tables.js';

/** Why an index does not serve the relay's query, best first: an index with a later fault is further from serving. */
export const indexFaults = ['unusable', 'order', 'collation', 'predicate', 'keys'] as const;
export type IndexFault = (typeof indexFaults)[number];

export interface JudgedIndex {
  readonly index: LiveIndex;
  /** Null: it serves. */
  readonly fault: IndexFault | null;
}

/** The index that serves the relay, or else the one that comes nearest; null when there is none with a key that matters. */
export function nearestIndex(table: LiveTable): JudgedIndex | null {
  const judged = table.indexes.filter((index) => isRelated(index, table.name)).map((index) => ({ index, fault: judge(index) }));
  const rank = ({ fault }: JudgedIndex): number => (fault === null ? -1 : indexFaults.indexOf(fault));
  return judged.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** An index that was made for the relay: one of the two columns is a key or at least included, or the name says so. */
function isRelated(index: LiveIndex, table: string): boolean {
  const names = [...index.keys.map(({ column }) => column), ...index.included];
  return names.includes('status') || names.includes('occurred_at') || index.name === indexName(outboxTable, table);
}

function judge(index: LiveIndex): IndexFault | null {
  const serving = servingKeys(index);
  if (serving === null) return 'keys';
  if (index.predicate !== null && !isImplied(index.predicate)) return 'predicate';
  if (serving.some(({ hasOtherCollation }) => hasOtherCollation)) return 'collation';
  if (!isSorted(serving)) return 'order';
  return isUsable(index) ? null : 'unusable';
}

/** The keys that the relay's query uses: status and occurred_at, or just occurred_at where the index has pending rows only. */
function servingKeys({ keys, predicate }: LiveIndex): readonly LiveKey[] | null {
  const [first, second] = keys;
  if (first?.column === 'status' && second?.column === 'occurred_at') return [first, second];
  if (first?.column === 'occurred_at' && predicate !== null && isPendingOnly(predicate)) return [first];
  return null;
}

/** Forwards it must be the order of ORDER BY occurred_at, NULLS LAST; backwards the reverse. The order of status does not matter: it is one value. */
function isSorted(keys: readonly LiveKey[]): boolean {
  const time = keys.at(-1);
  return time !== undefined && time.isDescending === time.nullsFirst;
}

export function isUsable(index: LiveIndex): boolean {
  return index.isValid && index.isReady && index.isLive && index.method === 'btree';
}

/** `status = 'pending'`, as pg_get_expr writes it for text, varchar, char and an enum. */
export function isPendingOnly(predicate: string): boolean {
  return equality.test(strip(predicate));
}

const column = String.raw`\(?status\)?(?:::[\w ".]+(?:\(\d+\))?)?`;
const pending = String.raw`'pending\s*'(?:::[\w ".]+(?:\(\d+\))?)?`;
const equality = new RegExp(`^${column} = ${pending}$`);
const list = new RegExp(String.raw`^${column} = ANY \(\(?ARRAY\[(?:[^\]]*, )?\(?${pending}`);
const different = new RegExp(String.raw`^${column} <> '(?!pending\s*')[^']*'(?:::[\w ".]+)?$`);

/** Whether PostgreSQL derives the predicate from `status = 'pending'`. */
function isImplied(predicate: string): boolean {
  const text = strip(predicate);
  return equality.test(text) || list.test(text) || different.test(text) || /^status IS NOT NULL$/.test(text);
}

function strip(predicate: string): string {
  return predicate.replace(/^\((.*)\)$/s, '$1');
}

/** Statements that put an index of the usual name and keys in the place of `faulty`. */
export function replaceIndex(table: LiveTable, faulty: LiveIndex | null): string[] {
  const columns = outboxTable.index?.columns ?? [];
  const name = indexName(outboxTable, table.name) ?? '';
  const holder = table.takenNames.find((taken) => taken.name === name);
  const own = table.indexes.find((index) => index.name === name);
  // CONCURRENTLY is not to be had for a partitioned table.
  const concurrently = table.kind === 'partitioned table' ? '' : ' CONCURRENTLY';
  const drop = own !== undefined ? own : faulty !== null && !isUsable(faulty) && faulty.constraint === null ? faulty : null;
  return [
    ...(drop === null ? [] : [`DROP INDEX${concurrently} ${qualified(drop.schema, drop.name)}`]),
    ...(own === undefined && holder !== undefined ? [`ALTER INDEX ${qualified(table.schema, name)} RENAME TO ${quote(freeName(table, `${name}_old`))}`] : []),
    `CREATE INDEX${concurrently} ${quote(name)} ON ${sqlName(table)} (${columns.map(quote).join(', ')})`,
  ];
}

function freeName(table: LiveTable, wanted: string): string {
  const taken = new Set(table.takenNames.map(({ name }) => name));
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}_${count}`;
  return name;
}

/** An index as people write it: `idx_outbox_status_time (occurred_at, status)`. */
export function describeIndex(index: LiveIndex): string {
  const keys = index.keys.map(({ text, isDescending, nullsFirst }) => {
    const nulls = nullsFirst === isDescending ? '' : nullsFirst ? ' NULLS FIRST' : ' NULLS LAST';
    return `${text}${isDescending ? ' DESC' : ''}${nulls}`;
  });
  const include = index.included.length === 0 ? '' : ` INCLUDE (${index.included.join(', ')})`;
  return `'${index.name}' (${keys.join(', ')})${include}${index.predicate === null ? '' : ` WHERE ${index.predicate}`}`;
}
