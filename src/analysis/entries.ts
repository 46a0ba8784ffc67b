import type { Entry } from '../core/finding.js';
import { childrenOf, kindsIn, NO_KINDS, type Node } from './effects.js';
import type { FileFacts, FunctionFact } from './facts.js';
import type { EntryWalk } from './findings.js';
import { functionKey, functionRef, guarded, handOver, homeOf, spanKey, type Machine, type Summary } from './machine.js';
import { methodOf, moduleFrame } from './members.js';
import { symbolKey, type ClassRef } from './program.js';
import { runFunction } from './run.js';
import { runSteps } from './steps.js';
import { instanceOf } from './typing.js';
import { UNKNOWN, type FunctionValue, type Value } from './values.js';
import { walk } from './walk.js';

interface Candidate {
  readonly file: string;
  readonly fact: FunctionFact;
  readonly summary: Summary;
}

/** Runs every function by itself, then follows the paths of those that nothing in the project calls. */
export function runEntries(machine: Machine): EntryWalk[] {
  const candidates: Candidate[] = [];
  const modules = [...machine.program.files.values()].flatMap((facts) => guarded(machine, facts.file, () => runModule(machine, facts), []));
  for (const facts of machine.program.files.values()) {
    for (const fact of facts.functions) {
      if (!fact.hasBody || (fact.parent !== null && fact.classId === null)) continue;
      for (const self of selvesOf(machine, facts.file, fact)) addCandidate(machine, { kind: 'function', file: facts.file, id: fact.id, self, scope: null }, candidates);
    }
  }
  for (const { value } of machine.subscribers.values()) addCandidate(machine, value, candidates);
  // Running one may hand over more.
  for (const [key, value] of machine.handedOver) if (!machine.called.has(key) && !isSubscriber(machine, value)) addCandidate(machine, value, candidates);
  const roots = candidates.filter((c) => !machine.called.has(functionKey(c.file, c.fact.id)));
  const reached = new Set<string>();
  for (const root of roots) guarded(machine, root.file, () => markReached(root.summary.nodes, reached), undefined);
  // Functions that only call each other have no entry among them: each is one.
  const isRoot = new Set(roots);
  const rest = candidates.filter((c) => !isRoot.has(c) && !reached.has(spanKey(functionRef(machine, c.file, c.fact).span)));
  return [...modules, ...[...roots, ...rest].flatMap((candidate) => guarded(machine, candidate.file, () => [toEntry(machine, candidate)], []))];
}

/** The code at the top of a module, when it does anything. */
function runModule(machine: Machine, facts: FileFacts): EntryWalk[] {
  const frame = moduleFrame(machine, facts.file);
  runSteps(machine, frame, facts.top);
  handOver(machine, [...frame.scope.names.values()]);
  return kindsIn(frame.nodes) === NO_KINDS ? [] : [{ ref: frame.ref, entry: 'unknown', walk: walk(frame.nodes) }];
}

function addCandidate(machine: Machine, value: FunctionValue, candidates: Candidate[]): void {
  const fact = machine.program.functionFact(value.file, value.id);
  const home = homeOf(machine, value.file, fact);
  const summary = guarded(machine, value.file, () => runFunction(machine, { value, args: [], home, isEntry: true }), null);
  if (summary !== null) handOver(machine, [summary.value]);
  if (summary !== null && kindsIn(summary.nodes) !== NO_KINDS) candidates.push({ file: value.file, fact, summary });
}

/** What `this` may be: an instance of each class that can be made and has the function, by itself or from a base. */
function selvesOf(machine: Machine, file: string, fact: FunctionFact): readonly Value[] {
  if (fact.classId === null) return [UNKNOWN];
  const ref = { file, id: fact.classId };
  if (fact.isStatic) return [{ kind: 'class', ref }];
  const isOverridden = (cls: ClassRef): boolean => {
    const method = fact.name === null ? null : methodOf(machine, cls, fact.name);
    return method !== null && (method.file !== file || method.id !== fact.id);
  };
  const classes = machine.program.concreteClasses({ kind: 'class', ...ref }).filter((cls) => !isOverridden(cls));
  return (classes.length > 0 ? classes : [ref]).map((cls) => instanceOf(cls));
}

function toEntry(machine: Machine, { file, fact, summary }: Candidate): EntryWalk {
  return { ref: functionRef(machine, file, fact), entry: entryOf(machine, file, fact), walk: walk(summary.nodes) };
}

function markReached(nodes: readonly Node[], reached: Set<string>): void {
  const seen = new Set<readonly Node[]>();
  const visit = (list: readonly Node[]): void => {
    if (seen.has(list)) return;
    seen.add(list);
    for (const node of list) {
      if (node.kind === 'call') reached.add(spanKey(node.callee.span));
      childrenOf(node).forEach(visit);
    }
  };
  visit(nodes);
}

/** Who calls a function that nothing in the project calls, by its decorators and those of its class. */
function entryOf(machine: Machine, file: string, fact: FunctionFact): Entry {
  const find = (decorators: FunctionFact['decorators'], isClass: boolean): Entry | null => {
    for (const decorator of decorators) {
      const symbol = machine.program.lookup(file, decorator.name);
      const matcher = symbol?.kind === 'external' ? machine.catalog.entry(symbolKey(symbol)) : undefined;
      if (matcher !== undefined && (!isClass || matcher.method === fact.name)) return matcher.entry;
    }
    return null;
  };
  const ofClass = fact.classId === null ? [] : machine.program.classFact({ file, id: fact.classId }).decorators;
  return find(fact.decorators, false) ?? find(ofClass, true) ?? (isSubscriber(machine, { file, id: fact.id }) ? 'subscriber' : 'unknown');
}

function isSubscriber(machine: Machine, fn: { readonly file: string; readonly id: number }): boolean {
  return [...machine.subscribers.values()].some(({ value }) => value.file === fn.file && value.id === fn.id);
}
