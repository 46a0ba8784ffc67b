import type { WriteOrder } from '../core/finding.js';
import { hasKind, kindsIn, type CallNode, type DoubtEffect, type Node, type PublishEffect, type StoreEffect, type Transaction, type TransactionRef, type WriteEffect } from './effects.js';
import { latest, merge, notWaitedFor, NOTHING_YET, settle, waitFor, type Commit, type Occurrence, type State } from './path-state.js';

/** A write and a publish that one path joins. */
export interface Pair {
  readonly write: Occurrence<WriteEffect>;
  readonly publish: Occurrence<PublishEffect>;
  /** What had become of the write when the event was published; `after`: the write came later. */
  readonly order: WriteOrder;
  readonly commit: Commit | null;
}

export interface Walk {
  readonly pairs: readonly Pair[];
  readonly publishes: readonly Occurrence<PublishEffect>[];
  readonly writes: readonly Occurrence<WriteEffect>[];
  readonly stores: readonly Occurrence<StoreEffect>[];
  /** Publishes of a loop over rows that marks each row afterwards: a relay at work. */
  readonly relayed: ReadonlySet<Occurrence<PublishEffect>>;
  /** Publishes that some path joins with a call of which it isn't known whether it writes. */
  readonly doubted: ReadonlyMap<Occurrence<PublishEffect>, Occurrence<DoubtEffect>>;
  /** Calls of which it isn't known whether they publish: those joined with a write, or with a call that may be one, and those that are likely. */
  readonly unclear: ReadonlySet<Occurrence<DoubtEffect>>;
  readonly hasGuard: boolean;
  /** The tree was larger than what is looked at. */
  readonly isCut: boolean;
}

interface Context {
  readonly stack: readonly CallNode[];
  readonly ambient: { readonly transaction: Transaction; readonly joins: 'all' | 'handle'; readonly deferred: (readonly Node[])[] } | null;
  /** Entities whose rows the loops around go over. */
  readonly rows: readonly string[];
  /** The nodes being run end in a throw: a publish among them tells of a failure. */
  readonly isFailing: boolean;
  /** States at which something may throw, for the nearest try. */
  readonly thrown: State[] | null;
  /** States that leave the function. */
  readonly returned: State[];
  /** States that leave the loop or switch around, or go on with its next round; null: none is around. */
  readonly breaks: State[] | null;
  readonly continues: State[] | null;
  /** In the second round of a loop: where it is left, and how one leaves it. */
  readonly leaving: { readonly states: State[]; readonly by: Pick<Context, 'returned' | 'thrown' | 'breaks'> } | null;
}

const EXITS = { return: 'returned', throw: 'thrown', break: 'breaks' } as const;

const LARGEST_WALK = 60_000;

/** Follows every path of a run, joined where they meet, and pairs each publish with the writes that some path joins it with. */
export function walk(nodes: readonly Node[]): Walk {
  const walker = new Walker();
  const returned: State[] = [];
  walker.run(nodes, NOTHING_YET, { stack: [], ambient: null, isFailing: false, rows: [], thrown: null, returned, breaks: null, continues: null, leaving: null });
  return walker;
}

class Walker implements Walk {
  pairs: Pair[] = [];
  publishes: Occurrence<PublishEffect>[] = [];
  readonly writes: Occurrence<WriteEffect>[] = [];
  readonly stores: Occurrence<StoreEffect>[] = [];
  readonly relayed = new Set<Occurrence<PublishEffect>>();
  readonly doubted = new Map<Occurrence<PublishEffect>, Occurrence<DoubtEffect>>();
  readonly unclear = new Set<Occurrence<DoubtEffect>>();
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
      case 'doubt': return this.doubt(node, node.awaited ? mayThrow(state, context) : state, context);
      case 'guard':
        this.hasGuard = true;
        return state;
      case 'unwritten': {
        const latestOne = [...state.writes.keys()].findLast((write) => write.effect === node.write);
        return { ...state, writes: new Map([...state.writes].filter(([write]) => write !== latestOne)) };
      }
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
        const end = this.run(node.body, state, { ...context, returned, breaks: null, continues: null, leaving: null });
        return merge([...returned, ...(end === null ? [] : [end])]);
      }
      case 'choice': {
        const breaks: State[] = [];
        const inner = node.isSwitch === true ? { ...context, breaks } : context;
        return merge([...node.arms.flatMap((arm) => this.run(arm, state, inner) ?? []), ...breaks]);
      }
      case 'loop': return this.loop(node, state, context);
      case 'try': return this.tryBlock(node, state, context);
      case 'chain': return this.chain(node, state, context);
      case 'unawaited': {
        const end = this.run(node.body, state, { ...context, thrown: null });
        return end === null ? null : notWaitedFor(end, state, node.until);
      }
      case 'settled': return waitFor(mayThrow(state, context), node.until);
      case 'exit': {
        const left = { return: context.returned, throw: context.thrown, break: context.breaks, continue: context.continues }[node.by];
        left?.push(state);
        if (node.by !== 'continue' && left !== null && left === context.leaving?.by[EXITS[node.by]]) context.leaving.states.push(state);
        return null;
      }
    }
  }

  private loop(node: Extract<Node, { kind: 'loop' }>, state: State, outer: Context): State | null {
    const context = node.rows === null ? outer : { ...outer, rows: [...outer.rows, node.rows] };
    const breaks: State[] = [];
    const continues: State[] = [];
    const end = this.run(node.body, state, { ...context, breaks, continues, leaving: null });
    const round = merge([...(end === null ? [] : [end]), ...continues]);
    const kinds = kindsIn(node.body);
    if (round !== null && outer.leaving === null && hasKind(kinds, 'write') && hasKind(kinds, 'publish')) this.secondRound(node.body, round, context);
    return merge([state, ...(round === null ? [] : [round]), ...breaks]);
  }

  /** What is published as the last thing before a loop is left comes after the writes of the rounds before. */
  private secondRound(body: readonly Node[], start: State, context: Context): void {
    const { pairs, publishes } = this;
    this.pairs = [];
    this.publishes = [];
    const by = { returned: [] as State[], thrown: [] as State[], breaks: [] as State[] };
    const states: State[] = [];
    this.run(body, start, { ...context, ...by, continues: [], leaving: { states, by } });
    const isKnown = (publish: Occurrence<PublishEffect>): boolean => pairs.some((pair) => pair.publish.effect === publish.effect) || [...this.relayed].some((relayed) => relayed.effect === publish.effect);
    const late = this.pairs.filter(({ write, publish, order }) => order !== 'after' && start.writes.has(write) && !start.publishes.has(publish) && !isKnown(publish) && states.some((left) => left.publishes.has(publish)));
    this.pairs = [...pairs, ...late];
    this.publishes = [...publishes, ...new Set(late.map(({ publish }) => publish))];
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
    for (const doubt of state.doubts) if (doubt.effect.may === 'publish') this.unclear.add(doubt);
    const status = transaction !== null ? { kind: 'pending' as const, transaction } : effect.awaited ? { kind: 'committed' as const, by: null } : { kind: 'started' as const, until: null, by: null };
    return { ...state, writes: latest(new Map(state.writes).set(occurrence, status)) };
  }

  private doubt(effect: DoubtEffect, state: State, context: Context): State {
    const occurrence = { effect, stack: context.stack, transaction: null };
    const others = [...state.doubts].filter((other) => other.effect.may !== effect.may);
    if (effect.may === 'write') {
      for (const publish of state.publishes) this.doubted.set(publish, occurrence);
      for (const other of others) this.unclear.add(other);
    } else if (effect.isTold || state.writes.size > 0 || others.length > 0) this.unclear.add(occurrence);
    return { ...state, doubts: latest(new Set(state.doubts).add(occurrence)) };
  }

  private publish(effect: PublishEffect, state: State, context: Context): State {
    const occurrence = { effect, stack: context.stack, transaction: context.ambient?.transaction ?? null };
    this.publishes.push(occurrence);
    for (const [write, status] of state.writes) {
      // A callee that reports its own failure says nothing of what its callers wrote before.
      if (context.isFailing && write.stack !== context.stack) continue;
      this.pairs.push({ write, publish: occurrence, order: status.kind, commit: status.kind === 'committed' ? status.by : null });
    }
    for (const doubt of state.doubts) if (doubt.effect.may === 'write') this.doubted.set(occurrence, doubt);
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
    const inner: Context = { ...context, stack: [...context.stack, node], isFailing: false, returned, breaks: null, continues: null, leaving: null };
    const end = this.run(node.body, state, inner);
    return merge([...returned, ...(end === null ? [] : [end])]);
  }

  /** `first.then(fulfilled, rejected).finally(settled)`: what follows runs when the first is done, whoever waits for the chain. */
  private chain(node: Extract<Node, { kind: 'chain' }>, state: State, context: Context): State | null {
    const thrown: State[] = [];
    const first = this.run(node.first, state, { ...context, thrown });
    const fulfilled = first === null ? null : this.run(node.fulfilled, waitFor(first, null), context);
    const caught = merge(thrown.length === 0 ? [state] : thrown);
    const rejected = node.rejected === null || caught === null ? null : this.run(node.rejected, caught, context);
    if (node.rejected === null) context.thrown?.push(...thrown);
    return merge([...(fulfilled === null ? [] : [fulfilled]), ...(rejected === null ? [] : [rejected])]);
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

