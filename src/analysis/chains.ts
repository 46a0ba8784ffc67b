import type { Node } from './effects.js';
import { runInPlace, type Call } from './calls.js';
import type { Expression } from './facts.js';
import { pushAwaited, spanKey, spanOf, type Frame, type Machine } from './machine.js';
import { definitionOf } from './messages.js';
import { collect } from './steps.js';
import { alternatives, union, type Value } from './values.js';

/** What continues a promise. */
const LINKS = new Set(['then', 'catch', 'finally']);

export function isLink(method: string | null): boolean {
  return method !== null && LINKS.has(method);
}

/** Adds `first.then(…)`, `.catch(…)`, `.finally(…)`: callbacks run when the first is done or has failed, and yield what the chain yields. */
export function runChain(machine: Machine, frame: Frame, call: Call, first: { readonly nodes: readonly Node[]; readonly value: Value }): Value {
  const [onDone, onFailed] = call.method === 'catch' ? [undefined, call.args[0]] : call.args;
  const given = call.method === 'then' ? [first.value] : [];
  const [fulfilled, value] = runCallback(machine, frame, call, onDone, given);
  const [rejected, instead] = runCallback(machine, frame, call, call.method === 'finally' ? undefined : onFailed, []);
  const waited = [...settledBy(frame, call.receiver), ...first.nodes];
  if (call.method === 'finally') {
    if (waited.length + fulfilled.length > 0) pushAwaited(frame, call.fact, { kind: 'try', block: waited, handler: null, finalizer: fulfilled });
    return first.value;
  }
  const hasHandler = onFailed !== undefined && onFailed.kind !== 'undefined';
  if (waited.length + fulfilled.length + rejected.length > 0) pushAwaited(frame, call.fact, { kind: 'chain', first: waited, fulfilled, rejected: hasHandler ? rejected : null });
  return call.method === 'then' ? union(value, instead) : first.value;
}

function runCallback(machine: Machine, frame: Frame, call: Call, callback: Value | undefined, values: readonly Value[]): [nodes: readonly Node[], value: Value] {
  const results: Value[] = [];
  const nodes = collect(frame, () => {
    for (const fn of callback === undefined ? [] : alternatives(callback)) if (fn.kind === 'function') results.push(runInPlace(machine, frame, fn, call, values));
  });
  return [nodes, union(...results)];
}

/** Adds that somebody waits for the promises that the variables in an expression keep: `saving`, `Promise.all([saving, sending])`. */
export function pushSettled(frame: Frame, e: Expression): void {
  frame.nodes.push(...settledBy(frame, e));
}

function settledBy(frame: Frame, e: Expression | null): Node[] {
  if (e === null) return [];
  if (e.kind === 'array') return e.items.flatMap((item) => settledBy(frame, item));
  if (e.kind === 'call' && e.callee.kind === 'member' && e.callee.object.kind === 'name' && e.callee.object.name === 'Promise') return e.args.flatMap((arg) => settledBy(frame, arg));
  if (e.kind !== 'name') return [];
  const declared = definitionOf(frame.scope, e.name);
  return declared?.kind === 'call' && declared.kept !== null ? [{ kind: 'settled', until: spanKey(spanOf(frame.file, declared.kept)) }] : [];
}
