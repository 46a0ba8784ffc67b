import type { FunctionRef, MessageExpression, PublishRoute, Receiver, TransactionSite, Transport } from '../core/finding.js';
import type { Span } from '../core/place.js';

/** A transaction that a run opens. Equal ids mean the same transaction. */
export interface Transaction {
  readonly id: number;
  readonly site: TransactionSite;
  /** The transaction that this one is a savepoint of. */
  readonly parent: Transaction | null;
}

/** How a write or a store finds its transaction. */
export type TransactionRef =
  | { readonly kind: 'none' }
  /** The callback transaction whose handle it was called on. */
  | { readonly kind: 'handle'; readonly transaction: Transaction }
  /** Whatever this query runner has open at that moment. */
  | { readonly kind: 'runner'; readonly transaction: Transaction }
  /** The ambient transaction, through the library's own handle. */
  | { readonly kind: 'ambient' };

interface At {
  readonly span: Span;
  readonly line: number;
  readonly awaited: boolean;
}

export interface WriteEffect extends At {
  readonly kind: 'write';
  readonly orm: string;
  readonly operation: string;
  readonly target: string | null;
  readonly receiver: Receiver | null;
  readonly transaction: TransactionRef;
  /** Through a manager or repository that some caller gives, of whom nothing is known. */
  readonly isHandedIn: boolean;
}

export interface PublishEffect extends At {
  readonly kind: 'publish';
  readonly bus: string;
  readonly transport: Transport;
  readonly destination: string | null;
  readonly route: PublishRoute;
  /** The expression that becomes the message, in the function that publishes. */
  readonly message: MessageExpression | null;
  /** The parameter of that function that the message is made from. */
  readonly messageParameter: number | null;
  /** Identity of the integration event that is the message. */
  readonly event: string | null;
  readonly isRequest: boolean;
  /** A request whose reply nobody looks at. */
  readonly isCommand: boolean;
}

export interface StoreEffect extends At {
  readonly kind: 'store';
  readonly event: string | null;
  readonly type: string | null;
  readonly transaction: TransactionRef;
}

/** A call whose callee is not known and that, by its name, may write or publish. */
export interface DoubtEffect extends At {
  readonly kind: 'doubt';
  readonly may: 'write' | 'publish';
  /** Told even where no write is near: a known name of a publish, called on something unknown. */
  readonly isTold: boolean;
  /** The call, in short. */
  readonly text: string;
}

export type Effect = WriteEffect | PublishEffect | StoreEffect | DoubtEffect | (At & { readonly kind: 'guard' });

/** What a run of a function does, in order, with the callees inlined. Shared between runs: never changed. */
export type Node =
  | Effect
  | { readonly kind: 'open' | 'commit' | 'rollback'; readonly transaction: Transaction; readonly span: Span; readonly line: number }
  /** An ambient one joins one that is there, unless it is its own. */
  | { readonly kind: 'scope'; readonly transaction: Transaction; readonly ambient: 'no' | 'all' | 'handle'; readonly body: readonly Node[]; readonly line: number; readonly isOwn?: boolean }
  /** Runs in no ambient transaction. */
  | { readonly kind: 'outside'; readonly body: readonly Node[] }
  /** Runs after the commit of the ambient transaction. */
  | { readonly kind: 'deferred'; readonly body: readonly Node[] }
  | CallNode
  | { readonly kind: 'choice'; readonly arms: readonly (readonly Node[])[]; readonly isSwitch?: boolean }
  /** `rows`: the entity or table whose rows it goes over. */
  | { readonly kind: 'loop'; readonly body: readonly Node[]; readonly rows: string | null }
  /** A closure that a library runs in place: a return in it ends just it. */
  | { readonly kind: 'inline'; readonly body: readonly Node[] }
  | { readonly kind: 'try'; readonly block: readonly Node[]; readonly handler: readonly Node[] | null; readonly finalizer: readonly Node[] }
  /** A chain of promises. Null: a failure of the first goes on to the caller. */
  | { readonly kind: 'chain'; readonly first: readonly Node[]; readonly fulfilled: readonly Node[]; readonly rejected: readonly Node[] | null }
  /** The code goes on before this is done; `until` names what may be waited for later. */
  | { readonly kind: 'unawaited'; readonly body: readonly Node[]; readonly until: string | null }
  | { readonly kind: 'settled'; readonly until: string }
  | { readonly kind: 'exit'; readonly by: 'return' | 'throw' | 'break' | 'continue' }
  /** On this path the write turned out to have changed no row. */
  | { readonly kind: 'unwritten'; readonly write: WriteEffect }
  /** Some call that may throw. */
  | { readonly kind: 'risk' };

export interface CallNode {
  readonly kind: 'call';
  readonly span: Span;
  readonly line: number;
  /** Function that contains the call. */
  readonly caller: FunctionRef;
  readonly callee: FunctionRef;
  /** The function whose code the callee is part of, when it is a closure. */
  readonly home: FunctionRef;
  /** The caller goes on before the callee is done. */
  readonly detached: boolean;
  readonly body: readonly Node[];
  /** What was passed, and which parameter of the caller it is made from. */
  readonly args: readonly { readonly span: Span; readonly parameter: number | null }[];
  /** One of several implementations. */
  readonly isGuess: boolean;
}

/** Kinds of effect, as bits of a set. `undo`: what ends a transaction or takes a write back. */
const BIT = { write: 1, publish: 2, store: 4, guard: 8, transaction: 16, undo: 32, doubt: 64 } as const satisfies Record<Effect['kind'] | 'transaction' | 'undo', number>;

/** A set of kinds of effect. */
export type Kinds = number;

export const NO_KINDS: Kinds = 0;

export function hasKind(kinds: Kinds, kind: keyof typeof BIT): boolean {
  return (kinds & BIT[kind]) !== 0;
}

/** Bodies of calls never change once they are made, and are shared by all callers. */
const kindsOfBody = new WeakMap<readonly Node[], Kinds>();

/** Kinds of effect in a tree, from some node on, closures and callees included. */
export function kindsIn(nodes: readonly Node[], from = 0): Kinds {
  let kinds = NO_KINDS;
  for (let index = from; index < nodes.length; index += 1) kinds |= kindsOf(nodes[index] as Node);
  return kinds;
}

function kindsOf(node: Node): Kinds {
  switch (node.kind) {
    case 'write': case 'publish': case 'store': case 'guard': case 'doubt': return BIT[node.kind];
    case 'open': return BIT.transaction;
    case 'commit': case 'rollback': case 'unwritten': return BIT.undo;
    case 'call': return kindsOfCall(node.body);
    case 'scope': return BIT.transaction | kindsIn(node.body);
    default: return childrenOf(node).reduce((kinds, nodes) => kinds | kindsIn(nodes), NO_KINDS);
  }
}

function kindsOfCall(body: readonly Node[]): Kinds {
  let kinds = kindsOfBody.get(body);
  if (kinds === undefined) {
    kinds = kindsIn(body);
    kindsOfBody.set(body, kinds);
  }
  return kinds;
}

/** The lists of nodes directly below a node. */
export function childrenOf(node: Node): readonly (readonly Node[])[] {
  switch (node.kind) {
    case 'scope': case 'outside': case 'deferred': case 'call': case 'loop': case 'inline': case 'unawaited': return [node.body];
    case 'choice': return node.arms;
    case 'chain': return [node.first, node.fulfilled, node.rejected ?? []];
    case 'try': return [node.block, node.handler ?? [], node.finalizer];
    default: return [];
  }
}
