import { ts } from 'ts-morph';
import type { ResolvedCall } from '../core/finding.js';
import { guardAfterFailures } from './after-failure.js';
import { enclosingFunction, findCall, lineOf, unwrap, walk, type FunctionNode } from './ast.js';
import type { CodemodContext } from './codemod.js';
import type { EditSet } from './edits.js';
import { short } from './message.js';
import { isLogging } from './publish.js';
import { refuse } from './refusal.js';

/** A call of the analysis with its node. */
export interface LocatedCall {
  readonly call: ResolvedCall;
  readonly node: ts.CallExpression;
}

/** Code that will run in the transaction. */
export interface TransactionCode {
  readonly file: string;
  readonly fn: FunctionNode;
  /** The nodes that run in it: statements, and message expressions. */
  readonly roots: readonly ts.Node[];
  /** A value that the function returns is awaited by its caller. */
  readonly returnIsAwaited: boolean;
  /** Statements below the roots that the rewrite removes. */
  readonly removed?: readonly ts.Node[];
}

/** Packages whose promises need no network: waiting for them in a transaction costs little. */
const localModules = new Set(['bcrypt', 'bcryptjs', 'argon2', 'joi', 'zod', 'yup', 'class-validator', 'class-transformer', 'crypto', 'node:crypto', 'util', 'node:util', 'timers/promises']);
/** Methods of built-in objects that are called for their effect on the object. */
const builtinMutators = new Set(['push', 'unshift', 'pop', 'shift', 'splice', 'sort', 'reverse', 'fill', 'set', 'add', 'delete', 'clear', 'forEach', 'assign', 'append', 'setHours', 'setDate', 'setMinutes', 'setTime', 'setFullYear', 'setMonth']);

/** The calls of the code, with their nodes. Refuses when a call can not be found again. */
export function callsOf(edits: EditSet, code: TransactionCode, context: CodemodContext): readonly LocatedCall[] {
  const { source } = edits.open(code.file);
  const all = context.analysis.callsIn({ file: code.file, start: code.fn.getStart(), end: code.fn.getEnd() });
  return all.flatMap((call) => {
    if (call.span.file !== code.file || !code.roots.some((root) => root.getStart() <= call.span.start && root.getEnd() >= call.span.end)) return [];
    const node = findCall(source, call.span);
    return node === null || isRemoved(code, node) ? [] : [{ call, node }];
  });
}

function isRemoved({ removed = [] }: TransactionCode, node: ts.Node): boolean {
  return removed.some((statement) => statement.pos <= node.pos && statement.end >= node.end);
}

/** Whether the call, or what it calls, uses the database. */
export function usesDatabase({ effects }: ResolvedCall): boolean {
  return effects.write || effects.read;
}

/**
 * Guards: everything the code waits for is the database or computed in the process, every database call is awaited where it
 * stands, and none is in a callback, in parallel, or runs behind one that has failed.
 */
export function guardCalls(code: TransactionCode, calls: readonly LocatedCall[], context: CodemodContext): void {
  for (const { call, node } of calls) {
    const at = `${code.file}:${lineOf(node)}`;
    if (call.effects.publish && !usesDatabase(call)) refuse('publish-in-span', `'${short(node)}' (${at}) publishes inside what becomes the transaction: it would announce a state that may be rolled back.`);
    if (call.effects.transaction) refuse('helper-own-transaction', `'${short(node)}' (${at}) opens a transaction of its own, on another connection. Let it take the transaction of its caller.`);
    if (call.effects.store) refuse('already-there', `'${short(node)}' (${at}) stores an event already.`);
    if (usesDatabase(call)) guardDatabaseCall(code, call, node, at);
  }
  guardAfterFailures(code, calls);
  for (const { call, node } of calls) guardNoStream(node, `${code.file}:${lineOf(node)}`, call);
  for (const { call, node } of calls) if (!usesDatabase(call)) guardOtherCall(code, call, node, `${code.file}:${lineOf(node)}`, context);
  for (const root of code.roots) guardAwaits(code, root, calls);
}

/** An open stream keeps the one connection of the transaction busy: what follows would wait for its end. */
function guardNoStream(node: ts.CallExpression, at: string, { receiver }: ResolvedCall): void {
  const isStream = ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'stream' && receiver?.module === 'typeorm';
  if (isStream) refuse('stream-in-span', `'${short(node)}' (${at}) opens a stream, which keeps the one connection of the transaction busy until it is read; storing the event would wait for that. Open it before the write or behind the publish.`);
}

function guardDatabaseCall(code: TransactionCode, call: ResolvedCall, node: ts.CallExpression, at: string): void {
  if (call.effects.publish) refuse('publish-in-span', `'${short(node)}' (${at}) writes and publishes: rewrite that function first.`);
  if (enclosingFunction(node) !== code.fn) refuse('write-in-closure', `'${short(node)}' (${at}) is in a callback. Call it in a 'for … of' loop of the function itself.`);
  if (!isAwaited(node, code.returnIsAwaited)) {
    const chained = ts.isPropertyAccessExpression(node.parent) && /^(?:then|catch|finally)$/.test(node.parent.name.text) ? node.parent.name.text : null;
    if (chained !== null) refuse('catch-in-span', `'${short(node)}' (${at}) goes on in a '.${chained}(…)'. After a failed statement PostgreSQL refuses all others of the transaction, so what becomes of a failure has to be seen. ${chained === 'then' ? 'Await it, and do the rest in the next statement.' : "Await it in a 'try' whose other blocks use no database and pass the error on, or put the 'try' around the write and the publish."}`);
    if (isInPromiseAll(node)) refuse('parallel-writes', `'${short(node)}' (${at}) is started in parallel with others; the one connection of a transaction runs one at a time. Await them one after the other.`);
    refuse('write-not-awaited', `'${short(node)}' (${at}) is not awaited where it stands, so it may run when the transaction is over. Await it.`);
  }
}

/** Awaited on the spot; parentheses and casts may stand between. */
export function isAwaited(node: ts.CallExpression, returnCounts: boolean): boolean {
  let parent: ts.Node = node.parent;
  while (ts.isParenthesizedExpression(parent) || ts.isAsExpression(parent) || ts.isNonNullExpression(parent) || ts.isSatisfiesExpression(parent)) parent = parent.parent;
  if (ts.isAwaitExpression(parent)) return true;
  return returnCounts && (ts.isReturnStatement(parent) || (ts.isArrowFunction(parent) && parent.body === node));
}

function isInPromiseAll(node: ts.Node): boolean {
  return ts.findAncestor(node, (ancestor) => ts.isCallExpression(ancestor) && /^Promise\.(?:all|allSettled|race|any)$/.test(ancestor.expression.getText())) !== undefined;
}

function guardOtherCall(code: TransactionCode, call: ResolvedCall, node: ts.CallExpression, at: string, context: CodemodContext): void {
  if (isLogging(node) || isChained(node)) return;
  const awaited = isAwaited(node, false) || (code.returnIsAwaited && enclosingFunction(node) === code.fn && isAwaited(node, true) && call.callee.kind !== 'unknown');
  if (call.callee.kind === 'project') {
    if (awaited && !call.callee.functions.every((fn) => isLocal(fn.span, context, new Set()))) {
      refuse('external-await', `'${short(node)}' (${at}) waits for something other than the database, so the transaction would stay open meanwhile. Do it before the transaction or behind it.`);
    }
    return;
  }
  if (awaited) {
    if (call.callee.kind === 'external' && localModules.has(call.callee.module)) return;
    refuse(call.callee.kind === 'external' ? 'external-await' : 'unknown-call', `'${short(node)}' (${at}) is awaited inside what becomes the transaction and is no database call that can be told. Do it before the transaction or behind it.`);
  }
  const member = ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : '';
  if (ts.isExpressionStatement(node.parent) && !builtinMutators.has(member)) {
    refuse('unknown-call', `What '${short(node)}' (${at}) does can not be told; it may use the database outside of the transaction. Do it before the transaction or behind it.`);
  }
}

/** A call on what another call of the same chain returned: judged with the call that the chain is awaited by. */
function isChained(node: ts.CallExpression): boolean {
  return ts.isPropertyAccessExpression(node.parent) && ts.isCallExpression(node.parent.parent) && node.parent.parent.expression === node.parent;
}

/** Whether everything that a function waits for is computed in the process. */
function isLocal(span: { readonly file: string; readonly start: number; readonly end: number }, context: CodemodContext, seen: Set<string>): boolean {
  const key = `${span.file}:${span.start}`;
  if (seen.has(key) || seen.size > 40) return true;
  seen.add(key);
  const source = context.analysis.sourceFile(span.file);
  if (source === null) return false;
  return context.analysis.callsIn(span).every((call) => {
    if (call.effects.write || call.effects.read || call.effects.publish || call.effects.transaction) return false;
    const node = findCall(source, call.span);
    if (node === null) return false;
    if (isLogging(node) || !isAwaited(node, true)) return true;
    if (call.callee.kind === 'project') return call.callee.functions.every((fn) => isLocal(fn.span, context, seen));
    return call.callee.kind === 'external' ? localModules.has(call.callee.module) : !isAwaited(node, false);
  });
}

/** Every `await` is of a call that has been judged. */
function guardAwaits(code: TransactionCode, root: ts.Node, calls: readonly LocatedCall[]): void {
  const visit = (node: ts.Node): void => {
    const at = `${code.file}:${lineOf(node)}`;
    if (ts.isForOfStatement(node) && node.awaitModifier !== undefined) refuse('external-await', `A 'for await' loop (${at}) stands inside what becomes the transaction.`);
    if (ts.isYieldExpression(node)) refuse('generator', `A 'yield' (${at}) stands inside what becomes the transaction.`);
    if (!ts.isAwaitExpression(node) || isRemoved(code, node)) return;
    const operand = unwrap(node.expression);
    if (!calls.some((located) => located.node === operand)) {
      refuse('unknown-call', `'${short(node)}' (${at}) waits for something that can not be told. Do it before the transaction or behind it.`);
    }
  };
  visit(root);
  walk(root, visit);
}
