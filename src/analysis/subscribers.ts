import type { Subscriber } from '../core/finding.js';
import { hasKind, kindsIn, NO_KINDS } from './effects.js';
import { evaluate } from './evaluate.js';
import type { DecoratorFact, FunctionFact } from './facts.js';
import { functionRef, guarded, homeOf, lineAt, spanOf, type Machine } from './machine.js';
import { moduleFrame } from './members.js';
import { symbolKey } from './program.js';
import { runFunction } from './run.js';
import { instanceOf } from './typing.js';
import { UNKNOWN, type FunctionValue, type Value } from './values.js';
import type { ArgumentPath } from '../adapters/adapter.js';

/** Functions that a bus calls with a message: by decorator, or as a callback. */
export function subscribersOf(machine: Machine): Subscriber[] {
  const result: Subscriber[] = [];
  for (const facts of machine.program.files.values()) {
    for (const fact of facts.functions) {
      for (const decorator of fact.decorators) result.push(...byDecorator(machine, facts.file, fact, decorator));
    }
  }
  for (const { value, bus, destination } of machine.subscribers.values()) {
    const fact = machine.program.functionFact(value.file, value.id);
    const home = homeOf(machine, value.file, fact);
    result.push(toSubscriber(machine, value, fact, { bus, destination, name: fact.name === null ? home.name : functionRef(machine, value.file, fact).name }));
  }
  return result.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
}

function byDecorator(machine: Machine, file: string, fact: FunctionFact, decorator: DecoratorFact): Subscriber[] {
  const symbol = machine.program.lookup(file, decorator.name);
  const matcher = symbol?.kind === 'external' ? machine.catalog.subscriberDecorator(symbolKey(symbol)) : undefined;
  if (matcher === undefined || fact.classId === null) return [];
  const args = decorator.args.map((arg) => evaluate(machine, moduleFrame(machine, file), arg));
  const self = instanceOf({ file, id: fact.classId });
  const name = functionRef(machine, file, fact).name;
  return [toSubscriber(machine, { kind: 'function', file, id: fact.id, self, scope: null }, fact, { bus: matcher.bus, destination: firstText(args, matcher.destination), name })];
}

function firstText(args: readonly Value[], paths: readonly ArgumentPath[]): string | null {
  for (const path of paths) {
    const value = typeof path === 'number' ? args[path] : fieldOf(args[path.argument], path.property);
    if (value?.kind === 'string' && value.value !== '') return value.value;
  }
  return null;
}

function fieldOf(value: Value | undefined, name: string): Value {
  return value?.kind === 'object' ? (value.fields.get(name) ?? UNKNOWN) : UNKNOWN;
}

function toSubscriber(machine: Machine, value: FunctionValue, fact: FunctionFact, about: { bus: string; destination: string | null; name: string }): Subscriber {
  const home = homeOf(machine, value.file, fact);
  const kinds = guarded(machine, value.file, () => kindsIn(runFunction(machine, { value, args: [], home, isEntry: true }).nodes), NO_KINDS);
  return { file: value.file, line: lineAt(machine, value.file, fact.start), ...about, inbox: hasKind(kinds, 'guard'), writes: hasKind(kinds, 'write'), span: spanOf(value.file, fact) };
}
