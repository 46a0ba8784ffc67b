import { isBuiltin } from 'node:module';
import { harmless } from '../adapters/harmless.js';
import type { Finding, Unresolved } from '../core/finding.js';
import type { Call } from './calls.js';
import type { DoubtEffect, PublishEffect } from './effects.js';
import type { Expression } from './facts.js';
import type { EntryWalk } from './findings.js';
import { spanKey, spanOf, type Frame, type Machine } from './machine.js';
import type { Occurrence } from './path-state.js';

/** Names of what changes stored data, as repositories, ports and drivers call it. */
const WRITE = /^(?:save|insert|update|upsert|delete|remove|create|persist|soft|restore|replace|bulk|archive)/i;
/** Names that say so only of something of the project's own: a package has many things to store, mark or execute. */
const OWN_WRITE = /^(?:store|add|put|append|mark|set|merge|execute|query|flush|commit|register|record)/i;
const PUBLISH = /^(?:publish|emit|dispatch|produce)/i;
/** Caches and logs are no store of a service's data. */
const ASIDE = /cach|logger|metric/i;
/** Of the language, not of the project. */
const GLOBALS = new Set(['process', 'console', 'window', 'document', 'socket', 'Promise', 'Object', 'Array', 'JSON', 'Math', 'Reflect', 'localStorage', 'sessionStorage', 'navigator']);

/** Notes a call of which the code doesn't tell what it does, when its name is that of a write or a publish. `module`: the package it comes from. */
export function noteDoubt(machine: Machine, frame: Frame, call: Call, module: string | null): void {
  const name = call.method ?? (call.fact.callee.kind === 'name' ? call.fact.callee.name : null);
  if (name === null || (call.receiver?.kind === 'name' && GLOBALS.has(call.receiver.name))) return;
  if (ASIDE.test(name) || ASIDE.test(lastName(call.receiver))) return;
  const about = module === null ? undefined : isBuiltin(module) ? 'neither' as const : machine.catalog.isOnlyBus(module) ? 'no-store' as const : harmless[module];
  if (about === 'neither') return;
  if (call.receiver !== null && (PUBLISH.test(name) || machine.catalog.isPublishName(name))) pushDoubt(frame, call, 'publish', name, module === null && machine.catalog.isPublishName(name));
  else if (about !== 'no-store' && call.fact.waited && (WRITE.test(name) || (module === null && call.method !== null && OWN_WRITE.test(name)))) pushDoubt(frame, call, 'write', name);
}

function lastName(receiver: Expression | null): string {
  return receiver?.kind === 'member' || receiver?.kind === 'name' ? receiver.name : '';
}

/** Notes a statement whose text is not known: it may change rows. */
export function noteUnknownSql(frame: Frame, call: Call): void {
  pushDoubt(frame, call, 'write', call.method ?? 'query');
}

function pushDoubt(frame: Frame, call: Call, may: DoubtEffect['may'], name: string, isTold = false): void {
  const { line, awaited } = call.fact;
  frame.nodes.push({ kind: 'doubt', may, isTold, text: `${name}(…)`, span: spanOf(frame.file, call.fact), line, awaited });
}

/** The publishes of which it isn't known whether they are dual writes: some path joins them with a doubt. */
export function doubtfulPublishes(entries: readonly EntryWalk[]): ReadonlySet<string> {
  return new Set(entries.flatMap(({ walk }) => [...walk.doubted.keys()].map((publish) => spanKey(publish.effect.span))));
}

/** What the user has to tell before the calls can be judged. Publishes that are findings anyway are left out. */
export function unresolvedOf(entries: readonly EntryWalk[], findings: readonly Finding[]): Unresolved[] {
  const reported = new Set(findings.map((finding) => spanKey(finding.publish.span)));
  const found = new Map<string, Unresolved>();
  for (const { walk } of entries) {
    for (const [publish, doubt] of walk.doubted) if (!publish.effect.isRequest && !reported.has(spanKey(publish.effect.span)) && !walk.relayed.has(publish)) add(found, doubt, writeHint(publish, doubt));
    for (const doubt of walk.unclear) add(found, doubt, `If '${doubt.effect.text}' publishes, this is a dual write. Declare the type of what it is called on, or name it under 'publishers' in outboxify.json.`);
  }
  return [...found.values()];
}

function add(found: Map<string, Unresolved>, { effect }: Occurrence<DoubtEffect>, hint: string): void {
  const { file } = effect.span;
  if (!found.has(spanKey(effect.span))) found.set(spanKey(effect.span), { file, line: effect.line, text: effect.text, hint });
}

function writeHint({ effect }: Occurrence<PublishEffect>, doubt: Occurrence<DoubtEffect>): string {
  const where = effect.span.file === doubt.effect.span.file ? `line ${effect.line}` : `${effect.span.file}:${effect.line}`;
  return `If '${doubt.effect.text}' writes to the database, the publish in ${where} is a dual write. Declare the type of what it is called on, or name it under 'writers' in outboxify.json.`;
}
