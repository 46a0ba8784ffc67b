import { callExternal, callSymbol } from './external-calls.js';
import { isLink, runChain } from './chains.js';
import { noteDoubt } from './doubts.js';
import { evaluate } from './evaluate.js';
import type { CallFact, Expression } from './facts.js';
import { functionKey, functionRef, handOver, homeOf, MODULE, pushCall, spanOf, type Frame, type Machine } from './machine.js';
import { externalBase, externalSuper, memberValue, valueOfSymbol } from './members.js';
import { kindsIn, type Node } from './effects.js';
import { passedParameter } from './messages.js';
import { runFunction } from './run.js';
import { callSpecial } from './special-calls.js';
import { collect, pushChoice, rowsOf } from './steps.js';
import { alternatives, union, UNKNOWN, type FunctionValue, type Value } from './values.js';
import { recordCall, type Outcome } from './record-call.js';
import type { FunctionRef } from '../core/finding.js';

/** A call being evaluated: its parts are known, its target is one of the alternatives. */
export interface Call {
  readonly fact: CallFact;
  readonly args: readonly Value[];
  readonly receiver: Expression | null;
  readonly method: string | null;
}


/** Runs a call: receiver, arguments, then the callee in each of its alternatives. */
export function evaluateCall(machine: Machine, frame: Frame, fact: CallFact): Value {
  const loaded = loadedModule(fact);
  if (loaded !== null) return valueOfSymbol(machine, machine.program.moduleOf(frame.file, loaded));
  const receiver = fact.callee.kind === 'member' ? fact.callee.object : null;
  const method = fact.callee.kind === 'member' ? fact.callee.name : null;
  const base = receiver?.kind === 'super' && method !== null ? externalSuper(machine, frame, method) : null;
  const isSuper = base === null && (receiver?.kind === 'super' || fact.callee.kind === 'super');
  let object: Value = base ?? UNKNOWN;
  const first = base !== null || receiver === null || isSuper ? [] : collect(frame, () => {
    object = evaluate(machine, frame, receiver);
  });
  const isChain = isLink(method) && receiver !== null && !alternatives(object).some((each) => hasMethod(machine, frame, each, method as string));
  if (!isChain) frame.nodes.push(...first);
  const target = receiver === null || isSuper ? evaluate(machine, frame, fact.callee) : UNKNOWN;
  const args = fact.args.map((arg) => evaluate(machine, frame, arg));
  const call: Call = { fact, args, receiver, method };
  const before = frame.nodes.length;
  const outcomes: Outcome[] = [];
  const readsBefore = frame.reads;
  frame.reads = false;
  const candidates = receiver !== null && !isSuper ? alternatives(object) : alternatives(target);
  const runOne = (candidate: Value): void => {
    outcomes.push(receiver !== null && !isSuper ? callMember(machine, frame, candidate, call) : callValue(machine, frame, candidate, call));
  };
  if (isChain) outcomes.push({ value: runChain(machine, frame, call, { nodes: first, value: object }), callee: { kind: 'unknown', text: method as string }, receiver: null });
  else if (candidates.length === 1) runOne(candidates[0] as Value);
  else pushDistinct(frame, candidates.map((candidate) => collect(frame, () => runOne(candidate))));
  recordCall(machine, frame, fact, { outcomes, kinds: kindsIn(frame.nodes, before) });
  frame.reads = frame.reads || readsBefore;
  return union(...outcomes.map((outcome) => outcome.value));
}

/** Specifier of `require('…')` and `import('…')`. */
function loadedModule({ callee, args }: CallFact): string | null {
  const [specifier] = args;
  return callee.kind === 'name' && (callee.name === 'require' || callee.name === 'import') && specifier?.kind === 'string' ? specifier.value : null;
}

function hasMethod(machine: Machine, frame: Frame, object: Value, method: string): boolean {
  return alternatives(memberValue(machine, frame, object, method)).some((value) => value.kind === 'function');
}

/** Adds what the alternatives of a call do: one of them runs. */
function pushDistinct(frame: Frame, bodies: readonly (readonly Node[])[]): void {
  const distinct = bodies.filter((body, index) => bodies.findIndex((other) => sameNodes(other, body)) === index);
  if (distinct.length === 1) frame.nodes.push(...(distinct[0] as readonly Node[]));
  else pushChoice(frame, distinct);
}

function sameNodes(a: readonly Node[], b: readonly Node[]): boolean {
  return a.length === b.length && a.every((node, index) => {
    const other = b[index] as Node;
    return node === other || (node.kind === other.kind && (node.kind === 'risk' || (node.kind === 'call' && other.kind === 'call' && node.body === other.body)));
  });
}

function callMember(machine: Machine, frame: Frame, object: Value, call: Call): Outcome {
  const method = call.method as string;
  if (object.kind === 'function' || object.kind === 'method') return callThrough(machine, frame, object, call);
  const member = memberValue(machine, frame, object, method);
  const functions = alternatives(member).filter((value): value is FunctionValue => value.kind === 'function');
  if (functions.length > 0) {
    const values = functions.map((fn) => invoke(machine, frame, fn, call, object.kind === 'instance' && object.isGuess));
    return { value: union(...values.map((v) => v.value)), callee: { kind: 'project', functions: values.map((v) => v.ref) }, receiver: null };
  }
  const external = object.kind === 'external' ? object : object.kind === 'instance' ? baseWithTransaction(machine, object) : object.kind === 'class' ? externalBase(machine, object.ref) : null;
  if (external !== null) {
    const value = callExternal(machine, frame, external, call);
    const receiver = call.receiver === null ? null : { span: spanOf(frame.file, call.receiver), module: external.module, type: external.type };
    return { value, callee: { kind: 'external', module: external.module, type: external.type, member: method }, receiver };
  }
  if (object.kind === 'symbol') {
    const name = object.name === '*' || object.name === 'default' ? method : `${object.name}.${method}`;
    return { value: callSymbol(machine, frame, object.module, name, call), callee: { kind: 'external', module: object.module, type: null, member: name }, receiver: null };
  }
  const value = callUnknown(machine, frame, object, call);
  return { value, callee: { kind: 'unknown', text: method }, receiver: null };
}

/** `fn.call(this, a)`, `fn.apply(this, [a])`; `fn.bind(this)` is the function itself. */
function callThrough(machine: Machine, frame: Frame, fn: Extract<Value, { kind: 'function' | 'method' }>, call: Call): Outcome {
  const callee: Outcome['callee'] = { kind: 'unknown', text: call.method as string };
  if (call.method === 'bind') return { value: bound(fn, call.args.slice(1)), callee, receiver: null };
  if (call.method !== 'call' && call.method !== 'apply') return { value: callUnknown(machine, frame, fn, call), callee, receiver: null };
  const [, list] = call.fact.args;
  const isSpread = call.method === 'apply';
  const given = call.args[1];
  const args = !isSpread ? call.args.slice(1) : given?.kind === 'array' ? given.items : [];
  const facts = !isSpread ? call.fact.args.slice(1) : list?.kind === 'array' ? list.items : [];
  const inner: Call = { ...call, args, fact: { ...call.fact, args: facts } };
  return { value: fn.kind === 'method' ? callMethod(machine, frame, fn, inner) : invoke(machine, frame, fn, inner, false).value, callee, receiver: null };
}

function bound(fn: Extract<Value, { kind: 'function' | 'method' }>, preset: readonly Value[]): Value {
  if (preset.length === 0) return fn;
  return fn.kind === 'method' ? UNKNOWN : { ...fn, preset: [...(fn.preset ?? []), ...preset] };
}

/** Calls a method that was taken off its object. The code does not show what it goes through. */
function callMethod(machine: Machine, frame: Frame, { object, name }: Extract<Value, { kind: 'method' }>, call: Call): Value {
  return callExternal(machine, frame, object, { ...call, receiver: null, method: name });
}

function baseWithTransaction(machine: Machine, object: Extract<Value, { kind: 'instance' }>): ReturnType<typeof externalBase> {
  const base = externalBase(machine, object.ref);
  return base === null ? null : { ...base, transaction: object.transaction };
}

function callValue(machine: Machine, frame: Frame, target: Value, call: Call): Outcome {
  if (target.kind === 'function') {
    const { value, ref } = invoke(machine, frame, target, call, false);
    // Which argument is which parameter can't be told from such a call.
    const callee: Outcome['callee'] = target.preset === undefined ? { kind: 'project', functions: [ref] } : { kind: 'unknown', text: ref.name };
    return { value, callee, receiver: null };
  }
  if (target.kind === 'method') return { value: callMethod(machine, frame, target, call), callee: { kind: 'unknown', text: target.name }, receiver: null };
  if (target.kind === 'symbol') {
    return { value: callSymbol(machine, frame, target.module, target.name, call), callee: { kind: 'external', module: target.module, type: null, member: target.name }, receiver: null };
  }
  const name = call.fact.callee.kind === 'name' ? call.fact.callee.name : '';
  return { value: callUnknown(machine, frame, target, call), callee: { kind: 'unknown', text: name }, receiver: null };
}

/** Calls a function of the project. */
function invoke(machine: Machine, frame: Frame, fn: FunctionValue, call: Call, isGuess: boolean): { value: Value; ref: FunctionRef } {
  const fact = machine.program.functionFact(fn.file, fn.id);
  const ref = functionRef(machine, fn.file, fact);
  machine.called.add(functionKey(fn.file, fn.id));
  const special = machine.special(fn.file, ref.name);
  if (special !== undefined) return { value: callSpecial(machine, frame, special, call), ref };
  const home = homeOf(machine, fn.file, fact);
  const preset = fn.preset ?? [];
  const summary = runFunction(machine, { value: fn, args: [...preset, ...call.args], home });
  frame.reads ||= summary.reads;
  pushCall(frame, call.fact, {
    kind: 'call', span: spanOf(frame.file, call.fact), line: call.fact.line, caller: frame.home, callee: ref, body: summary.nodes, isGuess,
    home, detached: fact.isAsync && !call.fact.awaited,
    args: [
      ...preset.map(() => ({ span: spanOf(frame.file, call.fact), parameter: null })),
      ...call.fact.args.map((arg) => ({ span: spanOf(frame.file, arg), parameter: passedParameter(machine.program, frame.file, frame.scope, arg) })),
    ],
  }, fact.isAsync);
  return { value: summary.value, ref };
}

const LOOPS = new Set(['forEach', 'map', 'filter', 'flatMap', 'some', 'every', 'find', 'findIndex', 'reduce', 'sort', 'mapSeries', 'each']);
const HANDLERS_FOR_LATER = new Set(['on', 'once', 'addListener', 'prependListener', 'addEventListener']);

/** A call of something that the code does not tell: callbacks still run. */
function callUnknown(machine: Machine, frame: Frame, object: Value, call: Call): Value {
  const method = call.method ?? '';
  if (object.kind === 'array' && method === 'push') {
    object.items.push(...call.args);
    return UNKNOWN;
  }
  if (HANDLERS_FOR_LATER.has(method)) {
    handOver(machine, call.args);
    return UNKNOWN;
  }
  if (object.kind === 'unknown' && object.foreign !== '') noteDoubt(machine, frame, call, object.foreign ?? null);
  if (frame.tries > 0 && call.fact.awaited) frame.nodes.push({ kind: 'risk' });
  if (LOOPS.has(method) && call.args.some((arg) => arg.kind === 'function')) return runOverItems(machine, frame, object, call);
  if (call.fact.callee.kind === 'member' && call.receiver?.kind === 'name' && call.receiver.name === 'Promise') return promiseValue(call);
  if (call.receiver?.kind === 'name' && ((call.receiver.name === 'JSON' && method === 'stringify') || (call.receiver.name === 'Buffer' && method === 'from'))) {
    // An event on its way to the wire is still that event.
    const event = alternatives(call.args[0] ?? UNKNOWN).find((value) => value.kind === 'event');
    if (event !== undefined) return event;
  }
  return runCallbacks(machine, frame, call, []);
}

function promiseValue(call: Call): Value {
  const [first] = call.args;
  return first?.kind === 'array' ? { kind: 'array', items: [...first.items] } : (first ?? UNKNOWN);
}

function runOverItems(machine: Machine, frame: Frame, object: Value, call: Call): Value {
  const item = object.kind === 'array' ? union(...object.items) : UNKNOWN;
  let result: Value = UNKNOWN;
  const body = collect(frame, () => {
    result = runCallbacks(machine, frame, call, call.method === 'reduce' ? [UNKNOWN, item] : [item]);
  });
  if (body.length > 0) frame.nodes.push({ kind: 'loop', body, rows: rowsOf(object) });
  if (call.method === 'map' || call.method === 'flatMap') return { kind: 'array', items: [result] };
  return call.method === 'find' ? item : object;
}

/** Runs every function among the arguments in place, with these values as its first parameters. */
export function runCallbacks(machine: Machine, frame: Frame, call: Call, values: readonly Value[]): Value {
  const results: Value[] = [];
  for (const arg of call.args) {
    for (const fn of alternatives(arg)) if (fn.kind === 'function') results.push(runInPlace(machine, frame, fn, call, values));
  }
  return union(...results);
}

/** Runs a function that a library was given. A closure is part of the function it stands in. */
export function runInPlace(machine: Machine, frame: Frame, fn: FunctionValue, call: Call, values: readonly Value[]): Value {
  machine.called.add(functionKey(fn.file, fn.id));
  const fact = machine.program.functionFact(fn.file, fn.id);
  const isClosure = fn.scope !== null && frame.ref.name !== MODULE && homeOf(machine, fn.file, fact) === frame.home;
  if (!isClosure) return invoke(machine, frame, fn, { ...call, args: values }, false).value;
  const params = values.length > 0 ? values : fact.parameters.map(() => UNKNOWN);
  const summary = runFunction(machine, { value: fn, args: [...params, ...fact.parameters.slice(params.length).map(() => UNKNOWN)], home: frame.home, isInline: true });
  frame.reads ||= summary.reads;
  if (summary.nodes.length > 0) frame.nodes.push({ kind: 'inline', body: summary.nodes });
  return summary.value;
}
