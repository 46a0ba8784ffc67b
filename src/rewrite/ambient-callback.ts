import { ts } from 'ts-morph';
import { enclosingClass, lineOf, unwrap, type FunctionNode } from './ast.js';
import { ambientHost, isHost } from './ambient-host.js';
import { propertyOf } from './bind.js';
import { callsOf, usesDatabase } from './calls.js';
import type { CodemodContext } from './codemod.js';
import type { EditSet } from './edits.js';
import { short } from './message.js';
import { findOwner } from './owner.js';
import { projectOf } from './project.js';
import { refuse } from './refusal.js';

/** A transaction of the project's ambient library, opened with a callback. */
export interface AmbientCallback {
  readonly file: string;
  readonly call: ts.CallExpression;
  readonly callback: FunctionNode;
}

/** The expression that is the transaction's manager in its callback: `this.txHost.tx`, or the manager of a repository that is there. */
export function ambientManager(edits: EditSet, opened: AmbientCallback, context: CodemodContext): string {
  const { call, file } = opened;
  const at = `${file}:${lineOf(call)}`;
  const options = call.arguments.slice(0, -1).map((argument) => argument.getText()).join(' ');
  if (/Propagation|propagation|connectionName|dataSource/.test(options)) refuse('transaction-shape', `'${short(call.expression)}' (${at}) has options that decide whether, and where, there is a transaction. Rewrite this handler by hand.`);
  const callee = unwrap(call.expression);
  if (ts.isPropertyAccessExpression(callee) && callee.name.text === 'withTransaction') return hostManager(edits, opened, unwrap(callee.expression), context);
  if (ts.isIdentifier(callee) && callee.text === 'runInTransaction' && projectOf(context.workspace).moduleOf(file, callee.text) === 'typeorm-transactional') return contextManager(edits, opened, context);
  refuse('transaction-shape', `The transaction that '${short(call.expression)}' (${at}) opens is not one that can be joined.`);
}

function hostManager(edits: EditSet, { file, call, callback }: AmbientCallback, holder: ts.Expression, context: CodemodContext): string {
  const property = ts.isPropertyAccessExpression(holder) && holder.expression.kind === ts.SyntaxKind.ThisKeyword ? propertyOf(enclosingClass(holder), holder.name.text) : null;
  const body = callback.body;
  const host = body === undefined || property === null || !isHost(file, property, context) ? null : ambientHost(edits, { file, fn: callback, roots: [body], returnIsAwaited: true }, context);
  if (host === null || host.type !== property?.type?.getText()) {
    refuse('transaction-shape', `Not everything in the transaction of '${short(call.expression)}' (${file}:${lineOf(call)}) goes through its host, so it can not be told what is written in it.`);
  }
  return `${holder.getText()}.tx`;
}

/** typeorm-transactional: every repository hands out the manager of the transaction that runs; one of the callback's own is taken. */
function contextManager(edits: EditSet, { file, call, callback }: AmbientCallback, context: CodemodContext): string {
  const body = callback.body;
  const calls = body === undefined ? [] : callsOf(edits, { file, fn: callback, roots: [body], returnIsAwaited: true }, context);
  const direct = calls.filter((located) => located.call.callee.kind !== 'project' && usesDatabase(located.call) && located.call.receiver?.module === 'typeorm' && /^(?:Repository|TreeRepository|EntityManager|DataSource)$/.test(located.call.receiver.type));
  const [first] = direct;
  if (first === undefined) refuse('no-data-source', `No repository is used directly in the transaction of '${short(call.expression)}' (${file}:${lineOf(call)}) whose manager could store the event.`);
  const { expression } = findOwner(edits, file, callback, [first], context);
  return first.call.receiver?.type === 'DataSource' ? `${expression}.manager` : expression;
}
