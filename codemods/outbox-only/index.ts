import { ts } from 'ts-morph';
import type { CodemodResult } from '../../src/core/outcome.js';
import type { Finding } from '../../src/core/finding.js';
import { findCall, findFunction, findNode, isStatementList, lineOf, walk, type FunctionNode } from '../../src/rewrite/ast.js';
import type { CodemodContext, HandlerCodemod, HandlerFindings } from '../../src/rewrite/codemod.js';
import { EditSet } from '../../src/rewrite/edits.js';
import { uniqueBy } from '../../src/rewrite/handler.js';
import { finishEdits } from '../../src/rewrite/imports.js';
import { lineRange } from '../../src/rewrite/join.js';
import { preparations, removeHandedOut } from '../../src/rewrite/handed-out.js';
import { standalone } from '../../src/rewrite/jscodeshift.js';
import { publishStatement } from '../../src/rewrite/publish.js';
import { guarded, refuse } from '../../src/rewrite/refusal.js';
import { removeUnused } from '../../src/rewrite/unused.js';

/** Removes the legacy publish of a handler that stores its event: from now on the relay delivers it. */
export const outboxOnly = {
  id: 'outbox-only',
  title: 'Remove the legacy publish',
  plan: (findings, context) => guarded(() => plan(findings, context)),
} as const satisfies HandlerCodemod;

function plan(findings: HandlerFindings, context: CodemodContext): CodemodResult {
  const [{ handler }] = findings;
  const [unmet] = context.gate;
  if (unmet !== undefined && context.force === null) refuse('gate-not-met', `${unmet.message} ${"Pass it with '--force <why>'; the commit will say why."}`);
  const edits = new EditSet(context.workspace, context.analysis);
  const { source, text } = edits.open(handler.file);
  const fn = findFunction(source, handler.span);
  if (fn === null) refuse('publish-not-found', `The function '${handler.name}' (${handler.file}:${handler.line}) could not be found again.`);
  const publishes = uniqueBy(findings, ({ publish }) => `${(publish.path[0]?.span ?? publish.span).start}`).map((finding) => readLegacyPublish(source, finding));
  const single = publishes.map(({ statement }) => statement);
  single.push(...preparations(fn, single));
  const gone = [...new Set(single.map((statement) => withItsBranch(statement, single, handler.file)))];
  for (const statement of gone) edits.replace(handler.file, lineRange(text, statement), '');
  for (const { statement, event } of publishes) if (event !== null) keepType(edits, handler.file, fn, statement, event.text);
  removeHandedOut(edits, { file: handler.file, fn, gone, events: publishes.flatMap(({ event }) => (event === null ? [] : [event])) });
  const followUps = removeUnused(edits, { file: handler.file, fn, statements: gone }, context);
  return { kind: 'edits', edits: finishEdits(edits), followUps };
}

/** The publish statement, and the variable of the event that it sends. */
function readLegacyPublish(source: ts.SourceFile, finding: Finding): { readonly statement: ts.Statement; readonly event: ts.Identifier | null } {
  const span = finding.publish.path[0]?.span ?? finding.publish.span;
  const call = span.file === finding.handler.file ? findCall(source, span) : null;
  if (call === null) refuse('publish-not-found', `The publish of '${finding.handler.name}' (${finding.publish.file}:${finding.publish.line}) could not be found again.`);
  const statement = publishStatement(call);
  const message = finding.publish.message === null ? null : findNode(source, finding.publish.message.span);
  return { statement: inboxBranch(statement) ?? statement, event: message !== null && ts.isIdentifier(message) ? message : null };
}

/** `if (orderPaid !== null) { … }` around the publish alone: a subscriber behind its inbox does not publish for a duplicate. */
function inboxBranch({ parent: block, pos }: ts.Statement): ts.IfStatement | null {
  if (!ts.isBlock(block) || block.statements.length !== 1 || block.statements[0]?.pos !== pos || !ts.isIfStatement(block.parent)) return null;
  const { expression, elseStatement } = block.parent;
  return elseStatement === undefined && /^[\w$]+ !== null$/.test(expression.getText()) ? block.parent : null;
}

/** The `if` goes with the statements that it holds: without them, the next statement would become its branch. */
function withItsBranch(statement: ts.Statement, single: readonly ts.Statement[], file: string): ts.Statement {
  const { parent } = statement;
  if (ts.isBlock(parent) && !parent.statements.every((other) => single.includes(other))) return statement;
  // A `try` around nothing has nothing to catch.
  if (ts.isBlock(parent) && ts.isTryStatement(parent.parent) && parent.parent.tryBlock === parent && parent.parent.finallyBlock === undefined && isStatementList(parent.parent.parent)) return parent.parent;
  if (ts.isBlock(parent) && ts.isArrowFunction(parent.parent)) return commitHook(parent.parent) ?? statement;
  const branch = ts.isBlock(parent) && ts.isIfStatement(parent.parent) ? parent : statement;
  const around = branch.parent;
  if (ts.isIfStatement(around) && around.thenStatement === branch && around.elseStatement === undefined && isPlain(around.expression) && isStatementList(around.parent)) return around;
  if (isStatementList(parent)) return statement;
  refuse('conditional-publish', `The publish (${file}:${lineOf(statement)}) is the only statement of a branch without braces. Give it braces, and run this again.`);
}

/** `runOnTransactionCommit(() => { … });` */
function commitHook(callback: ts.ArrowFunction): ts.Statement | null {
  const call = callback.parent;
  const isHook = ts.isCallExpression(call) && call.expression.getText() === 'runOnTransactionCommit' && call.arguments.length === 1;
  return isHook && ts.isExpressionStatement(call.parent) && isStatementList(call.parent.parent) ? call.parent : null;
}

/** A condition that does nothing but look at variables. */
function isPlain(condition: ts.Expression): boolean {
  let plain = true;
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) || ts.isAwaitExpression(node) || ts.isNewExpression(node) || (ts.isBinaryExpression(node) && node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment && node.operatorToken.kind <= ts.SyntaxKind.LastAssignment)) plain = false;
    if (ts.isPostfixUnaryExpression(node)) plain = false;
  };
  visit(condition);
  walk(condition, visit);
  return plain;
}

/** `emit<void, OrderPlaced>(…)` checked the message; `integrationEvent<OrderPlaced>(…)` goes on doing so. */
function keepType(edits: EditSet, file: string, fn: FunctionNode, publish: ts.Statement, name: string): void {
  let type: string | null = null;
  walk(publish, (node) => {
    if (ts.isCallExpression(node) && node.typeArguments !== undefined && node.arguments.some((argument) => argument.getText() === name)) type = node.typeArguments[node.typeArguments.length - 1]?.getText() ?? null;
  });
  if (type === null || /^(?:any|unknown|void|object)$/.test(type)) return;
  walk(fn, (node) => {
    const isBuild = ts.isCallExpression(node) && node.expression.getText() === 'integrationEvent' && node.typeArguments === undefined;
    if (isBuild && (ts.isVariableDeclaration(node.parent) || ts.isBinaryExpression(node.parent)) && (ts.isVariableDeclaration(node.parent) ? node.parent.name : node.parent.left).getText() === name) {
      edits.insert(file, node.expression.getEnd(), `<${type ?? ''}>`);
    }
  });
}

export default standalone(outboxOnly);
