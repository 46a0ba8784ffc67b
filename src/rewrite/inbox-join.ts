import { ts } from 'ts-morph';
import { isAsync, isStatementList, lineOf, unwrap, walk } from './ast.js';
import { indentLines } from './edits.js';
import { guardText } from './inbox-guard.js';
import { mentionsHandle } from './join.js';
import { short } from './message.js';
import { refuse } from './refusal.js';
import { declaredNames, freeName, referencedNames, takenNames } from './scope.js';
import { indentAt } from './style.js';
import type { Delivery, SubscriberCode } from './subscriber.js';
import { acknowledges, databaseCalls, guardHandles, isLogStatement, isTrailing, returnsIn } from './work.js';

/** Puts the inbox check in front of the work of a callback transaction that the subscriber has already. */
export function joinCallbackTransaction(code: SubscriberCode, delivery: Delivery, call: ts.CallExpression): void {
  const callback = call.arguments[call.arguments.length - 1];
  const at = `${code.file}:${lineOf(call)}`;
  if (callback === undefined || !(ts.isArrowFunction(callback) || ts.isFunctionExpression(callback)) || !ts.isBlock(callback.body) || !isAsync(callback)) {
    refuse('transaction-shape', `'${short(call.expression)}' (${at}) gets no async function with a body in braces.`);
  }
  const manager = callback.parameters[0]?.name;
  if (manager === undefined || !ts.isIdentifier(manager)) refuse('transaction-shape', `The callback of '${short(call.expression)}' (${at}) does not take the manager of its transaction, so its writes do not run in it.`);
  const statement = statementAround(code, call, at);
  guardBefore(code, delivery, statement);
  guardInside(code, { handle: manager.text, start: callback.getStart(), end: callback.getEnd(), statement });
  guardHandles(code, delivery, [callback.body]);
  const wantsValue = skipForDuplicates(code, delivery, statement);
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const first = callback.body.statements[0];
  const indent = first === undefined ? indentAt(text, statement.getStart()) + style.indent : indentAt(text, first.getStart());
  const guard = guardText(code, delivery, { indent, manager: manager.text, exit: [`return${wantsValue ? ' null' : ''}${style.semicolon}`] });
  edits.insert(file, callback.body.getStart() + 1, `${style.eol}${guard}${first === undefined ? '' : style.eol}`);
}

/** The statement of the transaction. Guards: it is awaited. */
function statementAround(code: SubscriberCode, call: ts.CallExpression, at: string): ts.Statement {
  let node: ts.Node = call.parent;
  let isAwaited = false;
  while (ts.isAwaitExpression(node) || ts.isParenthesizedExpression(node)) {
    isAwaited ||= ts.isAwaitExpression(node);
    node = node.parent;
  }
  if (ts.isReturnStatement(node)) return node;
  if (!isAwaited) refuse('write-not-awaited', `The transaction of '${code.name}' (${at}) is not awaited. Await it.`);
  if (ts.isExpressionStatement(node)) return node;
  if (ts.isVariableDeclaration(node) && ts.isVariableDeclarationList(node.parent) && node.parent.declarations.length === 1 && ts.isVariableStatement(node.parent.parent)) return node.parent.parent;
  refuse('transaction-shape', `What the transaction (${at}) gives back is used in an expression. Put it into a constant first.`);
}

/** Guards: before the transaction, a duplicate would only read and prepare. */
function guardBefore(code: SubscriberCode, delivery: Delivery, transaction: ts.Statement, runner?: string): void {
  walk(code.body, (node) => {
    if (ts.isFunctionLike(node) || node.pos >= transaction.pos) return false;
    if (ts.isStatement(node) && node.end <= transaction.pos && acknowledges(delivery, node) && returnsIn(node).length === 0) {
      refuse('acknowledge-in-span', `'${short(node)}' (${code.file}:${lineOf(node)}) acknowledges before the transaction commits: a crash between the two would lose the message. Acknowledge at the end of the subscriber.`);
    }
    if (!ts.isAwaitExpression(node) || node.end > transaction.pos) return true;
    const call = unwrap(node.expression);
    const isRead = code.calls.some(({ call: { effects }, node: found }) => found === call && effects.read && !effects.write);
    if (isRead || acknowledges(delivery, node) || (runner !== undefined && referencedNames(call).has(runner))) return true;
    refuse('external-await', `'${short(node)}' (${code.file}:${lineOf(node)}) stands before the transaction and would be done again for a duplicate. Put it into the transaction if it uses the database; else this subscriber has to be rewritten by hand.`);
  });
}

/** Guards: every write is in the transaction and goes through its handle; reads may stand before it. */
function guardInside(code: SubscriberCode, transaction: { readonly handle: string; readonly start: number; readonly end: number; readonly statement: ts.Statement }): void {
  for (const { call, node } of databaseCalls(code, code.body)) {
    const at = `${code.file}:${lineOf(node)}`;
    if (call.effects.transaction && (call.effects.write || call.effects.read) && node.pos <= transaction.start && node.end >= transaction.end) continue;
    const isInside = node.getStart() >= transaction.start && node.getEnd() <= transaction.end;
    if (!isInside && call.effects.write) refuse('mixed-transactions', `'${short(node)}' (${at}) writes outside of the transaction that the subscriber has. Put all of its work into one.`);
    if (!isInside || call.effects.transaction) continue;
    if (!mentionsHandle(node, transaction.handle)) refuse('transaction-shape', `'${short(node)}' (${at}) stands in a transaction and is not given '${transaction.handle}', so it can not be told whether it takes part.`);
  }
}

/**
 * What the subscriber does behind the commit, besides acknowledging and logging, is for a first delivery only. Whether the
 * transaction has to give back a value by which that is told.
 */
function skipForDuplicates(code: SubscriberCode, delivery: Delivery, statement: ts.Statement): boolean {
  const list = statement.parent;
  if (!isStatementList(list)) refuse('transaction-shape', `The transaction (${code.file}:${lineOf(statement)}) is the only statement of a branch without braces.`);
  const following = list.statements.slice(list.statements.indexOf(statement) + 1);
  guardAround(code, delivery, list);
  const names = ts.isVariableStatement(statement) ? declaredNames(statement) : [];
  const uses = (candidate: ts.Statement): boolean => [...referencedNames(candidate)].some((name) => names.includes(name));
  const isSkipped = following.map((candidate) => uses(candidate) || !isTrailing(code, delivery, candidate));
  const first = isSkipped.indexOf(true);
  if (first === -1) return ts.isVariableStatement(statement) || ts.isReturnStatement(statement);
  const run = following.slice(first, isSkipped.lastIndexOf(true) + 1);
  guardRun(code, delivery, run, names);
  wrapRun(code, statement, { run, names });
  return true;
}

/** Guards: statements around the list of the transaction only acknowledge and log behind it. */
function guardAround(code: SubscriberCode, delivery: Delivery, list: ts.Node): void {
  for (let node: ts.Node = list; node !== code.body && node.parent !== undefined; node = node.parent) {
    const { parent } = node;
    if (ts.isIterationStatement(parent, false)) refuse('transaction-shape', `The transaction of '${code.name}' (${code.file}:${lineOf(parent)}) is in a loop: one message would be several deliveries.`);
    if (!isStatementList(parent)) continue;
    const work = parent.statements.find((statement) => statement.pos >= node.end && !isTrailing(code, delivery, statement));
    if (work !== undefined) refuse('effect-behind-commit', `'${short(work)}' (${code.file}:${lineOf(work)}) runs behind the transaction, for a duplicate as well. Put it into the transaction.`);
  }
}

/** Guards: what is left out for a duplicate is the publish of a stored event, and nothing that a redelivery would have to repeat. */
function guardRun(code: SubscriberCode, delivery: Delivery, run: readonly ts.Statement[], names: readonly string[]): void {
  for (const statement of run) {
    const at = `${code.file}:${lineOf(statement)}`;
    if (acknowledges(delivery, statement)) refuse('acknowledge-in-span', `'${short(statement)}' (${at}) acknowledges before the publish, or with what the transaction gave back, which a duplicate has not. Acknowledge at the end of the subscriber.`);
    const publishes = code.calls.some(({ call, node }) => call.effects.publish && node.pos >= statement.pos && node.end <= statement.end);
    if (publishes || isLogStatement(statement)) continue;
    refuse('effect-behind-commit', `'${short(statement)}' (${at}) runs behind the commit, and a redelivery would not repeat it when a crash prevents it. Put it into the transaction, or let an event that is stored there do it.`);
  }
  if (names.length === 0) refuse('publish-on', `'${code.name}' (${code.file}:${lineOf(code.fn)}) publishes behind its transaction what it did not store in it. Run 'outboxify rewrite ${code.name} --to dual-publish' first.`);
}

/** `if (orderPaid !== null) { … }` around what a duplicate must not do. */
function wrapRun(code: SubscriberCode, statement: ts.Statement, how: { readonly run: readonly ts.Statement[]; readonly names: readonly string[] }): void {
  const declaration = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : undefined;
  const [start, last] = [how.run[0], how.run[how.run.length - 1]];
  if (declaration === undefined || start === undefined || last === undefined) return;
  if (declaration.type !== undefined) refuse('transaction-shape', `The constant that holds the transaction's value (${code.file}:${lineOf(statement)}) has a declared type. Remove it: it follows from the callback.`);
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const indent = indentAt(text, start.getStart());
  const end = ts.getTrailingCommentRanges(text, last.getEnd())?.at(-1)?.end ?? last.getEnd();
  let name = declaration.name.getText();
  let taken = '';
  if (!ts.isIdentifier(declaration.name)) {
    name = freeName(['committed', 'result'], takenNames(code.fn));
    taken = `${indent}${style.indent}const ${declaration.name.getText()} = ${name}${style.semicolon}${style.eol}`;
    edits.replace(file, { start: declaration.name.getStart(), end: declaration.name.getEnd() }, name);
  }
  indentLines(edits, file, { start: start.getStart(), end });
  edits.insert(file, start.getStart(), `if (${name} !== null) {${style.eol}${taken}${indent}${style.indent}`);
  edits.insert(file, end, `${style.eol}${indent}}`);
}

/** Puts the inbox check behind `startTransaction()` of a query runner. A duplicate commits (that counts it) and acknowledges. */
export function joinRunnerTransaction(code: SubscriberCode, delivery: Delivery): void {
  const start = runnerStatement(code, 'startTransaction');
  const commit = runnerStatement(code, 'commitTransaction');
  const at = `${code.file}:${lineOf(start.statement)}`;
  if (start.runner !== commit.runner) refuse('transaction-shape', `'${code.name}' (${at}) starts one transaction and commits another.`);
  const [first, before] = firstOfWork(start.statement, commit.statement, at);
  guardBefore(code, delivery, start.statement, start.runner);
  guardInside(code, { handle: start.runner, start: start.statement.getEnd(), end: commit.statement.getStart(), statement: commit.statement });
  guardHandles(code, delivery, [...commit.list.statements.slice(commit.list.statements.indexOf(first), commit.list.statements.indexOf(commit.statement))]);
  const exits = duplicateExits(code, delivery, commit);
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const indent = indentAt(text, first.getStart());
  const guard = guardText(code, delivery, { indent, manager: `${start.runner}.manager`, exit: [commit.statement.getText(), ...exits, `return${style.semicolon}`] });
  if (before === null) edits.insert(file, first.getStart(), `${guard.slice(indent.length)}${style.eol}${style.eol}${indent}`);
  else edits.insert(file, before.getEnd(), `${style.eol}${guard}${style.eol}`);
}

interface RunnerStatement {
  readonly runner: string;
  readonly statement: ts.Statement;
  readonly list: ts.Block;
}

function runnerStatement(code: SubscriberCode, method: string): RunnerStatement {
  const found: ts.CallExpression[] = [];
  walk(code.body, (node) => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === method) found.push(node);
  });
  const [call] = found;
  const receiver = call !== undefined && ts.isPropertyAccessExpression(call.expression) ? unwrap(call.expression.expression) : null;
  const statement = call?.parent.parent;
  if (call === undefined || found.length > 1 || receiver === null || !ts.isIdentifier(receiver) || statement === undefined || !ts.isExpressionStatement(statement) || !ts.isBlock(statement.parent)) {
    refuse('transaction-shape', `'${code.name}' (${code.file}:${lineOf(code.fn)}) has no one plain 'await queryRunner.${method}();'.`);
  }
  return { runner: receiver.text, statement, list: statement.parent };
}

/** The first statement of the work: behind the start, or in the `try` that follows it. */
function firstOfWork(start: ts.Statement, commit: ts.Statement, at: string): readonly [ts.Statement, ts.Statement | null] {
  const list = start.parent;
  const next = isStatementList(list) ? list.statements[list.statements.indexOf(start) + 1] : undefined;
  if (next !== undefined && commit.parent === list) return [next, start];
  if (next !== undefined && ts.isTryStatement(next) && commit.parent === next.tryBlock && next.tryBlock.statements[0] !== undefined) return [next.tryBlock.statements[0], null];
  refuse('transaction-shape', `Between 'startTransaction()' (${at}) and its commit stands something other than the work, or a 'try' around it.`);
}

/** The acknowledgements that follow the commit, for a duplicate to repeat; what else follows is for a first delivery only. */
function duplicateExits(code: SubscriberCode, delivery: Delivery, commit: RunnerStatement): readonly string[] {
  const exits: string[] = [];
  for (let node: ts.Node = commit.statement; node !== code.body; node = node.parent) {
    const { parent } = node;
    if (ts.isIterationStatement(parent, false)) refuse('transaction-shape', `The transaction of '${code.name}' (${code.file}:${lineOf(parent)}) is in a loop: one message would be several deliveries.`);
    if (!isStatementList(parent)) continue;
    for (const statement of parent.statements.filter((candidate) => candidate.pos >= node.end)) {
      if (ts.isReturnStatement(statement) || isLogStatement(statement)) continue;
      if (acknowledges(delivery, statement) && isTrailing(code, delivery, statement)) exits.push(statement.getText());
      else if (!code.calls.some(({ call, node: found }) => call.effects.publish && found.pos >= statement.pos && found.end <= statement.end)) {
        refuse('effect-behind-commit', `'${short(statement)}' (${code.file}:${lineOf(statement)}) runs behind the commit, and a redelivery would not repeat it when a crash prevents it. Put it into the transaction, or let an event that is stored there do it.`);
      }
    }
  }
  return exits;
}
