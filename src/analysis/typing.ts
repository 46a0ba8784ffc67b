import { external, OF_THE_LANGUAGE, UNKNOWN, union, type ExternalValue, type Value } from './values.js';
import { MODULE, transactionAt, type Machine } from './machine.js';
import { symbolKey, type ClassRef, type Symbol } from './program.js';
import type { TypeFact } from './facts.js';

/** Types that are seen through to their first argument. */
const TRANSPARENT = new Set(['Promise', 'PromiseLike', 'Awaited', 'Readonly', 'Required', 'Partial', 'NonNullable', 'Omit', 'Pick', 'Observable', 'Ref', 'Type']);
const COLLECTIONS = new Set(['Array', 'ReadonlyArray', 'Set', 'Iterable', 'AsyncIterable']);
/** Classes of the language and of Node. */
const LANGUAGE = new Set(['Map', 'WeakMap', 'WeakSet', 'Date', 'RegExp', 'Error', 'Buffer', 'URL', 'URLSearchParams', 'FormData', 'Headers', 'Request', 'Response', 'AbortController']);
const DEEPEST = 6;

/** The value that a declared type promises; `token` narrows an injected one. */
export function typeValue(machine: Machine, file: string, type: TypeFact | null, depth = 0): Value {
  if (type === null || depth > DEEPEST) return UNKNOWN;
  const inner = (of: TypeFact | undefined): Value => (of === undefined ? UNKNOWN : typeValue(machine, file, of, depth + 1));
  switch (type.kind) {
    case 'union': return union(...type.args.map(inner));
    case 'array': return { kind: 'array', items: [inner(type.args[0])] };
    case 'object': return objectType(machine, file, type, depth);
    case 'typeof': return symbolValue(machine.program.lookup(file, type.name));
    case 'other': return UNKNOWN;
    case 'reference': break;
  }
  const symbol = machine.program.lookup(file, type.name);
  if (symbol === null || (symbol.kind === 'external' && symbol.module === 'rxjs')) {
    if (TRANSPARENT.has(type.name)) return inner(type.args[0]);
    if (COLLECTIONS.has(type.name)) return { kind: 'array', items: [inner(type.args[0])] };
    return LANGUAGE.has(type.name) ? OF_THE_LANGUAGE : UNKNOWN;
  }
  return namedType(machine, symbol, type, depth, file);
}

function namedType(machine: Machine, symbol: Symbol, type: TypeFact, depth: number, file: string): Value {
  switch (symbol.kind) {
    case 'external': return withDeclaredRunner(machine, file, externalType(machine, symbol.module, symbol.name, targetName(machine, file, type.args[0])));
    case 'alias': {
      const alias = machine.program.facts(symbol.file).aliases.find((candidate) => candidate.name === symbol.name);
      return typeValue(machine, symbol.file, alias?.type ?? null, depth + 1);
    }
    case 'class': return instancesOf(machine, symbol);
    case 'interface': return interfaceValue(machine, symbol, depth);
    case 'enum': return UNKNOWN;
    default: return symbolValue(symbol);
  }
}

function interfaceValue(machine: Machine, symbol: Extract<Symbol, { kind: 'interface' | 'alias' | 'enum' | 'variable' }>, depth: number): Value {
  const implemented = instancesOf(machine, symbol);
  if (implemented.kind !== 'unknown') return implemented;
  const fact = machine.program.interfaceFact(symbol.file, symbol.name);
  const bases = (fact?.bases ?? []).map((base) => typeValue(machine, symbol.file, base, depth + 1));
  if (bases.some((base) => base.kind !== 'unknown')) return union(...bases);
  return fact === undefined ? UNKNOWN : objectType(machine, symbol.file, { kind: 'object', name: symbol.name, args: [], members: fact.members }, depth);
}

function objectType(machine: Machine, file: string, type: TypeFact, depth: number): Value {
  const fields = new Map<string, Value>();
  for (const member of type.members ?? []) {
    const value = member.isMethod ? UNKNOWN : typeValue(machine, file, member.type, depth + 1);
    if (value.kind !== 'unknown') fields.set(member.name, value);
  }
  return fields.size === 0 ? UNKNOWN : { kind: 'object', fields, id: `${file}:${type.name}:type` };
}

/** Instance of an external type under its canonical name. */
export function externalType(machine: Machine, module: string, name: string, target: string | null = null): ExternalValue {
  const canonical = machine.catalog.canonical(`${module}:${name}`);
  const colon = canonical.lastIndexOf(':');
  return external(canonical.slice(0, colon), canonical.slice(colon + 1), { target });
}

/** A query runner that is only declared: within a file, all of them count as the same. */
function withDeclaredRunner(machine: Machine, file: string, value: ExternalValue): ExternalValue {
  if (!machine.catalog.opensByCall(`${value.module}:${value.type}`)) return value;
  return { ...value, transaction: { kind: 'runner', transaction: transactionAt(machine, { style: 'query-runner', span: { file, start: 0, end: 0 }, function: MODULE }, null) } };
}

function targetName(machine: Machine, file: string, type: TypeFact | undefined): string | null {
  if (type?.kind !== 'reference') return null;
  const symbol = machine.program.lookup(file, type.name);
  if (symbol?.kind === 'class') return machine.program.classFact(symbol).name;
  return symbol === null ? null : (type.name.split('.').at(-1) ?? null);
}

/** Instances that a class or interface type may hold: the class itself when it is concrete, else what implements it. */
export function instancesOf(machine: Machine, symbol: Symbol): Value {
  const key = symbolKey(symbol);
  const known = machine.instances.get(key);
  if (known !== undefined) return known;
  const value = findInstances(machine, symbol);
  machine.instances.set(key, value);
  return value;
}

function findInstances(machine: Machine, symbol: Symbol): Value {
  const all = machine.program.concreteClasses(symbol);
  const own = symbol.kind === 'class' ? all.filter((ref) => ref.file === symbol.file && ref.id === symbol.id) : [];
  const chosen = own.length > 0 ? own : all;
  return union(...chosen.slice(0, 12).map((ref) => instanceOf(ref, chosen.length > 1)));
}

export function instanceOf(ref: ClassRef, isGuess = false): Value {
  return { kind: 'instance', ref, transaction: { kind: 'none' }, token: null, isGuess };
}

/** A symbol used as a value. Variables are evaluated by the caller. */
export function symbolValue(symbol: Symbol | null): Value {
  switch (symbol?.kind) {
    case 'class': return { kind: 'class', ref: symbol };
    case 'function': return { kind: 'function', file: symbol.file, id: symbol.id, self: UNKNOWN, scope: null };
    case 'namespace': return { kind: 'namespace', file: symbol.file };
    case 'enum': return { kind: 'enum', file: symbol.file, name: symbol.name };
    case 'external': return { kind: 'symbol', module: symbol.module, name: symbol.name };
    default: return UNKNOWN;
  }
}
