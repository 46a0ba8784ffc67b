import { ts } from 'ts-morph';
import type { FunctionRef, ResolvedCall } from '../core/finding.js';
import { findFunction, isFunctionNode, lineOf, statementIndex, unwrap, walk } from './ast.js';
import type { CodemodContext } from './codemod.js';
import type { HandlerCode } from './handler.js';
import { short } from './message.js';
import { isLogging, type PublishSite } from './publish.js';
import { projectOf } from './project.js';
import { refuse } from './refusal.js';
import type { Region } from './region.js';
import { findVariable } from './scope.js';

/** A place where code fails on purpose. */
interface Failure {
  /** The call or `throw` in the code that was looked at. */
  readonly node: ts.Node;
  /** What fails in the end, and where. */
  readonly cause: string;
}

/** What is looked at: one function, or a part of it. */
interface Place {
  readonly file: string;
  readonly calls: readonly ResolvedCall[];
  /** What begins before does not count. */
  readonly from: number;
  /** What begins here or behind does not count. */
  readonly to: number;
  /** A `throw` counts, and not only what is called. */
  readonly countsThrow: boolean;
  /** The publish: a `try` around it is not left by what its `catch` takes. */
  readonly publish: ts.Node | null;
  readonly context: CodemodContext;
  readonly seen: Set<string>;
}

/**
 * Guards: nothing between the first write and the publish fails on purpose in a function that is called. Today the write is
 * kept then, and in the transaction it would be taken back.
 */
export function guardFailures(code: HandlerCode, region: Region, context: CodemodContext): void {
  const calls = callsAround(code, context);
  const [write] = code.writes;
  const from = behindWrite(write.call, region.list);
  const place = { file: code.file, calls, from, countsThrow: false, context, seen: new Set<string>() };
  const inRegion = region.list.statements.slice(region.first, region.last + 1);
  for (const statement of inRegion) report(code.file, failureIn(statement, { ...place, to: Infinity, publish: null }));
  if (region.publishesFirst) return;
  for (const site of code.publishes) guardBefore(code, { list: region.list, last: region.last, from }, site, context);
}

/** Guards: nothing fails on purpose between the end of the transaction and a publish, and nothing in its message. */
export function guardFailuresBehind(code: HandlerCode, transaction: { readonly list: Region['list']; readonly statement: ts.Statement }, context: CodemodContext): void {
  const last = transaction.list.statements.indexOf(transaction.statement);
  for (const site of code.publishes) guardBefore(code, { list: transaction.list, last, from: transaction.statement.getEnd() }, site, context);
}

function guardBefore(code: HandlerCode, at: { readonly list: Region['list']; readonly last: number; readonly from: number }, site: PublishSite, context: CodemodContext): void {
  const place = { file: code.file, calls: callsAround(code, context), from: at.from, countsThrow: false, publish: site.statement, context, seen: new Set<string>() };
  const between = at.list.statements.slice(at.last + 1, statementIndex(at.list, site.statement) + 1);
  for (const statement of between) report(code.file, failureIn(statement, { ...place, to: site.statement.getStart() }));
  for (const node of site.condition === null ? [site.message.node] : [site.message.node, site.condition]) report(code.file, failureIn(node, { ...place, to: Infinity }));
}

function callsAround(code: HandlerCode, context: CodemodContext): readonly ResolvedCall[] {
  return context.analysis.callsIn({ file: code.file, start: code.fn.getStart(), end: code.fn.getEnd() });
}

function report(file: string, failure: Failure | null): void {
  if (failure === null) return;
  refuse('exit-in-span', `'${short(failure.node)}' (${file}:${lineOf(failure.node)}) stands behind a write and may fail: ${failure.cause}. Today the write is kept then; in a transaction it would be taken back, or the event stored without its publish. Call it before the write.`);
}

/** A failure behind the first write of a function; null: there is none. */
export function failureBehindWrite(file: string, fn: { readonly body: ts.Node; readonly calls: readonly ResolvedCall[]; readonly write: ts.Node }, context: CodemodContext): { readonly line: number; readonly cause: string } | null {
  const found = failureIn(fn.body, { file, calls: fn.calls, from: behindWrite(fn.write, fn.body), to: Infinity, countsThrow: true, publish: null, context, seen: new Set() });
  return found === null ? null : { line: lineOf(found.node), cause: found.cause };
}

/** Where 'behind the write' begins: in a loop, its next round is behind the write, too. */
function behindWrite(write: ts.Node, root: ts.Node): number {
  let from = write.getEnd();
  for (let node = write.parent; node !== root && node !== undefined; node = node.parent) if (ts.isIterationStatement(node, false)) from = node.getStart();
  return from;
}

function failureIn(root: ts.Node, place: Place): Failure | null {
  let found: Failure | null = null;
  const visit = (node: ts.Node): boolean => {
    if (found !== null || node.getStart() >= place.to) return false;
    if (isFunctionNode(node) && !isArgument(node)) return false;
    if (ts.isTryStatement(node)) {
      found = failureInTry(node, place);
      return false;
    }
    if (node.getStart() >= place.from) found = failureOf(node, place);
    return found === null;
  };
  if (visit(root)) walk(root, visit);
  return found;
}

/** What a `catch` takes goes no further; one that throws itself passes it on. */
function failureInTry(node: ts.TryStatement, place: Place): Failure | null {
  const { publish } = place;
  const clause = node.catchClause;
  const isAroundPublish = publish !== null && publish.pos >= node.tryBlock.pos && publish.end <= node.tryBlock.end;
  let passesOn = clause === undefined;
  if (clause !== undefined) walk(clause.block, (inner) => {
    if (ts.isThrowStatement(inner)) passesOn = true;
    return !ts.isFunctionLike(inner);
  });
  const inside = passesOn || isAroundPublish ? failureIn(node.tryBlock, place) : null;
  if (inside !== null) return inside;
  for (const block of passesOn ? [node.finallyBlock] : [clause?.block, node.finallyBlock]) {
    const found = block === undefined || isAroundPublish ? null : failureIn(block, place);
    if (found !== null) return found;
  }
  return null;
}

/** Whether a function is handed to the call around it, which most likely calls it on the spot. */
function isArgument(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && node.parent.arguments.some((argument) => argument === node) && !/\.(?:then|catch|finally|subscribe|on|once|pipe)$|^(?:setTimeout|setImmediate|queueMicrotask)$/.test(node.parent.expression.getText());
}

function failureOf(node: ts.Node, place: Place): Failure | null {
  if (ts.isThrowStatement(node)) {
    const around = ts.findAncestor(node, isFunctionNode);
    return place.countsThrow || (around !== undefined && isArgument(around)) ? { node, cause: `'${short(node)}' (${place.file}:${lineOf(node)})` } : null;
  }
  if (ts.isNewExpression(node)) return constructorFailure(node, place);
  if (!ts.isCallExpression(node) || isLogging(node)) return null;
  const text = node.expression.getText();
  if (text === 'JSON.parse') return { node, cause: `'JSON.parse' fails on text that is no JSON` };
  if (/\.(?:find\w*|getOne|get)OrFail$/.test(text)) return { node, cause: `'${text.replace(/^.*\./s, '')}' fails where there is no row` };
  const call = place.calls.find(({ span }) => span.start === node.getStart() && span.end === node.getEnd());
  if (call?.effects.publish === true) return null;
  if (call?.callee.kind === 'project') return calledFailure(node, call.callee.functions, place);
  const callee = unwrap(node.expression);
  const declaration = ts.isIdentifier(callee) ? findVariable(callee, callee.text) : null;
  const value = declaration !== null && ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined ? unwrap(declaration.initializer) : null;
  if (value === null || !isFunctionNode(value) || value.body === undefined || place.seen.has(`${place.file}:${value.pos}`)) return null;
  place.seen.add(`${place.file}:${value.pos}`);
  const inner = failureIn(value.body, { ...place, from: 0, to: Infinity, countsThrow: true, publish: null });
  return inner === null ? null : { node, cause: inner.cause };
}

function calledFailure(node: ts.Node, functions: readonly FunctionRef[], place: Place): Failure | null {
  for (const ref of functions) {
    const key = `${ref.file}:${ref.span.start}`;
    const source = place.seen.has(key) || place.seen.size > 60 ? null : place.context.analysis.sourceFile(ref.file);
    const fn = source === null ? null : findFunction(source, ref.span);
    place.seen.add(key);
    if (fn?.body === undefined) continue;
    const inner = failureIn(fn.body, { file: ref.file, calls: place.context.analysis.callsIn(ref.span), from: 0, to: Infinity, countsThrow: true, publish: null, context: place.context, seen: place.seen });
    if (inner !== null) return { node, cause: inner.cause };
  }
  return null;
}

/** `new Money(…)` of a class of the project whose constructor throws. */
function constructorFailure(node: ts.NewExpression, place: Place): Failure | null {
  const declared = projectOf(place.context.workspace).findType(place.file, node.expression.getText());
  if (declared === null || !ts.isClassDeclaration(declared.node)) return null;
  const made = declared.node.members.find(ts.isConstructorDeclaration);
  if (made?.body === undefined) return null;
  const inner = failureIn(made.body, { file: declared.file, calls: [], from: 0, to: Infinity, countsThrow: true, publish: null, context: place.context, seen: place.seen });
  return inner === null ? null : { node, cause: inner.cause };
}
