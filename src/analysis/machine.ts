import type { Catalog } from '../adapters/catalog.js';
import type { FunctionRef, ResolvedCall } from '../core/finding.js';
import type { Span } from '../core/place.js';
import { childrenOf, hasKind, kindsIn, NO_KINDS, type CallNode, type Node, type Transaction } from './effects.js';
import type { CallFact, Expression, FunctionFact } from './facts.js';
import type { ClassRef, Program } from './program.js';
import { alternatives, type FunctionValue, type Scope, type Value } from './values.js';

/** Functions of the project that mean something to the analysis: generated outbox code and wrappers named in the configuration. */
export type SpecialFunction =
  | { readonly kind: 'store' | 'guard' | 'event' }
  | { readonly kind: 'publish'; readonly transport: 'broker' | 'in-process' | 'same-database'; readonly name: string }
  | { readonly kind: 'write'; readonly name: string };

/** A subscriber found on the way: a callback handed to a bus. */
export interface CallbackSubscriber {
  readonly value: FunctionValue;
  readonly bus: string;
  readonly destination: string | null;
  readonly span: Span;
  readonly line: number;
}

/** What a run of a function does and yields. */
export interface Summary {
  readonly nodes: readonly Node[];
  readonly value: Value;
  readonly reads: boolean;
}

/** State of one analysis. Functions of this folder take it as their first argument. */
export interface Machine {
  readonly program: Program;
  readonly catalog: Catalog;
  readonly special: (file: string, name: string) => SpecialFunction | undefined;
  readonly specialExternal: (module: string, name: string) => SpecialFunction | undefined;
  readonly summaries: Map<string, Summary>;
  readonly running: Set<string>;
  readonly fields: Map<string, Value>;
  readonly methods: Map<string, { readonly file: string; readonly id: number } | null>;
  readonly instances: Map<string, Value>;
  readonly variables: Map<string, Value>;
  /** What functions were seen to put into variables of modules and into fields. */
  readonly assigned: Map<string, Value>;
  readonly providers: ReadonlyMap<string, readonly Provider[]>;
  readonly transactions: Map<string, Transaction>;
  readonly calls: Map<CallFact, ResolvedCall>;
  readonly subscribers: Map<string, CallbackSubscriber>;
  /** Closures that something unknown runs later: event listeners, what a factory returns, processors of a queue. */
  readonly handedOver: Map<string, FunctionValue>;
  /** Functions that some other function was seen to call. */
  readonly called: Set<string>;
  /** Files with code that is nested too deeply to follow. */
  readonly tooDeep: Set<string>;
  /** Functions whose callees were not all followed: the work for one entry was used up, or the calls nest too deep. */
  readonly cut: Map<string, FunctionRef>;
  /** Work left before the run of one entry is cut short. */
  budget: number;
  depth: number;
}

/** A binding of a dependency injection container. */
export interface Provider {
  readonly file: string;
  readonly use: 'class' | 'existing' | 'factory' | 'value';
  readonly expression: Expression;
}

/** One function being run. */
export interface Frame {
  readonly file: string;
  readonly ref: FunctionRef;
  /** Class whose body this code stands in. */
  readonly classRef: ClassRef | null;
  /** The named function that this code belongs to. */
  readonly home: FunctionRef;
  readonly self: Value;
  readonly scope: Scope;
  readonly returns: Value[];
  /** Where effects go. */
  nodes: Node[];
  reads: boolean;
  tries: number;
}

/** Name of the code at the top of a file. */
export const MODULE = '(module)';
export const DEPTH_LIMIT = 60;
export const BUDGET = 40_000;

export function spanOf(file: string, range: { readonly start: number; readonly end: number }): Span {
  return { file, start: range.start, end: range.end };
}

export function spanKey(span: Span): string {
  return `${span.file}:${span.start}:${span.end}`;
}

export function functionKey(file: string, id: number): string {
  return `${file}#${id}`;
}

/** Does some work on a file; when the code there nests deeper than the stack, notes it and yields the fallback. */
export function guarded<T>(machine: Machine, file: string, work: () => T, fallback: T): T {
  machine.budget = BUDGET;
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    machine.tooDeep.add(file);
    machine.running.clear();
    machine.depth = 0;
    return fallback;
  }
}

/** The 1-based line of an offset. */
export function lineAt(machine: Machine, file: string, offset: number): number {
  const starts = machine.program.facts(file).lineStarts;
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

/** Notes the closures among some values: whoever has them now may run them at any time. */
export function handOver(machine: Machine, values: readonly Value[], depth = 0): void {
  for (const value of values.flatMap(alternatives)) {
    if (value.kind === 'object' && depth < 2) handOver(machine, [...value.fields.values()], depth + 1);
    if (value.kind !== 'function' || value.scope === null) continue;
    const key = functionKey(value.file, value.id);
    if (!machine.handedOver.has(key)) machine.handedOver.set(key, value);
  }
}

/** What people call a function: `Class.method`, its own name, or that of the function around it. */
export function functionRef(machine: Machine, file: string, fact: FunctionFact): FunctionRef {
  const known = refs.get(fact);
  if (known !== undefined) return known;
  const ref = makeRef(machine, file, fact);
  refs.set(fact, ref);
  return ref;
}

const refs = new WeakMap<FunctionFact, FunctionRef>();

function makeRef(machine: Machine, file: string, fact: FunctionFact): FunctionRef {
  let named = fact;
  while (named.name === null && named.parent !== null) named = machine.program.functionFact(file, named.parent);
  const className = named.classId === null ? null : machine.program.classFact({ file, id: named.classId }).name;
  const own = named.name ?? '(anonymous)';
  return { file, line: fact.line, span: spanOf(file, fact), className, name: className === null ? own : `${className}.${own}` };
}

/** The named function around a closure; the function itself when it is a method or declared at the top. */
export function homeOf(machine: Machine, file: string, fact: FunctionFact): FunctionRef {
  let current = fact;
  while (current.parent !== null && current.classId === null) current = machine.program.functionFact(file, current.parent);
  return functionRef(machine, file, current);
}

export function classKey(ref: ClassRef): string {
  return `${ref.file}#${ref.id}`;
}

const RISK: Node = { kind: 'risk' };

/** Adds a call to the frame. One without effects is at most something that may throw: by its own words, or because it is waited for. */
export function pushCall(frame: Frame, fact: CallFact, node: CallNode, isAsync: boolean): void {
  const last = node.body.at(-1);
  if (hasKind(kindsIn(node.body), 'write')) pushAwaited(frame, fact, node);
  else if (kindsIn(node.body) !== NO_KINDS || (last?.kind === 'exit' && last.by === 'throw')) frame.nodes.push(node);
  else if (((isAsync && fact.awaited && frame.tries > 0) || mayThrow(node.body)) && frame.nodes.at(-1) !== RISK) frame.nodes.push(RISK);
}

/** Adds what a call does, and whether the code waits for it. */
export function pushAwaited(frame: Frame, fact: CallFact, node: Node): void {
  const until = fact.kept === null ? null : spanKey(spanOf(frame.file, fact.kept));
  frame.nodes.push(fact.awaited && until === null ? node : { kind: 'unawaited', body: [node], until });
}

function mayThrow(nodes: readonly Node[]): boolean {
  return nodes.some((node) => node.kind === 'risk' || (node.kind === 'exit' && node.by === 'throw') || childrenOf(node).some(mayThrow));
}

/** The transaction that is opened at a place; the same place gives the same one. */
export function transactionAt(machine: Machine, site: Transaction['site'], parent: Transaction | null): Transaction {
  const key = `${site.style}:${site.span.file}:${site.span.start}:${parent?.id ?? ''}`;
  const known = machine.transactions.get(key);
  if (known !== undefined) return known;
  const transaction: Transaction = { id: machine.transactions.size + 1, site, parent };
  machine.transactions.set(key, transaction);
  return transaction;
}
