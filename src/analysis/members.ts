import { evaluate } from './evaluate.js';
import type { Expression, ParameterFact } from './facts.js';
import { assignersOf } from './assignments.js';
import { injectedValue } from './injection.js';
import { classKey, functionRef, homeOf, MODULE, type Frame, type Machine } from './machine.js';
import { declarationOf, dotted, type ClassRef, type Symbol } from './program.js';
import { runFunction } from './run.js';
import { externalType, instanceOf, symbolValue, typeValue } from './typing.js';
import { externalOf, UNKNOWN, union, type ExternalValue, type Value } from './values.js';
import type { Yield } from '../adapters/adapter.js';

/** What a name at the top of a module stands for. */
export function moduleValue(machine: Machine, file: string, name: string): Value {
  return valueOfSymbol(machine, machine.program.lookup(file, name));
}

/** The value of a symbol; a variable is evaluated once. */
export function valueOfSymbol(machine: Machine, symbol: Symbol | null): Value {
  if (symbol?.kind !== 'variable') return symbolValue(symbol);
  const key = `${symbol.file}#${symbol.name}`;
  const known = machine.variables.get(key);
  if (known !== undefined) return known;
  machine.variables.set(key, UNKNOWN); // a cycle ends here
  const value = topLevelValue(machine, symbol.file, symbol.name);
  machine.variables.set(key, value);
  return value;
}

function topLevelValue(machine: Machine, file: string, name: string): Value {
  const declaration = declarationOf(machine.program.facts(file), name);
  if (declaration === null) return UNKNOWN;
  const value = declaration.value === null ? UNKNOWN : evaluate(machine, moduleFrame(machine, file), declaration.value);
  if (isTold(value)) return value;
  const declared = typeValue(machine, file, declaration.type);
  return isTold(declared) ? declared : assignedLater(machine, { file, target: name, key: `${file}#${name}`, self: UNKNOWN });
}

/** Whether it is known at least where a value comes from. */
function isKnown(value: Value): boolean {
  return value.kind !== 'unknown' || value.foreign !== undefined;
}

function isTold(value: Value): boolean {
  return value.kind !== 'unknown' && value.kind !== 'undefined';
}

/** What functions put into a variable or a field that says nothing by itself: they are run to see. */
function assignedLater(machine: Machine, { file, target, key, self }: { file: string; target: string; key: string; self: Value }): Value {
  for (const fact of assignersOf(machine.program.facts(file), target)) {
    if (self.kind === 'instance' && fact.classId !== self.ref.id) continue;
    const value: Value = { kind: 'function', file, id: fact.id, self, scope: null };
    runFunction(machine, { value, args: [], home: functionRef(machine, file, fact), isEntry: true });
  }
  return machine.assigned.get(key) ?? UNKNOWN;
}

/** A frame for code at the top of a module, whose effects nobody looks at. */
export function moduleFrame(machine: Machine, file: string): Frame {
  const ref = { name: MODULE, file, line: 1, span: { file, start: 0, end: 0 }, className: null };
  return {
    file, ref, home: ref, classRef: null, self: UNKNOWN, returns: [], nodes: [], reads: false, tries: 0,
    scope: { parent: null, names: new Map(), parameters: new Map(), definitions: new Map(), isBoundary: true },
  };
}

/** Where the libraries put the number of rows that a write changed. */
const COUNTS = new Set(['affected', 'affectedRows', 'rowCount', 'modifiedCount', 'deletedCount', 'numUpdatedRows', 'numDeletedRows', 'count', 'length']);

/** A member of a value. */
export function memberValue(machine: Machine, frame: Frame, value: Value, name: string): Value {
  switch (value.kind) {
    case 'external': return externalMember(machine, value, name);
    case 'symbol': {
      const symbol = machine.program.member({ ...value, kind: 'external' }, name);
      return symbol === null ? UNKNOWN : symbolValue(symbol);
    }
    case 'namespace': return valueOfSymbol(machine, machine.program.exportOf(value.file, name));
    case 'class': return staticMember(machine, value.ref, name, frame);
    case 'instance': return instanceMember(machine, frame, value, name);
    case 'object': return value.fields.get(name) ?? UNKNOWN;
    case 'event': return memberValue(machine, frame, value.of, name);
    case 'written': return COUNTS.has(name) ? value : memberValue(machine, frame, value.of, name);
    case 'enum': {
      const member = machine.program.facts(value.file).enums.find((e) => e.name === value.name)?.members.find((m) => m.name === name);
      return member?.value == null ? UNKNOWN : { kind: 'string', value: member.value };
    }
    case 'undefined': return value;
    case 'unknown': return value;
    default: return UNKNOWN;
  }
}

function externalMember(machine: Machine, value: ExternalValue, name: string): Value {
  const added = value.extra?.get(name);
  if (added !== undefined) return added.kind === 'function' ? { ...added, self: value } : added;
  const type = `${value.module}:${value.type}`;
  const handle = machine.catalog.ambientHandle(type, name);
  if (handle !== undefined) return externalOf(handle, { transaction: { kind: 'ambient' } });
  const yields = machine.catalog.type(type)?.members[name];
  if (yields !== undefined) return yieldValue(yields, value, []);
  const hasEffect = machine.catalog.effect(type, name) !== undefined || machine.catalog.transaction(type, name) !== undefined;
  return hasEffect ? { kind: 'method', object: value, name } : unknownOf(machine, value.module);
}

/** What nothing is known of, that came out of a package: one without an adapter, or one that holds no data. */
export function unknownOf(machine: Machine, module: string): Value {
  return machine.catalog.isForeign(module) || machine.catalog.isOnlyBus(module) ? { kind: 'unknown', foreign: module } : UNKNOWN;
}

/** What an adapter says a member yields; what the receiver carries goes along. */
export function yieldValue(yields: Yield, receiver: ExternalValue | null, args: readonly Value[]): Value {
  const carried = receiver === null ? {} : { transaction: receiver.transaction, target: receiver.target, token: receiver.token, isUncertain: receiver.isUncertain, ...(receiver.entity === undefined ? {} : { entity: receiver.entity }) };
  if (yields === 'this') return receiver ?? UNKNOWN;
  if (yields === 'entity') return UNKNOWN;
  const argument = /^(argument|instance-of):(\d+)$/.exec(yields);
  if (argument === null) return externalOf(yields, carried);
  const given = args[Number(argument[2])] ?? UNKNOWN;
  const transaction = receiver?.transaction ?? { kind: 'none' as const };
  if (argument[1] === 'instance-of') return given.kind === 'class' ? { kind: 'instance', ref: given.ref, transaction, token: null, isGuess: false } : UNKNOWN;
  const rebind = (value: Value): Value => (value.kind === 'external' || value.kind === 'instance' ? { ...value, transaction } : value);
  return given.kind === 'union' ? union(...given.of.map(rebind)) : rebind(given);
}

/** A method of a class or of its bases: where it is declared. */
export function methodOf(machine: Machine, ref: ClassRef, name: string): { file: string; id: number } | null {
  const key = `${classKey(ref)}.${name}`;
  const known = machine.methods.get(key);
  if (known !== undefined) return known;
  const found = findMethod(machine, ref, name);
  machine.methods.set(key, found);
  return found;
}

function findMethod(machine: Machine, ref: ClassRef, name: string): { file: string; id: number } | null {
  for (const cls of chainOf(machine, ref)) {
    const method = machine.program.classFact(cls).methods.find((candidate) => candidate.name === name);
    if (method !== undefined) return { file: cls.file, id: method.id };
  }
  return null;
}

/** The class and its bases in the project, nearest first. */
export function chainOf(machine: Machine, ref: ClassRef): ClassRef[] {
  const chain: ClassRef[] = [ref];
  for (let current: Symbol | null = machine.program.baseOf(ref); current?.kind === 'class' && chain.length < 20; current = machine.program.baseOf(current)) chain.push(current);
  return chain;
}

/** The type of a package that a class extends, at any depth. */
export function externalBase(machine: Machine, ref: ClassRef): ExternalValue | null {
  const chain = chainOf(machine, ref);
  const base = machine.program.baseOf(chain.at(-1) as ClassRef);
  if (base?.kind !== 'external') return null;
  const value = externalType(machine, base.module, base.name, entityOf(machine, chain));
  return machine.catalog.type(`${value.module}:${value.type}`)?.isEntity === true ? { ...value, target: machine.program.classFact(ref).name, entity: ref } : value;
}

/** The entity that the base's type argument names, also where classes between hand it up: `Orders extends Store<Order>`, `Store<T> extends Repository<T>`. */
function entityOf(machine: Machine, chain: readonly ClassRef[]): string | null {
  let index = 0;
  for (const ref of chain.toReversed()) {
    const { baseArgs, typeParameters } = machine.program.classFact(ref);
    const name = baseArgs[index]?.name ?? null;
    if (name === null || !typeParameters.includes(name)) return name;
    index = typeParameters.indexOf(name);
  }
  return null;
}

/** What `super` is where no class of the project below it has the method: the class of a package, in the transaction of `this`. */
export function externalSuper(machine: Machine, frame: Frame, method: string): ExternalValue | null {
  if (frame.classRef === null) return null;
  const parent = machine.program.baseOf(frame.classRef);
  if (parent?.kind === 'class' && methodOf(machine, parent, method) !== null) return null;
  const base = externalBase(machine, frame.self.kind === 'instance' ? frame.self.ref : frame.classRef);
  return base === null || frame.self.kind !== 'instance' ? base : { ...base, transaction: frame.self.transaction };
}

function staticMember(machine: Machine, ref: ClassRef, name: string, frame: Frame): Value {
  const method = methodOf(machine, ref, name);
  if (method !== null) return { kind: 'function', ...method, self: { kind: 'class', ref }, scope: null };
  for (const cls of chainOf(machine, ref)) {
    const field = machine.program.classFact(cls).fields.find((candidate) => candidate.isStatic && candidate.name === name);
    if (field !== undefined) return field.value === null ? typeValue(machine, cls.file, field.type) : evaluate(machine, { ...moduleFrame(machine, cls.file), self: frame.self }, field.value);
  }
  return UNKNOWN;
}

function instanceMember(machine: Machine, frame: Frame, value: Extract<Value, { kind: 'instance' }>, name: string): Value {
  const method = methodOf(machine, value.ref, name);
  if (method !== null) {
    const fact = machine.program.functionFact(method.file, method.id);
    const fn: Value = { kind: 'function', ...method, self: value, scope: null };
    if (!fact.isAccessor) return fn;
    const got = runFunction(machine, { value: fn, args: [], home: frame.home });
    return got.value;
  }
  const field = fieldValue(machine, value.ref, name);
  if (isKnown(field)) return field;
  const base = externalBase(machine, value.ref);
  return base === null ? UNKNOWN : externalMember(machine, { ...base, transaction: value.transaction }, name);
}

/** What a field of a class holds: injected, initialised, or assigned in the constructor. */
export function fieldValue(machine: Machine, ref: ClassRef, name: string): Value {
  const key = `${classKey(ref)}.${name}`;
  const known = machine.fields.get(key);
  if (known !== undefined) return known;
  machine.fields.set(key, UNKNOWN);
  let value: Value = UNKNOWN;
  for (const cls of chainOf(machine, ref)) {
    value = ownField(machine, cls, name);
    if (isKnown(value)) break;
  }
  machine.fields.set(key, value);
  return value;
}

function ownField(machine: Machine, ref: ClassRef, name: string): Value {
  const cls = machine.program.classFact(ref);
  const inFile = (file: string, expression: Expression): Value => evaluate(machine, { ...moduleFrame(machine, file), self: instanceOf(ref) }, expression);
  const field = cls.fields.find((candidate) => !candidate.isStatic && candidate.name === name);
  const declared = field === undefined ? UNKNOWN : injectedValue(machine, ref.file, field.type, field.decorators, inFile);
  if (declared.kind !== 'unknown') return declared;
  const initial = field?.value == null ? UNKNOWN : inFile(ref.file, field.value);
  if (initial.kind !== 'unknown') return initial;
  const given = constructorField(machine, ref, name, inFile);
  if (isTold(given)) return given;
  const later = assignedLater(machine, { file: ref.file, target: `this.${name}`, key: `${classKey(ref)}.${name}`, self: instanceOf(ref) });
  return [later, declared, initial, given].find(isKnown) ?? UNKNOWN;
}

function constructorField(machine: Machine, ref: ClassRef, name: string, inFile: (file: string, expression: Expression) => Value): Value {
  const { constructorId } = machine.program.classFact(ref);
  if (constructorId === null) return UNKNOWN;
  const fact = machine.program.functionFact(ref.file, constructorId);
  const parameterValue = (parameter: ParameterFact): Value => injectedValue(machine, ref.file, parameter.type, parameter.decorators, inFile);
  const property = fact.parameters.find((parameter) => parameter.isField && parameter.binding.kind === 'name' && parameter.binding.name === name);
  if (property !== undefined) return parameterValue(property);
  for (const step of fact.body) {
    if (step.kind !== 'expression' || step.expression.kind !== 'assign') continue;
    const { target, value } = step.expression;
    if (dotted(target) !== null || target.kind !== 'member' || target.object.kind !== 'this' || target.name !== name) continue;
    const home = homeOf(machine, ref.file, fact);
    const frame: Frame = { ...moduleFrame(machine, ref.file), ref: functionRef(machine, ref.file, fact), home, self: instanceOf(ref) };
    for (const parameter of fact.parameters) if (parameter.binding.kind === 'name') frame.scope.names.set(parameter.binding.name, parameterValue(parameter));
    return evaluate(machine, frame, value);
  }
  return UNKNOWN;
}

