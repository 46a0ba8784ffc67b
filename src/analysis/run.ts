import type { FunctionRef } from '../core/finding.js';
import type { Node } from './effects.js';
import { evaluate } from './evaluate.js';
import type { BindingFact, FunctionFact, ParameterFact } from './facts.js';
import { memberValue, moduleFrame } from './members.js';
import { DEPTH_LIMIT, functionKey, functionRef, homeOf, spanOf, transactionAt, type Frame, type Machine, type Summary } from './machine.js';
import { symbolKey } from './program.js';
import { ambientScope } from './propagation.js';
import { runSteps } from './steps.js';
import { typeValue } from './typing.js';
import { alternatives, orElse, UNDEFINED, union, UNKNOWN, valueKey, type FunctionValue, type Scope, type Value } from './values.js';

const NOTHING: Summary = { nodes: [], value: UNKNOWN, reads: false };

export interface Run {
  readonly value: FunctionValue;
  readonly args: readonly Value[];
  readonly home: FunctionRef;
  /** Nobody in the project calls it: parameters have what their types promise, or are missing. */
  readonly isEntry?: boolean;
  /** A library runs the closure in place: it is part of its home. */
  readonly isInline?: boolean;
}

/** What a run of a function does. Equal runs are done once; a run within itself does nothing. */
export function runFunction(machine: Machine, run: Run): Summary {
  const { value, args } = run;
  const isClosure = value.scope !== null;
  const key = `${functionKey(value.file, value.id)}(${valueKey(value.self)};${args.map((arg) => valueKey(arg)).join()})${run.isEntry === true ? '!' : ''}`;
  const canShare = !isClosure && !args.some(hasClosure);
  const known = canShare ? machine.summaries.get(key) : undefined;
  if (known !== undefined) return known;
  const fact = machine.program.functionFact(value.file, value.id);
  if (machine.depth >= DEPTH_LIMIT || machine.budget <= 0) machine.cut.set(functionKey(run.home.file, run.home.span.start), run.home);
  if (machine.running.has(key) || machine.depth >= DEPTH_LIMIT || machine.budget <= 0) return { ...NOTHING, value: typeValue(machine, value.file, fact.returns) };
  machine.running.add(key);
  machine.depth += 1;
  const summary = runBody(machine, run, fact);
  machine.depth -= 1;
  machine.running.delete(key);
  // What was cut short for one entry may be whole for the next.
  if (canShare && machine.budget > 0) machine.summaries.set(key, summary);
  return summary;
}

function hasClosure(value: Value): boolean {
  if (value.kind === 'function') return value.scope !== null;
  if (value.kind === 'object') return [...value.fields.values()].some((field) => field.kind === 'function' && field.scope !== null);
  return value.kind === 'union' && value.of.some(hasClosure);
}

function runBody(machine: Machine, run: Run, fact: FunctionFact): Summary {
  const { value } = run;
  machine.budget -= 1 + fact.body.length;
  const scope: Scope = {
    parent: value.scope, names: new Map(), definitions: new Map(), isBoundary: run.isInline !== true,
    parameters: new Map(fact.parameters.flatMap((p, index) => (p.binding.kind === 'name' ? [[p.binding.name, index] as const] : []))),
  };
  const frame: Frame = {
    file: value.file, ref: run.isInline === true ? run.home : functionRef(machine, value.file, fact),
    home: value.scope === null ? homeOf(machine, value.file, fact) : run.home,
    classRef: fact.classId === null ? null : { file: value.file, id: fact.classId },
    self: value.self, scope, returns: [], nodes: [], reads: false, tries: 0,
  };
  fact.parameters.forEach((parameter, index) => bindParameter(machine, frame, parameter, run, index));
  runSteps(machine, frame, fact.body);
  const returned = union(...frame.returns);
  return { nodes: withDecorators(machine, frame, fact), value: returned.kind === 'unknown' ? typeValue(machine, value.file, fact.returns) : returned, reads: frame.reads };
}

function bindParameter(machine: Machine, frame: Frame, parameter: ParameterFact, run: Run, index: number): void {
  const declared = (): Value => {
    const type = typeValue(machine, frame.file, parameter.type);
    return run.isEntry === true && type.kind === 'external' ? { ...type, isUncertain: true } : type;
  };
  let value: Value;
  if (parameter.rest) value = { kind: 'array', items: run.args.slice(index).length > 0 ? [union(...run.args.slice(index))] : [declared()] };
  else {
    const given = run.args[index] ?? (run.isEntry === true ? UNKNOWN : UNDEFINED);
    value = given.kind === 'undefined' && parameter.defaultValue !== null ? evaluate(machine, frame, parameter.defaultValue) : given;
    if (value.kind === 'unknown') value = orElse(declared(), value);
  }
  bind(machine, frame, parameter.binding, value);
}

/** Binds the names of a pattern. */
export function bind(machine: Machine, frame: Frame, binding: BindingFact, value: Value): void {
  if (binding.kind === 'name') {
    frame.scope.names.set(binding.name, value);
    return;
  }
  if (binding.kind === 'array') {
    binding.items.forEach((item, index) => {
      const exact = value.kind === 'array' ? (value.items.length > 1 ? (value.items[index] ?? UNKNOWN) : (value.items[0] ?? UNKNOWN)) : UNKNOWN;
      if (item !== null) bind(machine, frame, item, exact);
    });
    return;
  }
  for (const { key, binding: inner } of binding.properties) {
    const field = key === null ? UNKNOWN : fieldOf(machine, frame, value, key);
    bind(machine, frame, inner, field);
  }
}

function fieldOf(machine: Machine, frame: Frame, value: Value, key: string): Value {
  return union(...alternatives(value).map((each) => memberValue(machine, frame, each, key)));
}

/** Wraps the nodes of a function whose decorator, or whose class's, opens a transaction around it. */
function withDecorators(machine: Machine, frame: Frame, fact: FunctionFact): readonly Node[] {
  const ofClass = frame.classRef === null || fact.name === 'constructor' ? [] : machine.program.classFact(frame.classRef).decorators;
  for (const decorator of [...fact.decorators, ...ofClass]) {
    const symbol = machine.program.lookup(frame.file, decorator.name);
    const matcher = symbol?.kind === 'external' ? machine.catalog.decorator(symbolKey(symbol)) : undefined;
    if (matcher === undefined) continue;
    const transaction = transactionAt(machine, { style: 'ambient', span: spanOf(frame.file, decorator), function: frame.ref.name }, null);
    const args = decorator.args.map((arg) => evaluate(machine, moduleFrame(machine, frame.file), arg));
    return ambientScope({ kind: 'scope', transaction, ambient: matcher.joins, body: frame.nodes, line: decorator.line }, args);
  }
  return frame.nodes;
}
