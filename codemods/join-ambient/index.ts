import { ts } from 'ts-morph';
import type { CodemodResult } from '../../src/core/outcome.js';
import { ambientDecorator, guardPlainOptions } from '../../src/rewrite/ambient-decorator.js';
import { lineOf, unwrap } from '../../src/rewrite/ast.js';
import type { CodemodContext, HandlerCodemod, HandlerFindings } from '../../src/rewrite/codemod.js';
import { importOutbox, planEvents, readHandler, type HandlerCode, type PlannedEvent } from '../../src/rewrite/handler.js';
import { finishEdits } from '../../src/rewrite/imports.js';
import { eventLines, guardMovable, publishText, range } from '../../src/rewrite/join.js';
import { standalone } from '../../src/rewrite/jscodeshift.js';
import { short } from '../../src/rewrite/message.js';
import { findOwner } from '../../src/rewrite/owner.js';
import { guarded, refuse } from '../../src/rewrite/refusal.js';
import { callsOf, usesDatabase } from '../../src/rewrite/calls.js';
import { indentAt } from '../../src/rewrite/style.js';

/** Stores the event in the transaction of `@Transactional()`, and publishes it when that has committed. */
export const joinAmbient = {
  id: 'join-ambient',
  title: 'Store the event in the ambient transaction',
  plan: (findings, context) => guarded(() => plan(findings, context)),
} as const satisfies HandlerCodemod;

function plan(findings: HandlerFindings, context: CodemodContext): CodemodResult {
  const code = readHandler(findings, context);
  guardLibrary(code, context);
  const body = code.fn.body;
  if (body === undefined || !ts.isBlock(body)) refuse('transaction-shape', `'${code.name}' has no body in braces.`);
  for (const site of code.publishes) {
    guardMovable(code, site, body);
    guardFireAndForget(code, site.statement, site.call);
  }
  const calls = callsOf(code.edits, { file: code.file, fn: code.fn, roots: [body], returnIsAwaited: true }, context);
  const direct = calls.filter(({ call }) => call.callee.kind !== 'project' && usesDatabase(call));
  const owner = findOwner(code.edits, code.file, code.fn, direct, context);
  const manager = managerOf(owner.expression, direct[0]?.call.receiver?.type ?? 'DataSource');
  for (const event of planEvents(code, context)) storeInPlace(code, event, manager);
  code.edits.need(code.file, 'runOnTransactionCommit', 'typeorm-transactional');
  importOutbox(code, context);
  return { kind: 'edits', edits: finishEdits(code.edits), followUps: owner.followUps };
}

/** Repositories and data sources of typeorm-transactional hand out the manager of the transaction that runs. */
function managerOf(owner: string, type: string): string {
  return type === 'EntityManager' || owner.endsWith('.manager') ? owner : `${owner}.manager`;
}

function guardLibrary(code: HandlerCode, context: CodemodContext): void {
  const at = `${code.file}:${lineOf(code.fn)}`;
  const ambient = ambientDecorator(code, context);
  if (ambient?.library === '@nestjs-cls/transactional') {
    refuse('no-sound-place', `'${code.name}' (${at}) publishes in the transaction of '@Transactional()', and @nestjs-cls/transactional has no hook behind the commit. Move the publish to the caller.`);
  }
  if (ambient === null || ambient.isOfClass) refuse('transaction-shape', `The transaction of '${code.name}' (${at}) is not opened by '@Transactional()' on the function itself.`);
  guardPlainOptions(ambient, code);
}

/** Nobody waits for a commit hook: a promise that fails there would be an unhandled rejection. `emit` of Nest fails in the observable. */
function guardFireAndForget(code: HandlerCode, statement: ts.ExpressionStatement, call: ts.CallExpression): void {
  const expression = unwrap(statement.expression);
  const inner = ts.isAwaitExpression(expression) ? unwrap(expression.expression) : expression;
  const { route, path } = code.publishes[0].finding.publish;
  if (inner === call && route.transport === 'nest' && path.length === 0) return;
  if (inner === call && !ts.isAwaitExpression(expression)) refuse('no-sound-place', `'${short(statement)}' (${code.file}:${lineOf(statement)}) may throw where it is called, and nobody catches that in a hook behind the commit: only 'emit' of a client of Nest fails later. Move the publish to the caller of '${code.name}'.`);
  refuse('no-sound-place', `'${short(statement)}' (${code.file}:${lineOf(statement)}) is waited for in the transaction, and nobody waits for a hook behind the commit. Move the publish to the caller of '${code.name}'.`);
}

/** The event takes the place of the publish; the publish moves into a hook that runs behind the commit. */
function storeInPlace(code: HandlerCode, event: PlannedEvent, manager: string): void {
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const { statement } = event.site;
  const indent = indentAt(text, statement.getStart());
  const publish = publishText(code, event, indent + style.indent).replace(/^await\s+/, '');
  const hook = `runOnTransactionCommit(() => {${style.eol}${indent}${style.indent}${publish}${style.eol}${indent}})${style.semicolon}`;
  const lines = eventLines(code, event, { indent, manager }).slice(indent.length);
  edits.replace(file, range(statement), `${lines}${style.eol}${indent}${hook}`);
}

export default standalone(joinAmbient);
