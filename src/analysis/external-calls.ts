import type { ArgumentPath, PublishMatcher, TransactionMatcher, WriteMatcher } from '../adapters/adapter.js';
import type { PublishRoute, Receiver } from '../core/finding.js';
import { runCallbacks, runInPlace, type Call } from './calls.js';
import type { TransactionRef, WriteEffect } from './effects.js';
import { entityValue } from './entities.js';
import { noteDoubt, noteUnknownSql } from './doubts.js';
import type { Expression } from './facts.js';
import { handOver, pushAwaited, spanKey, spanOf, transactionAt, type Frame, type Machine } from './machine.js';
import { unknownOf, yieldValue } from './members.js';
import { messageExpression, parameterBehind, parameterValue, passedParameter } from './messages.js';
import { ambientScope } from './propagation.js';
import { collect } from './steps.js';
import { alternatives, externalOf, NO_TRANSACTION, union, UNKNOWN, type ExternalValue, type FunctionValue, type Value } from './values.js';

/** SQL that changes rows, alone, in a CTE, or after a comment. */
const DML = /\b(insert\s+(?:ignore\s+)?into|update\s+(?:only\s+)?[^\s;]+\s+(?:(?:as\s+)?\w+\s+)?set|delete\s+from|merge\s+into|replace\s+into|truncate\s+(?:table\s+)?[\w"`.$])/i;

/** SQL that runs code of which it doesn't tell what it does. */
const PROCEDURE = /^\s*(?:\/\*[^]*?\*\/\s*)?(?:call|do|exec(?:ute)?)\b/i;

/** Calls a method of a type of a package. */
export function callExternal(machine: Machine, frame: Frame, receiver: ExternalValue, call: Call): Value {
  const type = `${receiver.module}:${receiver.type}`;
  const method = call.method as string;
  if (callWrapper(machine, frame, receiver.module, `${receiver.type}.${method}`, call)) return UNKNOWN;
  const transaction = machine.catalog.transaction(type, method);
  if (transaction !== undefined) return callTransaction(machine, frame, transaction, receiver, call);
  const effect = machine.catalog.effect(type, method);
  if (effect !== undefined) {
    const { matcher } = effect;
    if ('bus' in matcher) pushPublish(machine, frame, matcher, receiver, call);
    else return pushWrite(machine, frame, matcher, effect.adapter, receiver, call);
    return UNKNOWN;
  }
  const subscriber = machine.catalog.subscriberCall(type, method);
  if (subscriber !== undefined) {
    for (const fn of alternatives(call.args[subscriber.callback] ?? UNKNOWN)) if (fn.kind === 'function') noteSubscriber(machine, frame, fn, subscriber.bus, textOf(call, subscriber.destination), call);
    return UNKNOWN;
  }
  if (frame.tries > 0 && call.fact.awaited) frame.nodes.push({ kind: 'risk' });
  if (machine.catalog.isForeign(receiver.module)) noteDoubt(machine, frame, call, receiver.module);
  return memberResult(machine, frame, receiver, call);
}

/** `save(order)` gives the order back. */
function writtenValue(call: Call, write: WriteEffect): Value {
  const last = call.args.at(-1) ?? UNKNOWN;
  return { kind: 'written', write, of: call.method === 'save' && (last.kind === 'instance' || last.kind === 'array') ? last : UNKNOWN };
}

function memberResult(machine: Machine, frame: Frame, receiver: ExternalValue, call: Call): Value {
  const shape = machine.catalog.type(`${receiver.module}:${receiver.type}`);
  const method = call.method as string;
  const target = shape?.targetOf?.includes(method) === true ? (nameOfTarget(machine, call.args[0]) ?? receiver.target) : receiver.target;
  const carried: ExternalValue = { ...receiver, target };
  const yields = shape?.members[`${method}()`];
  if (shape !== undefined && shape.extendedBy === method) return { ...carried, extra: extraOf(call.args[0]) };
  if (yields === 'entity') return call.args[0]?.kind === 'array' ? { kind: 'array', items: [entityValue(machine, frame, receiver, undefined)] } : entityValue(machine, frame, receiver, undefined);
  if (yields !== undefined) {
    const value = yieldValue(yields, carried, call.args);
    if (value.kind !== 'external' || shape?.identityOf?.includes(method) !== true) return value;
    const site = { style: 'query-runner' as const, span: spanOf(frame.file, call.fact), function: frame.home.name };
    return { ...value, transaction: { kind: 'runner', transaction: transactionAt(machine, site, null) } };
  }
  if (HANDLERS.has(method)) handOver(machine, call.args);
  const result = HANDLERS.has(method) ? UNKNOWN : runCallbacks(machine, frame, call, []);
  if (shape?.fluent === true) return carried;
  return result.kind === 'unknown' ? unknownOf(machine, receiver.module) : result;
}

const HANDLERS = new Set(['on', 'once', 'addListener', 'addEventListener']);

function extraOf(value: Value | undefined): ReadonlyMap<string, Value> | null {
  return value?.kind === 'object' ? value.fields : null;
}

/** Calls a function that a package exports. */
export function callSymbol(machine: Machine, frame: Frame, module: string, name: string, call: Call): Value {
  const whole = `${module}:${name}`;
  const isWrapper = callWrapper(machine, frame, module, name, call);
  const transaction = machine.catalog.transaction(`${module}:*`, name);
  if (transaction !== undefined) return callTransaction(machine, frame, transaction, externalOf(whole), call);
  const effect = machine.catalog.effect(`${module}:*`, name);
  if (effect !== undefined && (effect.matcher.effect === 'publish' || effect.matcher.effect === 'request')) {
    pushPublish(machine, frame, effect.matcher, externalOf(whole), call);
    return UNKNOWN;
  }
  if (frame.tries > 0 && call.fact.awaited) frame.nodes.push({ kind: 'risk' });
  if (!isWrapper && machine.catalog.isForeign(module)) noteDoubt(machine, frame, call, module);
  const yields = machine.catalog.result(whole);
  const dot = name.lastIndexOf('.');
  // `Class.method(…)`: a static of an external class that is itself a described type, as `DataSource` in TypeORM's active record.
  if (yields === undefined && dot > 0 && machine.catalog.effect(`${module}:${name.slice(0, dot)}`, name.slice(dot + 1)) !== undefined) {
    return callExternal(machine, frame, externalOf(`${module}:${name.slice(0, dot)}`), { ...call, method: name.slice(dot + 1) });
  }
  const value = runCallbacks(machine, frame, call, []);
  if (yields === undefined) return value.kind === 'unknown' ? unknownOf(machine, module) : value;
  const result = yieldValue(yields, null, call.args);
  return result.kind === 'external' ? { ...result, target: nameOfTarget(machine, call.args[0]) } : result;
}

/** Calls a function or method of a package that the configuration names as a wrapper; false: it names none. */
function callWrapper(machine: Machine, frame: Frame, module: string, name: string, call: Call): boolean {
  const special = machine.specialExternal(module, name);
  if (special?.kind === 'publish') pushWrapperPublish(machine, frame, special.transport, name, call);
  else if (special?.kind === 'write') pushWrapperWrite(frame, name, call);
  return special !== undefined;
}

function callTransaction(machine: Machine, frame: Frame, matcher: TransactionMatcher, receiver: ExternalValue, call: Call): Value {
  const span = spanOf(frame.file, call.fact);
  const callback = [...call.args].reverse().flatMap(alternatives).find((arg): arg is FunctionValue => arg.kind === 'function');
  const run = (values: readonly Value[]): Value => (callback === undefined ? UNKNOWN : runInPlace(machine, frame, callback, call, values));
  if (matcher.style === 'after-commit') {
    const body = collect(frame, () => run([]));
    frame.nodes.push({ kind: 'deferred', body });
    return UNKNOWN;
  }
  if (matcher.style === 'imperative') {
    const kind = call.method === matcher.open ? 'open' : call.method === matcher.commit ? 'commit' : 'rollback';
    const declared = transactionAt(machine, { style: 'query-runner', span: { file: frame.file, start: 0, end: 0 }, function: frame.home.name }, null);
    frame.nodes.push({ kind, transaction: 'transaction' in receiver.transaction ? receiver.transaction.transaction : declared, span, line: call.fact.line });
    return UNKNOWN;
  }
  if (matcher.style === 'decorator') return UNKNOWN;
  const outer = receiver.transaction.kind === 'handle' ? receiver.transaction.transaction : null;
  const site = { style: matcher.style === 'callback' ? 'callback' as const : 'ambient' as const, span, function: frame.home.name };
  const transaction = outer ?? transactionAt(machine, site, null);
  const ref: TransactionRef = { kind: 'handle', transaction };
  let value: Value = UNKNOWN;
  const body = collect(frame, () => {
    value = run(matcher.style === 'callback' ? [externalOf(matcher.handle, { transaction: ref })] : []);
  });
  if (outer !== null) frame.nodes.push(...body); // a savepoint commits nothing by itself
  else if (matcher.style === 'callback') pushAwaited(frame, call.fact, { kind: 'scope', transaction, ambient: 'no', body, line: call.fact.line });
  else for (const node of ambientScope({ kind: 'scope', transaction, ambient: matcher.joins, body, line: call.fact.line }, call.args)) pushAwaited(frame, call.fact, node);
  return value;
}

function pushWrite(machine: Machine, frame: Frame, matcher: WriteMatcher, orm: string, receiver: ExternalValue, call: Call): Value {
  if (matcher.effect === 'read') {
    frame.reads = true;
    const isMany = matcher.many?.includes(call.method as string) === true;
    if (!isMany && matcher.one?.includes(call.method as string) !== true) return UNKNOWN;
    const entity = entityValue(machine, frame, receiver, call.args[0]);
    return isMany ? { kind: 'array', items: [union(externalOf('database:Row', { target: receiver.target, isUncertain: true }), entity)] } : entity;
  }
  if (matcher.sql !== undefined) {
    const sql = textOf(call, [matcher.sql]);
    if (sql === null || /^\s*\$\{\}/.test(sql) || PROCEDURE.test(sql)) noteUnknownSql(frame, call);
    if (sql === null || !DML.test(sql)) {
      frame.reads = true;
      return UNKNOWN;
    }
  }
  const target = matcher.target === undefined ? null : targetOf(machine, argument(call, matcher.target));
  const write: WriteEffect = {
    kind: 'write', span: spanOf(frame.file, call.fact), line: call.fact.line, awaited: call.fact.awaited, orm, operation: call.method as string,
    target: receiver.target ?? target, receiver: receiverOf(frame, receiver, call), transaction: receiver.transaction, isHandedIn: receiver.isUncertain,
  };
  pushAwaited(frame, call.fact, write);
  return writtenValue(call, write);
}

function receiverOf(frame: Frame, receiver: ExternalValue, call: Call): Receiver | null {
  return call.receiver === null ? null : { span: spanOf(frame.file, call.receiver), module: receiver.module, type: receiver.type };
}

function targetOf(machine: Machine, value: Value): string | null {
  const first = value.kind === 'array' ? (value.items[0] ?? UNKNOWN) : value;
  if (first.kind === 'class' || first.kind === 'instance') return machine.program.classFact(first.ref).name;
  return first.kind === 'external' ? first.target : null;
}

function nameOfTarget(machine: Machine, value: Value | undefined): string | null {
  if (value?.kind === 'class') return machine.program.classFact(value.ref).name;
  if (value?.kind === 'symbol') return value.name;
  return value?.kind === 'string' ? value.value : null;
}

function pushPublish(machine: Machine, frame: Frame, matcher: PublishMatcher, receiver: ExternalValue, call: Call): void {
  const body = expressionAt(call, matcher.message);
  const parameter = body === null ? null : parameterBehind(frame.scope, body);
  const value = argument(call, matcher.message);
  const passed = parameterValue(frame.scope, parameter);
  const destination = textOf(call, matcher.destination) ?? className(machine, value) ?? (passed === null ? null : className(machine, passed));
  frame.nodes.push({
    kind: 'publish', span: spanOf(frame.file, call.fact), line: call.fact.line, awaited: call.fact.awaited, bus: matcher.bus, transport: matcher.transport,
    destination, route: routeOf(matcher, receiver, call), isRequest: matcher.effect === 'request' && !call.fact.discarded, isCommand: matcher.effect === 'request' && call.fact.discarded,
    message: body === null ? null : messageExpression(frame.file, frame.scope, body),
    messageParameter: body === null ? null : passedParameter(machine.program, frame.file, frame.scope, body),
    event: eventOf(value) ?? (passed === null ? null : eventOf(passed)),
  });
}

function pushWrapperPublish(machine: Machine, frame: Frame, transport: 'broker' | 'in-process' | 'same-database', name: string, call: Call): void {
  const body = call.fact.args.at(-1) ?? null;
  const [first] = call.args;
  frame.nodes.push({
    kind: 'publish', span: spanOf(frame.file, call.fact), line: call.fact.line, awaited: call.fact.awaited, bus: name, transport, isRequest: false, isCommand: false,
    destination: first?.kind === 'string' ? first.value : null, route: UNKNOWN_ROUTE,
    message: body === null ? null : messageExpression(frame.file, frame.scope, body),
    messageParameter: body === null ? null : passedParameter(machine.program, frame.file, frame.scope, body), event: eventOf(call.args.at(-1) ?? UNKNOWN),
  });
}

function pushWrapperWrite(frame: Frame, name: string, call: Call): void {
  frame.nodes.push({
    kind: 'write', span: spanOf(frame.file, call.fact), line: call.fact.line, awaited: call.fact.awaited, orm: 'configured', operation: name, target: null,
    receiver: null, transaction: NO_TRANSACTION, isHandedIn: false,
  });
}

/** Effects of wrappers that the configuration names, when they are functions of the project. */
export const configured = { publish: pushWrapperPublish, write: pushWrapperWrite };

const UNKNOWN_ROUTE: PublishRoute = { transport: 'unknown', client: null, pattern: null, exchange: null, routingKey: null, queue: null };

function routeOf(matcher: PublishMatcher, receiver: ExternalValue, call: Call): PublishRoute {
  const { route } = matcher;
  if (route === undefined) return UNKNOWN_ROUTE;
  const text = (path: ArgumentPath): string | null => {
    const value = argument(call, path);
    return value.kind === 'string' ? value.value : null;
  };
  if (route.transport === 'nest') return { ...UNKNOWN_ROUTE, transport: 'nest', client: receiver.token, pattern: text(route.pattern) };
  if ('queue' in route) return { ...UNKNOWN_ROUTE, transport: 'amqp', queue: text(route.queue) };
  return { ...UNKNOWN_ROUTE, transport: 'amqp', exchange: text(route.exchange), routingKey: text(route.routingKey) };
}

function className(machine: Machine, value: Value): string | null {
  const inner = value.kind === 'event' ? value.of : value;
  return inner.kind === 'instance' ? machine.program.classFact(inner.ref).name : null;
}

/** Identity of the integration event among the possibilities of a value. */
export function eventOf(value: Value): string | null {
  for (const each of alternatives(value)) {
    if (each.kind === 'event') return each.id;
    if (each.kind === 'array') {
      const inner = each.items.map(eventOf).find((id) => id !== null);
      if (inner != null) return inner;
    }
  }
  return null;
}

function argument(call: Call, path: ArgumentPath): Value {
  if (typeof path === 'number') return call.args[path] ?? UNKNOWN;
  const object = call.args[path.argument];
  return object?.kind === 'object' ? (object.fields.get(path.property) ?? UNKNOWN) : UNKNOWN;
}

function expressionAt(call: Call, path: ArgumentPath): Expression | null {
  if (typeof path === 'number') return call.fact.args[path] ?? null;
  const object = call.fact.args[path.argument];
  return object?.kind === 'object' ? (object.properties.find((p) => p.name === path.property)?.value ?? null) : null;
}

/** First argument that is a text with something in it. */
function textOf(call: Call, paths: readonly ArgumentPath[]): string | null {
  for (const path of paths) {
    for (const value of alternatives(argument(call, path))) {
      const text = value.kind === 'string' ? value.value : value.kind === 'template' ? value.text : null;
      if (text !== null && text !== '' && text !== '${}') return text;
    }
  }
  return null;
}

function noteSubscriber(machine: Machine, frame: Frame, value: FunctionValue, bus: string, destination: string | null, call: Call): void {
  const fact = machine.program.functionFact(value.file, value.id);
  machine.subscribers.set(spanKey(spanOf(value.file, fact)), { value, bus, destination, span: spanOf(frame.file, call.fact), line: call.fact.line });
}
