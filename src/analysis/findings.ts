import { createHash } from 'node:crypto';
import type { Entry, Finding, FunctionRef, Handler, MessageExpression, Publish, PublishRoute, Write } from '../core/finding.js';
import type { CallSite } from '../core/place.js';
import type { CallNode, PublishEffect } from './effects.js';
import type { Occurrence } from './path-state.js';
import type { Pair, Walk } from './walk.js';
import { witnessOf, type Source } from './witness.js';

/** An entry of the project and what a run of it does. */
export interface EntryWalk {
  readonly ref: FunctionRef;
  readonly entry: Entry;
  readonly walk: Walk;
}

/** What several entries, or several classes, do with one publish of one handler. */
interface Group {
  readonly entry: EntryWalk;
  readonly publish: Occurrence<PublishEffect>;
  /** The publish as each run saw it: where it goes may differ. */
  readonly effects: PublishEffect[];
  readonly depth: number;
  readonly pairs: Pair[];
}

/** Findings of all entries: one for each handler and publish, whatever the number of entries that reach it. */
export function findingsOf(entries: readonly EntryWalk[], source: Source): Finding[] {
  const groups = new Map<string, Group>();
  for (const entry of entries) {
    const pairsOf = groupPairs(entry.walk.pairs);
    for (const publish of entry.walk.publishes) {
      if (publish.effect.isRequest) continue;
      const own = (pairsOf.get(publish) ?? []).filter(isOneOperation);
      if (own.length === 0) continue;
      const depth = Math.max(...own.map(meetingDepth));
      const pairs = own.filter((pair) => meetingDepth(pair) === depth);
      const key = groupKey(entry, publish, depth);
      const known = groups.get(key);
      if (known === undefined) groups.set(key, { entry, publish, effects: [publish.effect], depth, pairs });
      else {
        known.pairs.push(...pairs);
        known.effects.push(publish.effect);
      }
    }
  }
  const ordinals = new Map<string, number>();
  return [...groups.values()].map((group) => toFinding(group, source, ordinals))
    .sort((a, b) => compare(a.handler.file, b.handler.file) || a.handler.line - b.handler.line || a.publish.line - b.publish.line || compare(a.id, b.id));
}

function groupPairs(pairs: readonly Pair[]): Map<Occurrence<PublishEffect>, Pair[]> {
  const groups = new Map<Occurrence<PublishEffect>, Pair[]>();
  for (const pair of pairs) {
    const known = groups.get(pair.publish);
    if (known === undefined) groups.set(pair.publish, [pair]);
    else known.push(pair);
  }
  return groups;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A write that comes after the publish and this many calls below the handler belongs to a later step, such as a lookup that keeps its own books. */
const LATER_STEP = 4;

function isOneOperation(pair: Pair): boolean {
  return pair.order !== 'after' || pair.write.stack.length - meetingDepth(pair) <= LATER_STEP;
}

/** How many calls the way to the write and the way to the publish have in common. */
function meetingDepth({ write, publish }: Pair): number {
  let depth = 0;
  while (depth < write.stack.length && depth < publish.stack.length && write.stack[depth] === publish.stack[depth]) depth += 1;
  return depth;
}

function groupKey(entry: EntryWalk, publish: Occurrence<PublishEffect>, depth: number): string {
  const handler = handlerAt(entry, publish.stack, depth).span;
  const places = [handler, ...publish.stack.slice(depth).map((call) => call.span), publish.effect.span];
  return places.map((span) => `${span.file}:${span.start}`).join('>');
}

/** The function at a depth of a stack: the entry, or the home of the call there. */
export function handlerAt(entry: EntryWalk, stack: readonly CallNode[], depth: number): Handler {
  const call = depth === 0 ? undefined : stack[depth - 1];
  const ref = call === undefined ? entry.ref : call.home;
  return { file: ref.file, line: ref.line, name: ref.name, entry: entry.entry, span: ref.span };
}

function toFinding({ entry, publish, effects, depth, pairs }: Group, source: Source, ordinals: Map<string, number>): Finding {
  const handler = handlerAt(entry, publish.stack, depth);
  const isLost = pairs.some((pair) => pair.order === 'committed');
  const decisive = pairs.filter((pair) => (pair.order === 'committed') === isLost);
  const writes = uniqueWrites(pairs, depth);
  const out = toPublish(publish, effects, depth);
  const stage = isLost && isStored(entry.walk, publish, decisive) ? 'dual-publish' as const : 'legacy' as const;
  const calls = publish.stack.slice(depth);
  const isGuess = [...calls, ...decisive.flatMap((pair) => pair.write.stack.slice(depth))].some((call) => call.isGuess) || decisive.every((pair) => pair.write.effect.isHandedIn);
  return {
    id: fingerprint(handler, out, ordinals), kind: isLost ? 'lost-event' : 'phantom-event', handler, publish: out, writes, stage,
    severity: stage === 'legacy' && publish.effect.transport === 'broker' ? 'error' : 'warning',
    confidence: publish.effect.transport === 'unknown' ? 'low' : isGuess ? 'medium' : 'high',
    witness: witnessOf(handler, decisive[isLost ? decisive.length - 1 : 0] as Pair, depth, source)
      .map((step) => (stage === 'dual-publish' && step.role === 'crash' ? { ...step, text: 'a crash here loses nothing: the event is in the outbox' } : step)),
  };
}

/** The same event is stored in the transaction of the write. */
function isStored(walk: Walk, publish: Occurrence<PublishEffect>, pairs: readonly Pair[]): boolean {
  return publish.effect.event !== null && walk.stores.some((store) => store.effect.event === publish.effect.event && store.transaction !== null
    && pairs.some((pair) => pair.write.transaction === store.transaction));
}

function uniqueWrites(pairs: readonly Pair[], depth: number): Write[] {
  const byPlace = new Map<string, Write>();
  for (const { write, order } of pairs) {
    const { effect } = write;
    const path = pathOf(write.stack, depth);
    // One entry for each write and the call in the handler that leads to it, whatever lies between.
    const key = [path[0]?.span, effect.span].map((span) => (span === undefined ? '' : `${span.file}:${span.start}`)).join('>');
    const known = byPlace.get(key);
    // Where runs differ, what decides the finding.
    if (known !== undefined && (known.order === 'committed' || order !== 'committed') && known.path.length <= path.length) continue;
    byPlace.set(key, {
      file: effect.span.file, line: effect.line, orm: effect.orm, operation: effect.operation, target: effect.target, path, span: effect.span,
      receiver: effect.receiver, transaction: write.transaction?.site ?? null, order,
    });
  }
  return [...byPlace.values()];
}

function pathOf(stack: readonly CallNode[], depth: number): CallSite[] {
  return stack.slice(depth).map((call) => ({ file: call.span.file, line: call.line, function: call.caller.name, span: call.span }));
}

function toPublish({ effect, stack }: Occurrence<PublishEffect>, effects: readonly PublishEffect[], depth: number): Publish {
  const calls = stack.slice(depth);
  return {
    file: effect.span.file, line: effect.line, bus: effect.bus, transport: effect.transport, destination: same(effects, (each) => each.destination),
    awaited: effect.awaited && calls.every((call) => !call.detached), path: pathOf(stack, depth), span: effect.span,
    message: messageInHandler(effect, calls), route: commonRoute(effects), isCommand: effect.isCommand,
  };
}

/** What all runs agree on; null where they differ. */
function same(effects: readonly PublishEffect[], read: (effect: PublishEffect) => string | null): string | null {
  const [first, ...others] = effects.map(read);
  return first !== undefined && others.every((value) => value === first) ? first : null;
}

function commonRoute(effects: readonly PublishEffect[]): PublishRoute {
  const read = (field: Exclude<keyof PublishRoute, 'transport'>): string | null => same(effects, ({ route }) => route[field]);
  const [first] = effects as [PublishEffect];
  return { transport: first.route.transport, client: read('client'), pattern: read('pattern'), exchange: read('exchange'), routingKey: read('routingKey'), queue: read('queue') };
}

/** The message, as the handler writes it: followed from the publish up through parameters. */
function messageInHandler(effect: PublishEffect, calls: readonly CallNode[]): MessageExpression | null {
  let { message, messageParameter: parameter } = effect;
  for (const call of [...calls].reverse()) {
    const argument = parameter === null ? undefined : call.args[parameter];
    if (argument === undefined) return null;
    message = { span: argument.span, encoding: 'plain' };
    parameter = argument.parameter;
  }
  return message;
}

/** Stable over edits that leave the names alone; an ordinal tells equal ones apart. */
function fingerprint(handler: Handler, publish: Publish, ordinals: Map<string, number>): string {
  const symbols = [handler.file, handler.name, publish.bus, publish.destination ?? '', publish.file, ...publish.path.map((site) => site.function)].join('\0');
  const ordinal = ordinals.get(symbols) ?? 0;
  ordinals.set(symbols, ordinal + 1);
  return createHash('sha256').update(`${symbols}\0${ordinal}`).digest('hex').slice(0, 12);
}
