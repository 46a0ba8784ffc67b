import type { TransactionRef, WriteEffect } from './effects.js';
import type { Expression } from './facts.js';
import type { ClassRef } from './program.js';

/** What an expression is, as far as the code tells. */
export type Value =
  /** `foreign`: the package that it came out of, when no adapter describes that; empty: the language. */
  | { readonly kind: 'unknown'; readonly foreign?: string }
  | { readonly kind: 'undefined' }
  | ExternalValue
  /** A package, or something exported by one. */
  | { readonly kind: 'symbol'; readonly module: string; readonly name: string }
  | { readonly kind: 'namespace'; readonly file: string }
  | { readonly kind: 'class'; readonly ref: ClassRef }
  | InstanceValue
  /** A method of an instance of a package, taken off it: `this.client.emit`. */
  | { readonly kind: 'method'; readonly object: ExternalValue; readonly name: string }
  | FunctionValue
  | { readonly kind: 'string'; readonly value: string }
  /** Text with `${}` where a part is not known. */
  | { readonly kind: 'template'; readonly text: string }
  /** Fields are filled in as the literal is read; `push` and assignments add to it. */
  | { readonly kind: 'object'; readonly fields: Map<string, Value>; readonly id: string }
  | { readonly kind: 'array'; readonly items: Value[] }
  | { readonly kind: 'enum'; readonly file: string; readonly name: string }
  /** What a write gave back: its result, the number of rows in it, or whether there is any. */
  | { readonly kind: 'written'; readonly write: WriteEffect; readonly of: Value }
  /** An integration event; the id says which creation. */
  | { readonly kind: 'event'; readonly id: string; readonly of: Value }
  | { readonly kind: 'union'; readonly of: readonly Value[] };

/** An instance of a type of a package. */
export interface ExternalValue {
  readonly kind: 'external';
  readonly module: string;
  readonly type: string;
  /** Entity or table. */
  readonly target: string | null;
  /** The class of the entity, where the code tells it. */
  readonly entity?: ClassRef;
  readonly transaction: TransactionRef;
  /** Injection token. */
  readonly token: string | null;
  /** Methods added by an object literal. */
  readonly extra: ReadonlyMap<string, Value> | null;
  /** Might be undefined: a parameter of a function whose callers are not known. */
  readonly isUncertain: boolean;
}

/** An instance of a class of the project. */
export interface InstanceValue {
  readonly kind: 'instance';
  readonly ref: ClassRef;
  readonly transaction: TransactionRef;
  readonly token: string | null;
  /** One of several implementations that the container may choose. */
  readonly isGuess: boolean;
}

export interface FunctionValue {
  readonly kind: 'function';
  readonly file: string;
  readonly id: number;
  readonly self: Value;
  readonly scope: Scope | null;
  /** First arguments that `bind` gave it already. */
  readonly preset?: readonly Value[];
}

/** Names that a function sees, and what message tracing needs to know of them. */
export interface Scope {
  readonly parent: Scope | null;
  readonly names: Map<string, Value>;
  /** Index of a name among the parameters of the function whose scope this is. */
  readonly parameters: ReadonlyMap<string, number>;
  /** What a local name was declared as. */
  readonly definitions: Map<string, Expression>;
  /** A call of the function is a step of its own in the tree; closures that a library runs in place are not. */
  readonly isBoundary: boolean;
}

export const UNKNOWN: Value = { kind: 'unknown' };
export const OF_THE_LANGUAGE: Value = { kind: 'unknown', foreign: '' };
export const UNDEFINED: Value = { kind: 'undefined' };
export const NO_TRANSACTION: TransactionRef = { kind: 'none' };

export function external(module: string, type: string, more: Partial<Omit<ExternalValue, 'kind' | 'module' | 'type'>> = {}): ExternalValue {
  return { kind: 'external', module, type, target: null, transaction: NO_TRANSACTION, token: null, extra: null, isUncertain: false, ...more };
}

/** `module:Export` → an instance of it. */
export function externalOf(name: string, more: Partial<Omit<ExternalValue, 'kind' | 'module' | 'type'>> = {}): ExternalValue {
  const colon = name.lastIndexOf(':');
  return external(name.slice(0, colon), name.slice(colon + 1), more);
}

/** Both values; unknown ones add nothing. At most a dozen are kept. */
export function union(...values: readonly Value[]): Value {
  if (values.length === 1) return values[0] as Value;
  const flat = values.flatMap((value) => (value.kind === 'union' ? value.of : [value])).filter((value) => value.kind !== 'unknown');
  const unique = flat.filter((value, index) => flat.findIndex((other) => sameValue(other, value)) === index).slice(0, 12);
  const [first] = unique;
  if (first === undefined) return values[0]?.kind === 'unknown' ? values[0] : UNKNOWN;
  return unique.length === 1 ? first : { kind: 'union', of: unique };
}

/** The value, or what is known where it is not. */
export function orElse(value: Value, other: Value): Value {
  return value.kind === 'unknown' && other.kind === 'unknown' ? other : value;
}

/** The possibilities of a value, one by one. */
export function alternatives(value: Value): readonly Value[] {
  return value.kind === 'union' ? value.of : [value];
}

/** Whether two values can't be told apart by what is done with them. */
export function sameValue(a: Value, b: Value): boolean {
  return a === b || valueKey(a) === valueKey(b);
}

/** Objects and arrays inside each other are told apart down to here; what lies deeper counts as equal. They may contain themselves. */
const DEEPEST_KEY = 4;

/** A key that is equal for values that behave the same; closures are told apart by their scope. */
export function valueKey(value: Value, depth = 0): string {
  const key = (inner: Value): string => (depth >= DEEPEST_KEY ? inner.kind : valueKey(inner, depth + 1));
  switch (value.kind) {
    case 'external': return `x:${value.module}:${value.type}:${value.target ?? ''}:${transactionKey(value.transaction)}:${value.token ?? ''}:${value.isUncertain ? 1 : 0}`;
    case 'symbol': return `s:${value.module}:${value.name}`;
    case 'namespace': return `n:${value.file}`;
    case 'class': return `c:${value.ref.file}:${value.ref.id}`;
    case 'instance': return `i:${value.ref.file}:${value.ref.id}:${transactionKey(value.transaction)}:${value.isGuess ? 1 : 0}`;
    case 'function': return `f:${value.file}:${value.id}${(value.preset ?? []).map(key).join()}`;
    case 'method': return `m:${key(value.object)}.${value.name}`;
    case 'string': return `"${value.value}`;
    case 'template': return `t:${value.text}`;
    case 'object': return `o:${value.id}{${[...value.fields].map(([name, field]) => `${name}=${field.kind === 'object' ? field.id : key(field)}`).join()}}`;
    case 'array': return `a:${value.items.map(key).join()}`;
    case 'enum': return `e:${value.file}:${value.name}`;
    case 'event': return `v:${value.id}`;
    case 'written': return `w:${value.write.span.file}:${value.write.span.start}`;
    case 'union': return `u:${value.of.map((each) => valueKey(each, depth)).join('|')}`;
    case 'unknown': return `unknown:${value.foreign ?? ''}`;
    default: return value.kind;
  }
}

/** Key of a transaction reference. */
export function transactionKey(ref: TransactionRef): string {
  return 'transaction' in ref ? `${ref.kind}${ref.transaction.id}` : ref.kind;
}

/** What is known of the truth of a value. */
export function truthOf(value: Value): boolean | null {
  if (value.kind === 'undefined') return false;
  if (value.kind === 'string') return value.value !== '';
  if (value.kind === 'unknown' || value.kind === 'union' || value.kind === 'array' || value.kind === 'written' || value.kind === 'event') return null;
  return value.kind === 'external' && value.isUncertain ? null : true;
}
