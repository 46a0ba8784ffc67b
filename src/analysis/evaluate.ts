import { evaluateCall, runCallbacks } from './calls.js';
import { pushSettled } from './chains.js';
import type { CallFact, Expression } from './facts.js';
import { memberValue, methodOf, moduleValue } from './members.js';
import { classKey, handOver, MODULE, type Frame, type Machine } from './machine.js';
import { instanceOf, typeValue } from './typing.js';
import { alternatives, externalOf, OF_THE_LANGUAGE, truthOf, UNDEFINED, union, UNKNOWN, type Value } from './values.js';

/** What an expression yields; its effects are added to the frame in the order in which they happen. */
export function evaluate(machine: Machine, frame: Frame, e: Expression): Value {
  switch (e.kind) {
    case 'name': return nameValue(machine, frame, e.name);
    case 'this': return frame.self;
    case 'super': return frame.self;
    case 'number': return UNKNOWN;
    case 'string': return { kind: 'string', value: e.value };
    case 'template': return templateValue(machine, frame, e);
    case 'member': return memberExpression(machine, frame, e);
    case 'index': return indexValue(machine, frame, e);
    case 'call': return evaluateCall(machine, frame, e);
    case 'new': return newValue(machine, frame, e);
    case 'object': return objectValue(machine, frame, e);
    case 'array': return { kind: 'array', items: e.items.map((item) => spreadItem(evaluate(machine, frame, item))) };
    case 'function': return { kind: 'function', file: frame.file, id: e.id, self: frame.self, scope: frame.ref.name === MODULE ? null : frame.scope };
    case 'class': return { kind: 'class', ref: { file: frame.file, id: e.id } };
    case 'spread': return evaluate(machine, frame, e.of);
    case 'await': {
      const value = evaluate(machine, frame, e.of);
      pushSettled(frame, e.of);
      return value;
    }
    case 'choice': return choiceValue(machine, frame, e);
    case 'assign': return assign(machine, frame, e);
    case 'cast': {
      const value = evaluate(machine, frame, e.of);
      const type = typeValue(machine, frame.file, e.type);
      return value.kind === 'unknown' || value.kind === 'undefined' ? type : value;
    }
    case 'other':
      for (const part of e.parts) evaluate(machine, frame, part);
      return UNKNOWN;
  }
}

function spreadItem(value: Value): Value {
  return value.kind === 'array' ? union(...value.items) : value;
}

/** A name: a local, then the module, then nothing. */
export function nameValue(machine: Machine, frame: Frame, name: string): Value {
  for (let scope: Frame['scope'] | null = frame.scope; scope !== null; scope = scope.parent) {
    const value = scope.names.get(name);
    if (value !== undefined) return value;
  }
  return name === 'undefined' ? UNDEFINED : moduleValue(machine, frame.file, name);
}

function templateValue(machine: Machine, frame: Frame, e: Extract<Expression, { kind: 'template' }>): Value {
  const parts = e.parts.map((part) => evaluate(machine, frame, part));
  const text = parts.map((part) => (part.kind === 'string' ? part.value : part.kind === 'template' ? part.text : '${}')).join('');
  return parts.every((part) => part.kind === 'string') ? { kind: 'string', value: text } : { kind: 'template', text };
}

function memberExpression(machine: Machine, frame: Frame, e: Extract<Expression, { kind: 'member' }>): Value {
  if (e.object.kind === 'super') return superMember(machine, frame, e.name);
  const object = evaluate(machine, frame, e.object);
  if (object.kind !== 'union') return memberValue(machine, frame, object, e.name);
  return union(...object.of.map((value) => memberValue(machine, frame, value, e.name)));
}

function superMember(machine: Machine, frame: Frame, name: string): Value {
  const base = frame.classRef === null ? null : machine.program.baseOf(frame.classRef);
  if (base?.kind !== 'class') return UNKNOWN;
  const method = methodOf(machine, base, name);
  return method === null ? UNKNOWN : { kind: 'function', ...method, self: frame.self, scope: null };
}

function indexValue(machine: Machine, frame: Frame, e: Extract<Expression, { kind: 'index' }>): Value {
  const object = evaluate(machine, frame, e.object);
  const index = evaluate(machine, frame, e.index);
  if (object.kind === 'array') return union(...object.items);
  if (object.kind !== 'object') return UNKNOWN;
  return index.kind === 'string' ? (object.fields.get(index.value) ?? UNKNOWN) : union(...object.fields.values());
}

function newValue(machine: Machine, frame: Frame, e: Extract<Expression, { kind: 'new' }>): Value {
  const callee = evaluate(machine, frame, e.callee);
  const args = e.args.map((arg) => evaluate(machine, frame, arg));
  if (e.callee.kind === 'name' && e.callee.name === 'Promise' && callee.kind === 'unknown') {
    // The executor runs at once, as part of the function around it.
    const fact: CallFact = { ...e, kind: 'call', typeArgs: [], awaited: true, waited: true, discarded: false, kept: null, tagged: false };
    runCallbacks(machine, frame, { fact, args, receiver: null, method: null }, []);
    return UNKNOWN;
  }
  handOver(machine, args);
  return union(...alternatives(callee).map((value): Value => {
    if (value.kind === 'class') return instanceOf(value.ref);
    if (value.kind === 'symbol') return externalOf(machine.catalog.canonical(`${value.module}:${value.name}`));
    return e.callee.kind === 'name' && value.kind === 'unknown' && machine.program.lookup(frame.file, e.callee.name) === null ? OF_THE_LANGUAGE : UNKNOWN;
  }));
}

function objectValue(machine: Machine, frame: Frame, e: Extract<Expression, { kind: 'object' }>): Value {
  const fields = new Map<string, Value>();
  for (const property of e.properties) {
    const value = evaluate(machine, frame, property.value);
    if (property.name !== null) fields.set(property.name, value);
    else if (value.kind === 'object') for (const [name, field] of value.fields) fields.set(name, field);
  }
  return { kind: 'object', fields, id: `${frame.file}:${e.start}` };
}

function choiceValue(machine: Machine, frame: Frame, e: Extract<Expression, { kind: 'choice' }>): Value {
  const first = evaluate(machine, frame, e.first);
  const truth = truthOf(first);
  if (e.yieldsFirst) { // `first || other`, `first ?? other`
    if (truth === true) return first;
    const [other] = e.arms as [Expression];
    return truth === false ? evaluate(machine, frame, other) : union(first, branch(machine, frame, [other], true));
  }
  if (e.arms.length === 1) return truth === false ? first : branch(machine, frame, e.arms, truth !== true);
  if (truth !== null) return evaluate(machine, frame, e.arms[truth ? 0 : 1] as Expression);
  return branch(machine, frame, e.arms, false);
}

/** Evaluates expressions of which one runs, or perhaps none. */
function branch(machine: Machine, frame: Frame, arms: readonly Expression[], orNone: boolean): Value {
  const outer = frame.nodes;
  const bodies = arms.map((arm) => {
    frame.nodes = [];
    const value = evaluate(machine, frame, arm);
    return { value, nodes: frame.nodes };
  });
  frame.nodes = outer;
  if (bodies.some((body) => body.nodes.length > 0)) {
    frame.nodes.push({ kind: 'choice', arms: [...bodies.map((body) => body.nodes), ...(orNone ? [[]] : [])] });
  }
  return union(...bodies.map((body) => body.value));
}

function assign(machine: Machine, frame: Frame, e: Extract<Expression, { kind: 'assign' }>): Value {
  const value = evaluate(machine, frame, e.value);
  if (e.target.kind === 'name') assignName(machine, frame, e.target.name, value);
  else if (e.target.kind === 'member') {
    const object = evaluate(machine, frame, e.target.object);
    if (object.kind === 'object') object.fields.set(e.target.name, value);
    else if (object.kind === 'instance') noteAssigned(machine, `${classKey(object.ref)}.${e.target.name}`, value);
  } else evaluate(machine, frame, e.target);
  return value;
}

function assignName(machine: Machine, frame: Frame, name: string, value: Value): void {
  for (let scope: Frame['scope'] | null = frame.scope; scope !== null; scope = scope.parent) {
    const known = scope.names.get(name);
    if (known === undefined) continue;
    scope.names.set(name, known.kind === 'undefined' ? value : union(known, value));
    return;
  }
  noteAssigned(machine, `${frame.file}#${name}`, value);
}

/** A variable of a module, or a field, was given a value. */
function noteAssigned(machine: Machine, key: string, value: Value): void {
  if (value.kind !== 'unknown' && value.kind !== 'undefined') machine.assigned.set(key, union(machine.assigned.get(key) ?? UNKNOWN, value));
}

