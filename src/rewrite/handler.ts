import { ts } from 'ts-morph';
import { findCall, findFunction, isAsync, lineOf, type FunctionNode } from './ast.js';
import type { Write } from '../core/finding.js';
import type { CodemodContext, HandlerFindings } from './codemod.js';
import { EditSet } from './edits.js';
import { eventName, aggregateOf, routeEntry, type Aggregate, type AggregateSource, type EventName } from './event.js';
import { specifierOf } from './imports.js';
import { guardUnchangedBehind } from './later-change.js';
import { projectOf } from './project.js';
import { readPublish, type PublishSite, type ReadPublishOptions } from './publish.js';
import { refuse } from './refusal.js';
import { addRoutes, type NewRoute } from './routes.js';
import { freeName, takenNames } from './scope.js';

/** A call in the handler that leads to a write. */
export interface HandlerWrite {
  readonly write: Write;
  readonly call: ts.CallExpression;
}

/** A handler as the codemods see it, after the guards that all of them share. */
export interface HandlerCode {
  readonly edits: EditSet;
  readonly file: string;
  readonly name: string;
  readonly fn: FunctionNode;
  readonly writes: readonly [HandlerWrite, ...HandlerWrite[]];
  readonly publishes: readonly [PublishSite, ...PublishSite[]];
}

export function readHandler(findings: HandlerFindings, context: CodemodContext, allowed: ReadPublishOptions = { inTransactionCallback: false, messageBefore: false, conditional: false }): HandlerCode {
  const [{ handler }] = findings;
  guardOutbox(context);
  guardTypeOrm(context);
  const edits = new EditSet(context.workspace, context.analysis);
  const { file, name } = handler;
  if (/\.[cm]?jsx?$/.test(file)) refuse('no-codemod', `'${file}' is JavaScript; the outbox code and the codemods are TypeScript.`);
  const fn = findFunction(edits.open(file).source, handler.span);
  if (fn === null || fn.body === undefined) refuse('publish-not-found', `The function '${name}' (${file}:${handler.line}) could not be found again.`);
  if ((ts.isMethodDeclaration(fn) || ts.isFunctionDeclaration(fn)) && fn.asteriskToken !== undefined) refuse('generator', `'${name}' (${file}:${handler.line}) is a generator: its caller decides when the next statement runs.`);
  if (!isAsync(fn)) refuse('not-async', `'${name}' (${file}:${handler.line}) is not async, so it can not await a transaction. Make it async, with an 'await' before each write.`);
  const writes = handlerWrites(edits, findings, fn);
  const [first, ...rest] = uniqueBy(findings, ({ publish }) => `${publish.path[0]?.span.start ?? publish.span.start}`).map((finding) => readPublish(edits, fn, finding, context, allowed));
  const [write, ...otherWrites] = writes;
  if (first === undefined || write === undefined) refuse('publish-not-found', `Write or publish of '${name}' (${file}:${handler.line}) could not be found again.`);
  return { edits, file, name, fn, writes: [write, ...otherWrites], publishes: [first, ...rest] };
}

function guardOutbox({ workspace, service }: CodemodContext): void {
  if (workspace.read(`${service.outbox}/store.ts`) !== null) return;
  refuse('no-outbox', `'${service.outbox}/store.ts' is missing: there is no outbox to store the event in. Run 'outboxify migration outbox --write'.`);
}

function guardTypeOrm({ workspace, service }: CodemodContext): void {
  const version = projectOf(workspace).dependency(service.root, 'typeorm');
  if (version !== null && /^[\^~]?0\.[12]\./.test(version)) refuse('typeorm-too-old', `'${service.root}' uses TypeORM '${version}'; the rewrite needs 'manager.withRepository', which came with 0.3.`);
}

function handlerWrites(edits: EditSet, findings: HandlerFindings, fn: FunctionNode): readonly HandlerWrite[] {
  const [{ handler }] = findings;
  const { source } = edits.open(handler.file);
  const all = uniqueBy(findings.flatMap(({ writes }) => writes), (write) => JSON.stringify([write.span, write.path.map(({ span }) => span)]));
  return all.map((write) => {
    if (write.orm !== 'typeorm') refuse('no-codemod', `A write of '${handler.name}' (${write.file}:${write.line}) goes through '${write.orm}', which no codemod knows.`);
    const span = write.path[0]?.span ?? write.span;
    const call = span.file === handler.file ? findCall(source, span) : null;
    if (call === null || call.pos < fn.pos || call.end > fn.end) refuse('helper-unresolved', `The call that leads to the write in ${write.file}:${write.line} could not be found in '${handler.name}'.`);
    return { write, call };
  }).sort((a, b) => a.call.getStart() - b.call.getStart());
}

export function uniqueBy<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const value = key(item);
    if (seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}

/** An event that the handler will store. */
export interface PlannedEvent {
  readonly site: PublishSite;
  readonly name: EventName;
  readonly variable: string;
  readonly aggregate: Aggregate;
}

/** Names the events of a handler, finds their aggregates, and records their routes. */
export function planEvents(code: HandlerCode, context: CodemodContext): readonly [PlannedEvent, ...PlannedEvent[]] {
  const taken = new Set(takenNames(code.fn));
  for (const site of code.publishes) guardUnchangedBehind(code, site, context);
  const sources = aggregateSources(code, context);
  const routes: NewRoute[] = [];
  const plan = (site: PublishSite): PlannedEvent => {
    const name = eventName(site.finding, site.message, context);
    const variable = freeName(name.variables, taken);
    taken.add(variable);
    routes.push({ type: name.type, fields: routeEntry(site.finding, site.options) });
    return { site, name, variable, aggregate: aggregateOf(sources, { file: code.file, message: site.message, type: name.type, variable }, context) };
  };
  const [first, ...rest] = code.publishes;
  if (rest.length > 0 && context.event !== null) refuse('several-publishes', `'${code.name}' publishes ${code.publishes.length} events, and '--event' gives one name.`);
  const events = [plan(first), ...rest.map(plan)] as const;
  addRoutes(code.edits, `${context.service.outbox}/routes.ts`, routes);
  return [events[0], ...events.slice(1)];
}

function aggregateSources(code: HandlerCode, context: CodemodContext): readonly AggregateSource[] {
  return code.writes.map(({ write, call }) => ({ write, call, returnsEntity: returnsEntity(write, call, context) }));
}

/** `save` gives back the entity; a function of the project does when it is declared to return it. */
function returnsEntity(write: Write, call: ts.CallExpression, context: CodemodContext): boolean {
  if (write.path.length === 0) return write.operation === 'save';
  const span = write.path[0]?.span;
  const resolved = span === undefined ? undefined : context.analysis.callsIn({ file: span.file, start: call.getStart(), end: call.getEnd() }).find((candidate) => candidate.span.start === span.start && candidate.span.end === span.end);
  if (resolved?.callee.kind !== 'project') return false;
  return resolved.callee.functions.every((ref) => {
    const source = context.analysis.sourceFile(ref.file);
    const fn = source === null ? null : findFunction(source, ref.span);
    return fn?.type?.getText().replace(/\s+/g, '') === `Promise<${write.target ?? ''}>`;
  });
}

/** Makes `store` and `integrationEvent` of the service importable in the handler's file. */
export function importOutbox(code: HandlerCode, context: CodemodContext): { readonly store: string; readonly integrationEvent: string } {
  const { edits, file } = code;
  const { source } = edits.open(file);
  for (const [name, module] of [['integrationEvent', 'integration-event.ts'], ['store', 'store.ts']] as const) {
    const bound = projectOf(context.workspace).moduleOf(file, name);
    const isOther = bound === null || projectOf(context.workspace).resolve(bound, file) !== `${context.service.outbox}/${module}`;
    if (isOther && takenNames(code.fn).has(name)) refuse('name-taken', `'${name}' means something else in ${file}. Rename it there: the rewrite calls the outbox's '${name}'.`);
    edits.need(file, name, specifierOf(projectOf(context.workspace), file, `${context.service.outbox}/${module}`, source));
  }
  return { store: 'store', integrationEvent: 'integrationEvent' };
}

export function whereIs(code: HandlerCode, node: ts.Node): string {
  return `${code.file}:${lineOf(node)}`;
}
