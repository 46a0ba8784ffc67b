import type { Entry, Transport } from '../core/finding.js';

/** `module:Export` of a type or function of a package: `typeorm:Repository`. Sub-paths of a package count as the package. */
export type ExternalName = `${string}:${string}`;

/** Where a matcher takes a value from: the n-th argument, or a property of it. */
export type ArgumentPath = number | { readonly argument: number; readonly property: string };

/**
 * What a member of an external type yields: another type, `this`, the value of an argument (`argument:0`), or an instance of
 * the class given as an argument (`instance-of:0`), or of the entity that the receiver is for, where entities save themselves (`entity`). What the receiver carries (transaction, entity, token) is passed on.
 */
export type Yield = ExternalName | 'this' | 'entity' | `argument:${number}` | `instance-of:${number}`;

export interface TypeShape {
  /** `name` for a property, `name()` for the result of a call. */
  readonly members: Readonly<Record<string, Yield>>;
  /** Members that are not listed yield the receiver itself: builders. */
  readonly fluent?: boolean;
  /** Methods whose class or string argument names the entity or table: `getRepository(Order)`. */
  readonly targetOf?: readonly string[];
  /** A call of this member starts something with its own identity: a query runner. */
  readonly identityOf?: readonly string[];
  /** Methods of the object literal given to this member become methods of what it yields: `repository.extend({…})`. */
  readonly extendedBy?: string;
  /** A class that extends this type is an entity that saves itself: active record. */
  readonly isEntity?: boolean;
}

export interface WriteMatcher {
  readonly effect: 'write' | 'read';
  readonly on: readonly ExternalName[];
  readonly call: readonly string[];
  /** Only when the SQL in this argument changes rows. */
  readonly sql?: ArgumentPath;
  /** Reads of these names give a list of rows. */
  readonly many?: readonly string[];
  /** Reads of these names give one row. */
  readonly one?: readonly string[];
  /** Argument that names the entity, when it is a class: `manager.save(Order, …)`; or is the entity itself. */
  readonly target?: ArgumentPath;
}

export interface PublishMatcher {
  readonly effect: 'publish' | 'request';
  readonly on: readonly ExternalName[];
  readonly call: readonly string[];
  readonly bus: string;
  readonly transport: Transport;
  /** First one that is a non-empty string names the destination; a class instance gives its class. */
  readonly destination: readonly ArgumentPath[];
  /** What becomes the message body. */
  readonly message: ArgumentPath;
  readonly route?:
    | { readonly transport: 'nest'; readonly pattern: ArgumentPath }
    | { readonly transport: 'amqp'; readonly exchange: ArgumentPath; readonly routingKey: ArgumentPath }
    | { readonly transport: 'amqp'; readonly queue: ArgumentPath };
}

export type EffectMatcher = WriteMatcher | PublishMatcher;

export type TransactionMatcher =
  /** The callback runs inside; its first parameter is the handle. */
  | { readonly style: 'callback'; readonly on: readonly ExternalName[]; readonly call: readonly string[]; readonly handle: ExternalName }
  | { readonly style: 'imperative'; readonly on: readonly ExternalName[]; readonly open: string; readonly commit: string; readonly rollback: string }
  /** `joins`: `all` when every write of the ORM takes part, `handle` when only writes through the library's own handle do. */
  | { readonly style: 'decorator'; readonly decorator: ExternalName; readonly joins: 'all' | 'handle' }
  | { readonly style: 'ambient-callback'; readonly on: readonly ExternalName[]; readonly call: readonly string[]; readonly joins: 'all' | 'handle' }
  /** The callback runs after the commit of the ambient transaction. */
  | { readonly style: 'after-commit'; readonly on: readonly ExternalName[]; readonly call: readonly string[] };

export type SubscriberMatcher =
  | { readonly by: 'decorator'; readonly decorator: ExternalName; readonly bus: string; readonly destination: readonly ArgumentPath[] }
  /** The callback in argument `callback` is the subscriber. */
  | { readonly by: 'call'; readonly on: readonly ExternalName[]; readonly call: readonly string[]; readonly bus: string; readonly destination: readonly ArgumentPath[]; readonly callback: number };

/** Who calls a function that nothing in the project calls. */
export interface EntryMatcher {
  /** On the method, or on its class. */
  readonly decorator: ExternalName;
  readonly entry: Entry;
  /** For class decorators: only this method. */
  readonly method?: string;
}

/** What one library means to the analysis. Data first; unknown means no effect. */
export interface StackAdapter {
  /** Kebab-case. */
  readonly name: string;
  readonly title: string;
  readonly docs: string;
  readonly language: 'ts' | 'php';
  /** Packages that switch the adapter on. */
  readonly enablers: readonly string[];
  readonly types?: Readonly<Record<ExternalName, TypeShape>>;
  /** Other names of the same type: sub-types, and names of older versions. */
  readonly aliases?: Readonly<Record<ExternalName, ExternalName>>;
  /** What calling a function of a package yields. */
  readonly functions?: Readonly<Record<ExternalName, Yield>>;
  readonly effects?: readonly EffectMatcher[];
  readonly transactions?: readonly TransactionMatcher[];
  readonly subscribers?: readonly SubscriberMatcher[];
  readonly entries?: readonly EntryMatcher[];
  /** Decorators that give the injection token of a parameter or field in their first argument. */
  readonly injectors?: readonly ExternalName[];
  /** Parameter and field decorators that give a value whatever its declared type: `@InjectTransaction()`. */
  readonly injected?: readonly { readonly decorator: ExternalName; readonly yields: ExternalName; readonly ambient: boolean }[];
  /** Members of these types are handles of the ambient transaction. */
  readonly ambientHandles?: readonly { readonly on: ExternalName; readonly member: string; readonly yields: ExternalName }[];
  /** Class decorators whose argument lists providers of a dependency injection container. */
  readonly modules?: readonly ExternalName[];
}
