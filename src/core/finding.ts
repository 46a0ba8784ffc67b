import type { CallSite, Place, Span } from './place.js';

/** Order of commit and publish: see the vocabulary in the README. */
export type FindingKind = 'lost-event' | 'phantom-event';
export type Severity = 'error' | 'warning';
export type Confidence = 'high' | 'medium' | 'low';
/** Where a publish goes. `same-database` commits with the write and is safe inside its transaction. */
export type Transport = 'broker' | 'in-process' | 'same-database' | 'unknown';
/** Who calls the handler. */
export type Entry = 'http' | 'command' | 'subscriber' | 'cron' | 'unknown';
/** Where a handler stands on its way to the outbox; read from the code. */
export type Stage = 'legacy' | 'dual-publish' | 'outbox-only';

/** The function where a write and a publish meet. */
export interface Handler extends Place {
  /** `Class.method`, or the function's name. */
  readonly name: string;
  readonly entry: Entry;
  /** The whole function, decorators excluded. Internal. */
  readonly span: Span;
}

/** How a publish reaches its destination: what the relay has to repeat. Fields that the code does not tell are null. */
export interface PublishRoute {
  /** `nest`: ClientProxy.emit; `amqp`: an exchange or a queue of RabbitMQ. */
  readonly transport: 'nest' | 'amqp' | 'unknown';
  /** Injection token of the Nest client: a string token, or a class or constant name. */
  readonly client: string | null;
  readonly pattern: string | null;
  readonly exchange: string | null;
  readonly routingKey: string | null;
  readonly queue: string | null;
}

/** The expression in the handler (or in the function of the publish, when it is the handler) that becomes the message body. */
export interface MessageExpression {
  readonly span: Span;
  /** What stands between the expression and the wire where the expression itself is written: `Buffer.from(JSON.stringify(x))` is `json-buffer` and `span` covers just `x`. */
  readonly encoding: 'plain' | 'json-string' | 'json-buffer';
}

export interface Publish extends Place {
  readonly bus: string;
  readonly transport: Transport;
  /** Pattern, exchange, routing key or event class; null when the code does not tell. */
  readonly destination: string | null;
  readonly awaited: boolean;
  /** Call sites from the handler down to the publish, outermost first; empty when the handler publishes itself. */
  readonly path: readonly CallSite[];
  /** The publish call. Internal. */
  readonly span: Span;
  /** Internal. */
  readonly message: MessageExpression | null;
  /** Internal. */
  readonly route: PublishRoute;
  /** A request whose reply nobody looks at: it acts as an event, and can't be relayed as one. Internal. */
  readonly isCommand: boolean;
}

/** The transaction that an effect runs in, as the handler sees it. */
export interface TransactionSite {
  /** `callback`: `dataSource.transaction(cb)`; `query-runner`: start/commit; `ambient`: decorator or runInTransaction of a CLS library. */
  readonly style: 'callback' | 'query-runner' | 'ambient';
  /** The call that opens it, or the decorator. */
  readonly span: Span;
  /** Function that contains the opening call. */
  readonly function: string;
}

export interface Write extends Place {
  readonly orm: string;
  readonly operation: string;
  /** Entity or table; null when the code does not tell. */
  readonly target: string | null;
  readonly path: readonly CallSite[];
  /** The write call. Internal. */
  readonly span: Span;
  /** The expression the write is called on, e.g. `this.orders` in `this.orders.save(order)`. Internal. */
  readonly receiver: Receiver | null;
  /** Internal. Null: autocommit. */
  readonly transaction: TransactionSite | null;
  /** What had become of it when the event was published; `after`: it came later. Internal. */
  readonly order: WriteOrder;
}

export type WriteOrder = 'committed' | 'pending' | 'started' | 'after';

/** A receiver resolved to a type of an ORM. */
export interface Receiver {
  readonly span: Span;
  /** Module and export of its type, e.g. `typeorm` and `Repository`. */
  readonly module: string;
  readonly type: string;
}

/** One numbered step of the proof that a finding is real. */
export interface WitnessStep extends Place {
  readonly step: number;
  readonly role: 'entry' | 'call' | 'write' | 'open' | 'commit' | 'crash' | 'publish';
  readonly text: string;
}

export interface Finding {
  /** Fingerprint over symbols, never line numbers: 12 hex digits. */
  readonly id: string;
  readonly kind: FindingKind;
  readonly severity: Severity;
  readonly confidence: Confidence;
  readonly handler: Handler;
  readonly publish: Publish;
  readonly writes: readonly Write[];
  readonly witness: readonly WitnessStep[];
  readonly stage: Stage;
}

/** A publish that was looked at and is no finding. */
export interface SafePublish extends Place {
  readonly bus: string;
  readonly reason: SafeReason;
  /** Pattern, exchange, event class or message type; null when the code does not tell. Internal. */
  readonly destination: string | null;
  /** The function around it. Internal. */
  readonly handler: Handler | null;
  /** Internal. */
  readonly span: Span;
}

/** Why a publish is no finding. */
export type SafeReason =
  /** No write is reached by the functions that reach this publish. */
  | 'no-write'
  /** Write and publish stand in branches that exclude each other. */
  | 'exclusive-branches'
  /** The queue lives in the database and joins the transaction of the write. */
  | 'same-transaction'
  /** The event is stored in the outbox with the write, and only there. */
  | 'outbox-store'
  /** The publish is the relay's own. */
  | 'relay'
  /** Request and reply: the caller waits for the result. */
  | 'request-reply'
  /** In a test. */
  | 'test';

export interface Subscriber extends Place {
  readonly name: string;
  readonly bus: string;
  readonly destination: string | null;
  /** Whether it goes through the inbox. */
  readonly inbox: boolean;
  /** Whether it reaches a write. */
  readonly writes: boolean;
  /** The function. Internal. */
  readonly span: Span;
}

/** Something that could be a publish or a write and that the analysis can't resolve. */
export interface Unresolved extends Place {
  readonly text: string;
  /** What would resolve it. */
  readonly hint: string;
}

/** What the analysis says of a call inside a function, for the codemods. */
export interface ResolvedCall {
  readonly span: Span;
  readonly awaited: boolean;
  readonly callee:
    | { readonly kind: 'project'; readonly functions: readonly FunctionRef[] }
    | { readonly kind: 'external'; readonly module: string; readonly type: string | null; readonly member: string | null }
    | { readonly kind: 'unknown'; readonly text: string };
  /** The receiver, when its type is known to an ORM adapter. */
  readonly receiver: Receiver | null;
  /** Everything that a run of this call can do. */
  readonly effects: {
    readonly write: boolean;
    /** A database read through an ORM. */
    readonly read: boolean;
    readonly publish: boolean;
    readonly store: boolean;
    readonly transaction: boolean;
  };
}

/** A function of the project. */
export interface FunctionRef {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly span: Span;
  /** Class name when it is a method. */
  readonly className: string | null;
}
