import { ts } from 'ts-morph';
import type { CodemodResult } from '../../src/core/outcome.js';
import { guardNotAmbient } from '../../src/rewrite/ambient-decorator.js';
import { isStatementList, lineOf, unwrap, walk, type StatementList } from '../../src/rewrite/ast.js';
import { guardClosuresBehind } from '../../src/rewrite/closures.js';
import type { CodemodContext, HandlerCodemod, HandlerFindings } from '../../src/rewrite/codemod.js';
import { guardFailuresBehind } from '../../src/rewrite/failures.js';
import { importOutbox, planEvents, readHandler, type HandlerCode, type PlannedEvent } from '../../src/rewrite/handler.js';
import { finishEdits } from '../../src/rewrite/imports.js';
import { eventLines, guardJoined, guardMovable, publishText, range } from '../../src/rewrite/join.js';
import { standalone } from '../../src/rewrite/jscodeshift.js';
import { guarded, refuse } from '../../src/rewrite/refusal.js';
import { guardBehind } from '../../src/rewrite/region.js';
import { indentAt } from '../../src/rewrite/style.js';

/** Stores the event before `commitTransaction()`; a publish before it moves behind it. */
export const joinQueryRunner = {
  id: 'join-query-runner',
  title: "Store the event in the query runner's transaction",
  plan: (findings, context) => guarded(() => plan(findings, context)),
} as const satisfies HandlerCodemod;

/** `await runner.startTransaction(); try { … await runner.commitTransaction(); } catch { … } finally { … }` */
interface RunnerTransaction {
  /** Expression of the query runner, e.g. `queryRunner`. */
  readonly runner: string;
  readonly commit: ts.Statement;
  /** The list that the commit is in, and the `try` around it, when there is one. */
  readonly list: StatementList;
  readonly around: ts.TryStatement | null;
}

function plan(findings: HandlerFindings, context: CodemodContext): CodemodResult {
  const code = readHandler(findings, context);
  guardNotAmbient(code, context);
  const transaction = readTransaction(code);
  guardJoined(code, transaction.runner);
  const before = code.publishes.filter(({ statement }) => statement.pos < transaction.commit.pos);
  if (before.length > 0 && before.length < code.publishes.length) refuse('several-publishes', `'${code.name}' publishes before and behind its commit. Bring the publishes together first.`);
  const events = planEvents(code, context);
  if (before.length > 0) moveBehind(code, transaction, events);
  else storeBefore(code, transaction, events, context);
  importOutbox(code, context);
  return { kind: 'edits', edits: finishEdits(code.edits), followUps: [] };
}

function readTransaction(code: HandlerCode): RunnerTransaction {
  const commits: ts.CallExpression[] = [];
  walk(code.fn, (node) => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'commitTransaction') commits.push(node);
  });
  const [commit] = commits;
  const at = `${code.file}:${commit === undefined ? lineOf(code.fn) : lineOf(commit)}`;
  if (commit === undefined || commits.length > 1 || !ts.isPropertyAccessExpression(commit.expression)) {
    refuse('transaction-shape', `'${code.name}' (${at}) has ${commits.length === 0 ? 'its commit elsewhere' : 'several commits'}. Give it one 'commitTransaction()', in the function itself.`);
  }
  const receiver = unwrap(commit.expression.expression);
  const statement = commit.parent.parent;
  if (!ts.isIdentifier(receiver) || !ts.isAwaitExpression(commit.parent) || !ts.isExpressionStatement(statement) || !isStatementList(statement.parent)) {
    refuse('transaction-shape', `The commit of '${code.name}' (${at}) is no plain 'await queryRunner.commitTransaction();'.`);
  }
  const list = statement.parent;
  const around = ts.isTryStatement(list.parent) && list.parent.tryBlock === list ? list.parent : null;
  if (around === null && list !== code.fn.body) refuse('transaction-shape', `The commit of '${code.name}' (${at}) is in a branch. Store the event by hand in each branch that commits.`);
  return { runner: receiver.text, commit: statement, list, around };
}

/** The publish is behind the commit: the event is stored before the commit. */
function storeBefore(code: HandlerCode, transaction: RunnerTransaction, events: readonly PlannedEvent[], context: CodemodContext): void {
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const { commit, list, around, runner } = transaction;
  const inside = events.every(({ site }) => site.statement.pos >= list.pos && site.statement.end <= list.end);
  for (const { site } of events) {
    if (inside) guardBehind(code, list, commit, site);
    else if (around === null || !isStatementList(around.parent)) refuse('no-sound-place', `The publish (${file}:${lineOf(site.statement)}) and the commit have no block in common.`);
    else {
      guardOnlyOnCommit(code, around);
      guardBehind(code, around.parent, around, site);
      guardTail(code, transaction, site.message.node);
    }
  }
  const transactionEnd = inside || around === null || !isStatementList(around.parent) ? { list, statement: commit } : { list: around.parent, statement: around };
  guardFailuresBehind(code, transactionEnd, context);
  guardClosuresBehind(code, transactionEnd.list, transactionEnd.statement);
  const indent = indentAt(text, commit.getStart());
  const keyword = inside ? 'const ' : '';
  const lines = events.map((event) => eventLines(code, event, { indent, manager: `${runner}.manager`, keyword }));
  edits.insert(file, commit.getStart(), `${lines.join(style.eol).slice(indent.length)}${style.eol}${indent}`);
  if (!inside && around !== null) declareBefore(code, around, events);
  for (const { site, variable } of events) edits.replace(file, range(site.message.node), variable);
}

/** What follows the commit in its `try` must not set what the message uses: the event is made before it. */
function guardTail(code: HandlerCode, { list, commit }: RunnerTransaction, message: ts.Expression): void {
  const names = new Set<string>();
  walk(message.parent, (node) => {
    if (ts.isIdentifier(node) && node.pos >= message.pos && node.end <= message.end) names.add(node.text);
  });
  for (const statement of list.statements.slice(list.statements.indexOf(commit) + 1)) {
    walk(statement, (node) => {
      if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isIdentifier(node.left) && names.has(node.left.text)) {
        refuse('reassigned-variable', `'${node.left.text}', which the message uses, is set behind the commit (${code.file}:${lineOf(node)}). Set it before the commit.`);
      }
    });
  }
}

/** The publish is before the commit: the event takes its place, and the publish moves behind the commit. */
function moveBehind(code: HandlerCode, transaction: RunnerTransaction, events: readonly PlannedEvent[]): void {
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const { commit, list, around, runner } = transaction;
  for (const { site } of events) guardMovable(code, site, list);
  const isLast = list.statements[list.statements.length - 1] === commit;
  const outside = around !== null;
  if (outside) {
    if (!isLast) refuse('no-sound-place', `Behind the commit (${file}:${lineOf(commit)}) the 'try' goes on; a publish there that fails would roll back a transaction that is committed. Make the commit the last statement of the 'try'.`);
    guardOnlyOnCommit(code, around);
  }
  const anchor: ts.Statement = outside ? around : commit;
  const indent = indentAt(text, anchor.getStart());
  const publishes = events.map((event) => `${style.eol}${indent}${publishText(code, event, indent)}`).join('');
  for (const event of events) {
    const inner = indentAt(text, event.site.statement.getStart());
    edits.replace(file, range(event.site.statement), eventLines(code, event, { indent: inner, manager: `${runner}.manager`, keyword: outside ? '' : 'const ' }).slice(inner.length));
  }
  if (outside) declareBefore(code, around, events);
  edits.insert(file, anchor.getEnd(), outside ? `${style.eol}${publishes}` : publishes);
}

/** Behind a `try`, one only gets when it has committed: its `catch` ends with a `throw` or a `return`. */
function guardOnlyOnCommit(code: HandlerCode, around: ts.TryStatement): void {
  const clause = around.catchClause;
  const last = clause?.block.statements[clause.block.statements.length - 1];
  if (clause === undefined || (last !== undefined && (ts.isThrowStatement(last) || ts.isReturnStatement(last)))) return;
  refuse('no-sound-place', `The 'catch' (${code.file}:${lineOf(clause)}) rolls back and goes on, so what follows also runs without a commit. End it with a 'throw'.`);
}

function declareBefore(code: HandlerCode, around: ts.TryStatement, events: readonly PlannedEvent[]): void {
  const { text, style } = code.edits.open(code.file);
  const indent = indentAt(text, around.getStart());
  const declarations = events.map(({ variable }) => `let ${variable}${style.semicolon}${style.eol}${indent}`);
  code.edits.insert(code.file, around.getStart(), declarations.join(''));
}

export default standalone(joinQueryRunner);
