import { qualified, quote } from './identifiers.js';
import type { LiveIndex, LiveTable } from './live.js';
import { sqlName } from './rule.js';
import { inboxTable, keyName } from './tables.js';

/** Why a unique key does not decide who is first, nearest first. */
export const uniqueFaults = ['deferrable', 'collation', 'partial', 'unusable', 'keys'] as const;
export type UniqueFault = (typeof uniqueFaults)[number];

export interface JudgedUnique {
  readonly index: LiveIndex;
  /** Null: it decides. */
  readonly fault: UniqueFault | null;
}

/** The unique key that decides, or else the one that comes nearest; null when no index has one of the two columns. */
export function nearestUnique(table: LiveTable): JudgedUnique | null {
  const judged = table.indexes
    .filter(({ keys }) => keys.some(({ column }) => column === 'event_id' || column === 'consumer'))
    .map((index) => ({ index, fault: judge(index) }));
  const rank = ({ fault }: JudgedUnique): number => (fault === null ? -1 : uniqueFaults.indexOf(fault));
  return judged.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

function judge(index: LiveIndex): UniqueFault | null {
  if (!index.isUnique || !hasExactKeys(index)) return 'keys';
  if (!index.isValid || !index.isReady || !index.isLive) return 'unusable';
  if (index.predicate !== null) return 'partial';
  if (index.keys.some(({ isDeterministic }) => !isDeterministic)) return 'collation';
  return index.isDeferrable ? 'deferrable' : null;
}

/** Exactly the two, in either order; INCLUDE columns do not count, a further key does. */
function hasExactKeys({ keys }: LiveIndex): boolean {
  const names = keys.map(({ column }) => column);
  return names.length === 2 && names.includes('event_id') && names.includes('consumer');
}

/** A unique key on only one of the two: a second consumer, or a second event, would be refused. */
export function tooStrict(table: LiveTable): readonly LiveIndex[] {
  return table.indexes.filter(
    ({ isUnique, keys, isLive }) => isUnique && isLive && keys.length === 1 && (keys[0]?.column === 'event_id' || keys[0]?.column === 'consumer'),
  );
}

/** Statements that put a plain unique constraint in the place of `faulty`; copies of a row go first, the older one stays. */
export function replaceUnique(table: LiveTable, faulty: LiveIndex | null): string[] {
  const name = sqlName(table);
  const wanted = faulty?.isPrimary === true ? 'PRIMARY KEY' : 'UNIQUE';
  const add = `ADD CONSTRAINT ${quote(constraintName(table, faulty))} ${wanted} (${inboxTable.primaryKey.columns.map(quote).join(', ')})`;
  const ownedBy = faulty?.constraint ?? null;
  return [
    `DELETE FROM ${name} AS later USING ${name} AS earlier WHERE later.event_id = earlier.event_id AND later.consumer = earlier.consumer AND later.ctid > earlier.ctid`,
    ...(faulty !== null && ownedBy === null ? [`DROP INDEX ${qualified(faulty.schema, faulty.name)}`] : []),
    `ALTER TABLE ${name} ${ownedBy === null ? '' : `DROP CONSTRAINT ${quote(ownedBy)}, `}${add}`,
  ];
}

/** The usual name, when it is free once `faulty` is gone. */
function constraintName(table: LiveTable, faulty: LiveIndex | null): string {
  const taken = new Set(table.takenNames.map(({ name }) => name).filter((name) => name !== faulty?.name));
  const wanted = keyName(inboxTable, table.name);
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}_${count}`;
  return name;
}

/** The two columns, as far as they may be NULL, and whether the unique key lets NULLs count as equal. */
export function nullableKeys(table: LiveTable): { readonly columns: readonly string[]; readonly nullsNotDistinct: boolean } {
  const names = inboxTable.primaryKey.columns;
  return {
    columns: names.filter((name) => table.columns.some((column) => column.name === name && !column.notNull)),
    nullsNotDistinct: nearestUnique(table)?.index.nullsNotDistinct ?? false,
  };
}
