import type { Span } from '../core/place.js';
import type { CallNode, Node, PublishEffect, StoreEffect, Transaction, TransactionRef, WriteEffect } from './effects.js';

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

export type Order = 'committed' | 'pending' | 'started' | 'after';

/** A write and a publish that one path joins. */
export interface Pair {
  readonly write: Occurrence<WriteEffect>;
  readonly publish: Occurrence<PublishEffect>;
  /** What had become of the write when the event was published; `after`: the write came later. */
  readonly order: Order;
  readonly commit: Commit | null;
}

export interface Walk {
  readonly pairs: readonly Pair[];
  readonly publishes: readonly Occurrence<PublishEffect>[];
  readonly writes: readonly Occurrence<WriteEffect>[];
  readonly stores: readonly Occurrence<StoreEffect>[];
  /** Publishes of a loop over rows that marks each row afterwards: a relay at work. */
  readonly relayed: ReadonlySet<Occurrence<PublishEffect>>;
  readonly hasGuard: boolean;
  /** The tree was larger than what is looked at. */
  readonly isCut: boolean;
}

type Status = { readonly kind: 'started' } | { readonly kind: 'committed'; readonly by: Commit | null } | { readonly kind: 'pending'; readonly transaction: Transaction };

/** What has happened on the paths that lead to a point. */
interface State {
  readonly writes: Map<Occurrence<WriteEffect>, Status>;
  readonly publishes: Set<Occurrence<PublishEffect>>;
  readonly open: Set<Transaction>;
}

interface Context {
  readonly stack: readonly CallNode[];
  readonly ambient: { readonly transaction: Transaction; readonly joins: 'all' | 'handle'; readonly deferred: (readonly Node[])[] } | null;
  readonly isDetached: boolean;
  /** Entities whose rows the loops around go over. */
  readonly rows: readonly string[];
  /** The nodes being run end in a throw: a publish among them tells of a failure. */
  readonly isFailing: boolean;
  /** States at which something may throw, for the nearest try. */
  readonly thrown: State[] | null;
  /** States that leave the function. */
  readonly returned: State[];
}

const LARGEST_WALK = 60_000;
/** Writes and publishes that are remembered along a path: the latest ones. */
const LONGEST_MEMORY = 64;

/** Follows every path of a run, joined where they meet, and pairs each publish with the writes that some path joins it with. */
export function walk(nodes: readonly Node[]): Walk {
  const walker = new Walker();
  const returned: State[] = [];
  walker.run(nodes, { writes: new Map(), publishes: new Set(), open: new Set() }, { stack: [], ambient: null, isDetached: false, isFailing: false, rows: [], thrown: null, returned });
  return walker;
}

class Walker implements Walk {
  readonly pairs: Pair[] = [];
  readonly publishes: Occurrence<PublishEffect>[] = [];
  readonly writes: Occurrence<WriteEffect>[] = [];
  readonly stores: Occurrence<StoreEffect>[] = [];
  readonly relayed = new Set<Occurrence<PublishEffect>>();
  hasGuard = false;
  isCut = false;
  private visited = 0;

  /** State behind the nodes; null when no path gets there. */
  run(nodes: readonly Node[], start: State, outer: Context): State | null {
    const last = nodes.at(-1);
    const context = last?.kind === 'exit' && last.by === 'throw' ? { ...outer, isFailing: true } : outer;
    let state: State | null = start;
    for (const node of nodes) {
      this.visited += 1;
      if (this.visited > LARGEST_WALK) {
        this.isCut = true;
        return state;
      }
      state = this.step(node, state, context);
      if (state === null) return null;
    }
    return state;
  }

  private step(node: Node, state: State, context: Context): State | null {
    switch (node.kind) {
      case 'write': return this.write(node, mayThrow(state, context), context);
      case 'publish': return this.publish(node, node.awaited ? mayThrow(state, context) : state, context);
      case 'store':
        this.stores.push({ effect: node, stack: context.stack, transaction: transactionOf(node.transaction, state, context) });
        return state;
      case 'guard':
        this.hasGuard = true;
        return state;
      case 'unwritten': return { ...state, writes: new Map([...state.writes].filter(([write]) => write.effect !== node.write)) };
      case 'risk': return mayThrow(state, context);
      case 'open': return { ...state, open: new Set(state.open).add(node.transaction) };
      case 'commit': return settle(mayThrow(state, context), node.transaction, { span: node.span, line: node.line, isEnd: false });
      case 'rollback': return settle(state, node.transaction, null);
      case 'scope': return this.scope(node, state, context);
      case 'outside': return this.run(node.body, state, { ...context, ambient: null });
      case 'deferred':
        if (context.ambient === null) return this.run(node.body, state, context);
        context.ambient.deferred.push(node.body);
        return state;
      case 'call': return this.call(node, state, context);
      case 'inline': {
        const returned: State[] = [];
        const end = this.run(node.body, state, { ...context, returned });
        return merge([...returned, ...(end === null ? [] : [end])]);
      }
      case 'choice': return merge(node.arms.flatMap((arm) => this.run(arm, state, context) ?? []));
      case 'loop': {
        const end = this.run(node.body, state, node.rows === null ? context : { ...context, rows: [...context.rows, node.rows] });
        return end === null ? state : merge([state, end]);
      }
      case 'try': return this.tryBlock(node, state, context);
      case 'exit':
        if (node.by === 'return') context.returned.push(state);
        else if (node.by === 'throw') context.thrown?.push(state);
        return node.by === 'jump' ? state : null;
    }
  }

  private write(effect: WriteEffect, state: State, context: Context): State {
    const transaction = transactionOf(effect.transaction, state, context);
    const occurrence = { effect, stack: context.stack, transaction };
    this.writes.push(occurrence);
    // A loop over rows that publishes each and then marks it is a relay at work.
    const isMark = effect.target !== null && context.rows.includes(effect.target);
    for (const publish of state.publishes) {
      if (isMark) this.relayed.add(publish);
      else this.pairs.push({ write: occurrence, publish, order: 'after', commit: null });
    }
    const status: Status = transaction !== null ? { kind: 'pending', transaction } : !effect.awaited || context.isDetached ? { kind: 'started' } : { kind: 'committed', by: null };
    return { ...state, writes: latest(new Map(state.writes).set(occurrence, status)) };
  }

  private publish(effect: PublishEffect, state: State, context: Context): State {
    const occurrence = { effect, stack: context.stack, transaction: context.ambient?.transaction ?? null };
    this.publishes.push(occurrence);
    for (const [write, status] of state.writes) {
      // A callee that reports its own failure says nothing of what its callers wrote before.
      if (context.isFailing && write.stack !== context.stack) continue;
      this.pairs.push({ write, publish: occurrence, order: status.kind, commit: status.kind === 'committed' ? status.by : null });
    }
    return { ...state, publishes: latest(new Set(state.publishes).add(occurrence)) };
  }

  private scope(node: Extract<Node, { kind: 'scope' }>, state: State, context: Context): State | null {
    const deferred: (readonly Node[])[] = [];
    const ambient = node.ambient === 'no' ? context.ambient : { transaction: node.transaction, joins: node.ambient, deferred };
    const isJoined = node.ambient !== 'no' && context.ambient !== null && node.isOwn !== true;
    if (isJoined) return this.run(node.body, state, context); // REQUIRED: the outer transaction goes on
    const thrown: State[] = [];
    const returned: State[] = [];
    const opened = { ...state, open: new Set(state.open).add(node.transaction) };
    const end = this.run(node.body, opened, { ...context, ambient, thrown, returned });
    for (const each of thrown) context.thrown?.push(settle(each, node.transaction, null));
    const done = merge([...returned, ...(end === null ? [] : [end])]);
    if (done === null) return null;
    let after: State | null = settle(done, node.transaction, { span: node.transaction.site.span, line: node.line, isEnd: true });
    for (const body of deferred) after = after === null ? null : this.run(body, after, context);
    return after;
  }

  private call(node: CallNode, state: State, context: Context): State | null {
    const returned: State[] = [];
    const inner: Context = { ...context, stack: [...context.stack, node], isDetached: context.isDetached || node.detached, isFailing: false, returned };
    const end = this.run(node.body, state, inner);
    return merge([...returned, ...(end === null ? [] : [end])]);
  }

  private tryBlock(node: Extract<Node, { kind: 'try' }>, state: State, context: Context): State | null {
    const thrown: State[] = [];
    const end = this.run(node.block, state, { ...context, thrown });
    const caught = node.handler === null ? null : merge(thrown.length === 0 ? [state] : thrown);
    const handled = node.handler === null || caught === null ? null : this.run(node.handler, caught, context);
    if (node.handler === null && context.thrown !== null) context.thrown.push(...thrown);
    const after = merge([...(end === null ? [] : [end]), ...(handled === null ? [] : [handled])]);
    if (node.finalizer.length === 0) return after;
    const atEnd = merge([...(after === null ? [] : [after]), ...context.returned.slice(-1), ...thrown.slice(-1)]) ?? state;
    const finished = this.run(node.finalizer, atEnd, context);
    return after === null ? null : finished;
  }
}

function mayThrow(state: State, context: Context): State {
  const last = context.thrown?.at(-1);
  if (last !== state) context.thrown?.push(state);
  return state;
}

function transactionOf(ref: TransactionRef, state: State, context: Context): Transaction | null {
  if (ref.kind === 'handle') return ref.transaction;
  if (ref.kind === 'runner') return state.open.has(ref.transaction) ? ref.transaction : null;
  if (context.ambient === null) return null;
  return ref.kind === 'ambient' || context.ambient.joins === 'all' ? context.ambient.transaction : null;
}

/** The transaction ends: its writes are committed, or gone. */
function settle(state: State, transaction: Transaction, commit: Commit | null): State {
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

const RANK = { committed: 2, pending: 1, started: 0 } as const;

/** The state where paths meet: whatever happened on some path. Null when none gets there. */
function merge(states: readonly State[]): State | null {
  const [first, ...rest] = states;
  if (first === undefined) return null;
  if (rest.length === 0) return first;
  const writes = new Map(first.writes);
  const publishes = new Set(first.publishes);
  const open = new Set(first.open);
  for (const state of rest) {
    for (const [write, status] of state.writes) {
      const known = writes.get(write);
      if (known === undefined || RANK[status.kind] > RANK[known.kind]) writes.set(write, status);
    }
    for (const publish of state.publishes) publishes.add(publish);
    for (const transaction of state.open) open.add(transaction);
  }
  return { writes: latest(writes), publishes: latest(publishes), open };
}

/** Forgets the oldest entries of a memory that has grown too long. */
function latest<M extends Map<Occurrence<WriteEffect>, Status> | Set<Occurrence<PublishEffect>>>(memory: M): M {
  for (const key of memory.keys()) {
    if (memory.size <= LONGEST_MEMORY) break;
    (memory as Set<unknown>).delete(key);
  }
  return memory;
}
