import type { Span } from '../core/place.js';
import type { CallNode, DoubtEffect, PublishEffect, Transaction, WriteEffect } from './effects.js';

/** An effect as one run of an entry meets it: with the calls that led there. */
export interface Occurrence<E> {
  readonly effect: E;
  /** Calls from the entry down, outermost first. */
  readonly stack: readonly CallNode[];
  /** The transaction it ran in; null: none. */
  readonly transaction: Transaction | null;
}

/** What committed a write: a call, or the end of the callback that a call was given. Null: autocommit. */
export interface Commit {
  readonly span: Span;
  readonly line: number;
  readonly isEnd: boolean;
}

type Status =
  /** Nobody has waited for it yet; what `until` names may. `by`: what commits it when it is done. */
  | { readonly kind: 'started'; readonly until: string | null; readonly by: Commit | null }
  | { readonly kind: 'committed'; readonly by: Commit | null }
  | { readonly kind: 'pending'; readonly transaction: Transaction };

/** What has happened on the paths that lead to a point. */
export interface State {
  readonly writes: Map<Occurrence<WriteEffect>, Status>;
  readonly publishes: Set<Occurrence<PublishEffect>>;
  readonly doubts: Set<Occurrence<DoubtEffect>>;
  readonly open: Set<Transaction>;
}

export const NOTHING_YET: State = { writes: new Map(), publishes: new Set(), doubts: new Set(), open: new Set() };

/** Writes and publishes that are remembered along a path: the latest ones. */
const LONGEST_MEMORY = 64;

/** The transaction ends: its writes are committed, or gone. */
export function settle(state: State, transaction: Transaction, commit: Commit | null): State {
  const writes = new Map<Occurrence<WriteEffect>, Status>();
  for (const [write, status] of state.writes) {
    const isOfIt = status.kind === 'pending' && status.transaction === transaction;
    if (!isOfIt) writes.set(write, status);
    else if (commit !== null) writes.set(write, { kind: 'committed', by: commit });
  }
  const open = new Set(state.open);
  open.delete(transaction);
  return { ...state, writes, open };
}

/** Somebody waited for what was started: all of it, or what `until` names. */
export function waitFor(state: State, until: string | null): State {
  const isMeant = (status: Status): boolean => status.kind === 'started' && (until === null || status.until === until);
  if (![...state.writes.values()].some(isMeant)) return state;
  const writes = new Map([...state.writes].map(([write, status]) => [write, status.kind === 'started' && isMeant(status) ? { kind: 'committed' as const, by: status.by } : status]));
  return { ...state, writes };
}

/** What was done since `before` was only started: the code goes on before it is done. */
export function notWaitedFor(state: State, before: State, until: string | null): State {
  const writes = new Map([...state.writes].map(([write, status]): [Occurrence<WriteEffect>, Status] => {
    const isNew = status.kind === 'committed' && before.writes.get(write)?.kind !== 'committed';
    return [write, isNew ? { kind: 'started', until, by: status.by } : status];
  }));
  return { ...state, writes };
}

const RANK = { committed: 2, pending: 1, started: 0 } as const;

/** The state where paths meet: whatever happened on some path. Null when none gets there. */
export function merge(states: readonly State[]): State | null {
  const [first, ...rest] = states;
  if (first === undefined) return null;
  if (rest.length === 0) return first;
  const writes = new Map(first.writes);
  const publishes = new Set(first.publishes);
  const doubts = new Set(first.doubts);
  const open = new Set(first.open);
  for (const state of rest) {
    for (const [write, status] of state.writes) {
      const known = writes.get(write);
      if (known === undefined || RANK[status.kind] > RANK[known.kind]) writes.set(write, status);
    }
    for (const publish of state.publishes) publishes.add(publish);
    for (const doubt of state.doubts) doubts.add(doubt);
    for (const transaction of state.open) open.add(transaction);
  }
  return { writes: latest(writes), publishes: latest(publishes), doubts: latest(doubts), open };
}

/** Forgets the oldest entries of a memory that has grown too long. */
export function latest<M extends Map<unknown, unknown> | Set<unknown>>(memory: M): M {
  for (const key of memory.keys()) {
    if (memory.size <= LONGEST_MEMORY) break;
    memory.delete(key);
  }
  return memory;
}
