import type { Node, WriteEffect } from './effects.js';
import { pushSettled } from './chains.js';
import { evaluate, nameValue } from './evaluate.js';
import type { Expression, Step } from './facts.js';
import type { Frame, Machine } from './machine.js';
import { bind } from './run.js';
import { typeValue } from './typing.js';
import { alternatives, orElse, truthOf, UNDEFINED, union, UNKNOWN, type Value } from './values.js';

/** Runs steps in order; effects go to the frame. */
export function runSteps(machine: Machine, frame: Frame, steps: readonly Step[]): void {
  for (const step of steps) runStep(machine, frame, step);
}

function runStep(machine: Machine, frame: Frame, step: Step): void {
  switch (step.kind) {
    case 'expression': evaluate(machine, frame, step.expression); break;
    case 'declare': declare(machine, frame, step); break;
    case 'if': runIf(machine, frame, step); break;
    case 'switch': {
      evaluate(machine, frame, step.subject);
      const arms = step.cases.map((_, index) => collect(frame, () => runSteps(machine, frame, fallThrough(step.cases, index))));
      pushChoice(frame, step.hasDefault ? arms : [...arms, []], true);
      break;
    }
    case 'loop': runLoop(machine, frame, step); break;
    case 'try': runTry(machine, frame, step); break;
    case 'return':
      frame.returns.push(step.value === null ? UNKNOWN : evaluate(machine, frame, step.value));
      if (step.value !== null) pushSettled(frame, step.value);
      frame.nodes.push({ kind: 'exit', by: 'return' });
      break;
    case 'throw':
      if (step.value !== null) evaluate(machine, frame, step.value);
      frame.nodes.push({ kind: 'exit', by: 'throw' });
      break;
    case 'jump': frame.nodes.push({ kind: 'exit', by: step.by }); break;
    case 'block': runSteps(machine, frame, step.body); break;
  }
}

/** The steps of a case and, when it does not end, of those behind it. */
function fallThrough(cases: readonly (readonly Step[])[], from: number): readonly Step[] {
  const steps: Step[] = [];
  for (const body of cases.slice(from)) {
    steps.push(...body);
    if (isEnd(body.at(-1))) break;
  }
  return steps;
}

function isEnd(step: Step | undefined): boolean {
  return step !== undefined && (step.kind === 'jump' || step.kind === 'return' || step.kind === 'throw' || (step.kind === 'block' && isEnd(step.body.at(-1))));
}

function declare(machine: Machine, frame: Frame, step: Extract<Step, { kind: 'declare' }>): void {
  const given = step.value === null ? UNDEFINED : evaluate(machine, frame, step.value);
  const isKnown = given.kind !== 'unknown' && !(given.kind === 'undefined' && step.type !== null && step.value !== null);
  let value: Value = isKnown ? given : orElse(typeValue(machine, frame.file, step.type), given);
  if (value.kind === 'array' && value.items.length === 0 && step.type !== null) value = { kind: 'array', items: [] };
  if (step.binding.kind === 'name' && step.value !== null) frame.scope.definitions.set(step.binding.name, step.value);
  bind(machine, frame, step.binding, value);
}

function runIf(machine: Machine, frame: Frame, step: Extract<Step, { kind: 'if' }>): void {
  const truth = testTruth(machine, frame, step.test);
  if (truth !== null) {
    runSteps(machine, frame, truth ? step.then : step.otherwise);
    return;
  }
  const then = collect(frame, () => runSteps(machine, frame, step.then));
  const otherwise = collect(frame, () => runSteps(machine, frame, step.otherwise));
  const empty = emptyWrite(machine, frame, step.test);
  const without = (arm: readonly Node[], isEmptyArm: boolean): readonly Node[] => (empty?.whenTrue === isEmptyArm ? [{ kind: 'unwritten', write: empty.write }, ...arm] : arm);
  pushChoice(frame, empty === null ? [then, otherwise] : [without(then, true), without(otherwise, false)]);
}

/** A test that asks whether a write changed any row, and which arm runs when it did not: `!result.affected`, `result.rowCount === 0`. */
function emptyWrite(machine: Machine, frame: Frame, test: Expression): { write: WriteEffect; whenTrue: boolean } | null {
  const writeOf = (e: Expression): WriteEffect | null => {
    if (e.kind !== 'member') return null;
    const value = collectValue(machine, frame, e);
    return value.kind === 'written' ? value.write : null;
  };
  const direct = writeOf(test);
  if (direct !== null) return { write: direct, whenTrue: false };
  if (test.kind !== 'other' || test.operator === undefined) return null;
  const [left, right] = test.parts as [Expression, Expression?];
  const write = writeOf(left);
  if (write === null) return null;
  if (test.operator === '!') return { write, whenTrue: true };
  if (right?.kind !== 'number') return null;
  if (right.value === 0 && /^===?$/.test(test.operator)) return { write, whenTrue: true };
  if (right.value === 0 && /^(>|!==?)$/.test(test.operator)) return { write, whenTrue: false };
  return right.value === 1 && test.operator === '<' ? { write, whenTrue: true } : null;
}

function collectValue(machine: Machine, frame: Frame, e: Expression): Value {
  let value: Value = UNKNOWN;
  collect(frame, () => {
    value = evaluate(machine, frame, e);
  });
  return value;
}

/** Truth of a test, when it asks just whether a parameter was given; null when it can go either way. */
function testTruth(machine: Machine, frame: Frame, test: Expression): boolean | null {
  evaluate(machine, frame, test);
  if (test.kind === 'name') {
    const value = nameValue(machine, frame, test.name);
    // Only what is passed as a handle or callback is decided: strings and objects are data.
    return value.kind === 'undefined' || value.kind === 'external' || value.kind === 'function' ? truthOf(value) : null;
  }
  const [negated] = test.kind === 'other' && test.parts.length === 1 ? test.parts : [];
  if (negated?.kind !== 'name') return null;
  const truth = testTruth(machine, frame, negated);
  return truth === null ? null : !truth;
}

function runLoop(machine: Machine, frame: Frame, step: Extract<Step, { kind: 'loop' }>): void {
  const over = step.over === null ? UNKNOWN : evaluate(machine, frame, step.over);
  if (step.binding !== null) bind(machine, frame, step.binding, over.kind === 'array' ? union(...over.items) : UNKNOWN);
  const body = collect(frame, () => {
    for (const part of step.head) evaluate(machine, frame, part);
    runSteps(machine, frame, step.body);
  });
  if (body.length > 0) frame.nodes.push({ kind: 'loop', body, rows: rowsOf(over) });
}

function runTry(machine: Machine, frame: Frame, step: Extract<Step, { kind: 'try' }>): void {
  frame.tries += 1;
  const block = collect(frame, () => runSteps(machine, frame, step.block));
  frame.tries -= 1;
  const handler = step.handler === null ? null : collect(frame, () => runSteps(machine, frame, step.handler ?? []));
  const finalizer = collect(frame, () => runSteps(machine, frame, step.finalizer ?? []));
  if (block.length + (handler?.length ?? 0) + finalizer.length > 0) frame.nodes.push({ kind: 'try', block, handler, finalizer });
}

/** The entity or table whose rows a value holds. */
export function rowsOf(value: Value): string | null {
  const items = value.kind === 'array' ? value.items.flatMap(alternatives) : [];
  const row = items.find((item) => item.kind === 'external' && item.type === 'Row');
  return row?.kind === 'external' ? row.target : null;
}

/** The effects of some work, apart from the frame's own list. */
export function collect(frame: Frame, work: () => void): Node[] {
  const outer = frame.nodes;
  const inner: Node[] = [];
  frame.nodes = inner;
  work();
  frame.nodes = outer;
  return inner;
}

export function pushChoice(frame: Frame, arms: readonly (readonly Node[])[], isSwitch = false): void {
  if (arms.some((arm) => arm.length > 0)) frame.nodes.push({ kind: 'choice', arms, isSwitch });
}
