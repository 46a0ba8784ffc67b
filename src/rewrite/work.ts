import { ts } from 'ts-morph';
import { databaseCallsIn } from './after-failure.js';
import { lineOf, walk, type StatementList } from './ast.js';
import { short } from './message.js';
import { isLogging } from './publish.js';
import { refuse } from './refusal.js';
import { referencedNames } from './scope.js';
import { isAcknowledgement, type Delivery, type SubscriberCode } from './subscriber.js';

/** The statements of a subscriber that do the work, and what runs behind them. */
export interface Work {
  readonly list: StatementList;
  readonly first: number;
  readonly last: number;
  /** Statements that follow in the same list and in those around it. */
  readonly behind: readonly ts.Statement[];
}

/** Finds the work of a subscriber: all of its body except what prepares it (variables, guards) and what acknowledges behind it. */
export function findWork(code: SubscriberCode, delivery: Delivery): Work {
  let list: StatementList = code.body;
  const behind: ts.Statement[] = [];
  for (;;) {
    const statements: readonly ts.Statement[] = [...list.statements];
    let last = statements.length - 1;
    while (last >= 0 && isTrailing(code, delivery, statements[last])) last -= 1;
    let first = 0;
    while (first < last && isLeading(code, delivery, statements[first])) first += 1;
    if (last < 0) refuse('subscriber-shape', `The work of '${code.name}' (${code.file}:${lineOf(code.fn)}) could not be found: its writes are in a callback. Call them in the function itself.`);
    const only = statements[first];
    const inner: StatementList | null = first === last && only !== undefined ? descend(code, delivery, only) : null;
    const rest = behindWork(code, delivery, statements, last);
    behind.unshift(...rest.behind);
    if (inner === null) return { list, first, last: rest.last, behind };
    list = inner;
  }
}

/** Logging right behind the work belongs to it. */
function behindWork(code: SubscriberCode, delivery: Delivery, statements: readonly ts.Statement[], last: number): { readonly last: number; readonly behind: readonly ts.Statement[] } {
  let end = last;
  while (isLogStatement(statements[end + 1])) end += 1;
  return statements[last] !== undefined && descendable(code, delivery, statements[last]) ? { last, behind: statements.slice(last + 1) } : { last: end, behind: statements.slice(end + 1) };
}

function descendable(code: SubscriberCode, delivery: Delivery, statement: ts.Statement): boolean {
  return ts.isTryStatement(statement) || (ts.isIfStatement(statement) && ts.isBlock(statement.thenStatement) && mustDescend(code, delivery, statement));
}

/** Into a `try` (its `catch` must not go on inside the transaction), and into an `if` that holds the message or its acknowledgement. */
function descend(code: SubscriberCode, delivery: Delivery, statement: ts.Statement): StatementList | null {
  if (!descendable(code, delivery, statement)) return null;
  if (ts.isTryStatement(statement)) {
    for (const other of [statement.catchClause?.block, statement.finallyBlock]) if (other !== undefined) guardNoWork(code, other);
    guardNotSwallowed(code, statement);
    return statement.tryBlock;
  }
  if (!ts.isIfStatement(statement) || !ts.isBlock(statement.thenStatement)) return null;
  guardNoWork(code, statement.expression);
  if (statement.elseStatement !== undefined) guardNoWork(code, statement.elseStatement);
  return statement.thenStatement;
}

/**
 * A `catch` that goes on, around several writes: today the first ones stay when a later one fails. Rolled back and acknowledged,
 * the message would leave nothing behind.
 */
function guardNotSwallowed(code: SubscriberCode, { tryBlock, catchClause }: ts.TryStatement): void {
  if (catchClause === undefined || refuses(catchClause.block) || countWrites(code, tryBlock) < 2) return;
  refuse('catch-in-span', `The 'catch' of '${code.name}' (${code.file}:${lineOf(catchClause)}) goes on after a failure, and the message counts as done. Today the writes before the failure stay; in one transaction all of them would be taken back, and nobody would do them again. End the 'catch' with a 'throw', or reject the message in it.`);
}

/** Whether a `catch` throws, or tells the broker that the message was not taken. */
function refuses(block: ts.Block): boolean {
  let found = false;
  walk(block, (node) => {
    if (ts.isThrowStatement(node) || (ts.isNewExpression(node) && /Nack$/.test(node.expression.getText()))) found = true;
    if (ts.isCallExpression(node) && /(?:^|\.)(?:nack|nackAll|reject)\w*$/i.test(node.expression.getText())) found = true;
    return !ts.isFunctionLike(node);
  });
  return found;
}

/** Writes below a node, those of called functions included; one in a loop is many. */
function countWrites(code: SubscriberCode, node: ts.Node): number {
  const located = code.calls.filter(({ call, node: found }) => call.effects.write && found.pos >= node.pos && found.end <= node.end);
  return located.reduce((sum, { call, node: found }) => {
    const inLoop = ts.findAncestor(found, (ancestor) => (ancestor === node ? 'quit' : ts.isIterationStatement(ancestor, false))) !== undefined;
    return sum + (inLoop ? 2 : writesOf(code, call, new Set()));
  }, 0);
}

function writesOf(code: SubscriberCode, { callee, effects }: SubscriberCode['calls'][number]['call'], seen: Set<string>): number {
  if (callee.kind !== 'project') return effects.write ? 1 : 0;
  return Math.max(0, ...callee.functions.map((ref) => {
    const key = `${ref.file}:${ref.span.start}`;
    if (seen.has(key)) return 0;
    seen.add(key);
    return code.callsIn(ref.span).reduce((sum, call) => sum + (call.effects.transaction ? 1 : writesOf(code, call, seen)), 0);
  }));
}

function mustDescend(code: SubscriberCode, delivery: Delivery, statement: ts.IfStatement): boolean {
  return acknowledges(delivery, statement) || [delivery.declaration, delivery.inline].some((node) => node !== null && node.pos >= statement.pos && node.end <= statement.end);
}

function guardNoWork(code: SubscriberCode, node: ts.Node): void {
  const call = databaseCalls(code, node)[0];
  if (call === undefined) return;
  refuse('subscriber-shape', `'${short(call.node)}' (${code.file}:${lineOf(call.node)}) uses the database in a 'catch', 'finally', 'else' or condition beside the work, which one transaction can not hold as well. Move it into a function that is called with the work, or rewrite this subscriber by hand.`);
}

/** Calls below a node that use the database, or open a transaction on it. */
export function databaseCalls(code: SubscriberCode, node: ts.Node): SubscriberCode['calls'] {
  return databaseCallsIn(code.calls, node);
}

/** Whether a node holds an acknowledgement of the message. */
export function acknowledges(delivery: Delivery, node: ts.Node | undefined): boolean {
  return node !== undefined && acknowledgements(delivery, node).length > 0;
}

export function acknowledgements(delivery: Delivery, node: ts.Node): readonly ts.CallExpression[] {
  const found: ts.CallExpression[] = [];
  const visit = (inner: ts.Node): void => {
    if (ts.isCallExpression(inner) && isAcknowledgement(inner, delivery.handles) && !isParsing(inner)) found.push(inner);
  };
  visit(node);
  walk(node, visit);
  return found;
}

/** A function of the project that reads the body out of the raw message: its value is what matters. */
function isParsing(call: ts.CallExpression): boolean {
  return ts.isVariableDeclaration(call.parent) || (ts.isAwaitExpression(call.parent) && ts.isVariableDeclaration(call.parent.parent)) || ts.isAsExpression(call.parent);
}

/** Acknowledges or logs, and does nothing else. */
export function isTrailing(code: SubscriberCode, delivery: Delivery, statement: ts.Statement | undefined): boolean {
  if (statement === undefined || databaseCalls(code, statement).length > 0 || awaitsWork(delivery, statement)) return false;
  return isBareReturn(statement) || isLogStatement(statement) || (acknowledges(delivery, statement) && isOnlyQuiet(delivery, statement));
}

/** Prepares the work: declares variables, logs, or leaves early. */
function isLeading(code: SubscriberCode, delivery: Delivery, statement: ts.Statement | undefined): boolean {
  if (statement === undefined || databaseCalls(code, statement).length > 0 || awaitsWork(delivery, statement)) return false;
  return ts.isVariableStatement(statement) || isLogStatement(statement) || ((ts.isIfStatement(statement) || ts.isTryStatement(statement)) && isOnlyQuiet(delivery, statement));
}

function isBareReturn(statement: ts.Statement): boolean {
  return ts.isReturnStatement(statement) && statement.expression === undefined;
}

export function isLogStatement(statement: ts.Statement | undefined): boolean {
  return statement !== undefined && ts.isExpressionStatement(statement) && ts.isCallExpression(statement.expression) && isLogging(statement.expression);
}

/** `message = JSON.parse(…);` */
function isAssignment(statement: ts.Statement): boolean {
  return ts.isExpressionStatement(statement) && ts.isBinaryExpression(statement.expression) && statement.expression.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isIdentifier(statement.expression.left);
}

/** Every statement below acknowledges, logs, keeps a value, returns or throws. */
function isOnlyQuiet(delivery: Delivery, statement: ts.Statement): boolean {
  if (ts.isBlock(statement)) return statement.statements.every((inner) => isOnlyQuiet(delivery, inner));
  if (ts.isIfStatement(statement)) return isOnlyQuiet(delivery, statement.thenStatement) && (statement.elseStatement === undefined || isOnlyQuiet(delivery, statement.elseStatement));
  if (ts.isTryStatement(statement)) return [statement.tryBlock, statement.catchClause?.block, statement.finallyBlock].every((block) => block === undefined || isOnlyQuiet(delivery, block));
  if (ts.isVariableStatement(statement) || isAssignment(statement)) return true;
  if (ts.isReturnStatement(statement)) return statement.expression === undefined || acknowledges(delivery, statement);
  if (ts.isThrowStatement(statement) || isLogStatement(statement)) return true;
  return ts.isExpressionStatement(statement) && acknowledges(delivery, statement);
}

function awaitsWork(delivery: Delivery, node: ts.Node): boolean {
  let found = false;
  const visit = (inner: ts.Node): boolean => {
    if (ts.isFunctionLike(inner)) return false;
    if (ts.isAwaitExpression(inner) && !acknowledges(delivery, inner)) found = true;
    return true;
  };
  if (visit(node)) walk(node, visit);
  return found;
}

/** Returns of the subscriber itself below a node. */
export function returnsIn(node: ts.Node): readonly ts.ReturnStatement[] {
  const found: ts.ReturnStatement[] = [];
  const visit = (inner: ts.Node): boolean => {
    if (ts.isFunctionLike(inner)) return false;
    if (ts.isReturnStatement(inner)) found.push(inner);
    return true;
  };
  if (visit(node)) walk(node, visit);
  return found;
}

/** Guards: what the work gets of the bus is read only, so nothing acknowledges before the commit. */
export function guardHandles(code: SubscriberCode, delivery: Delivery, roots: readonly ts.Node[]): void {
  for (const root of roots) {
    const [call] = acknowledgements(delivery, root);
    if (call !== undefined) refuse('acknowledge-in-span', `'${short(call)}' (${code.file}:${lineOf(call)}) acknowledges, or could, before the transaction commits: a crash between the two would lose the message. Acknowledge at the end of the subscriber.`);
    const name = [...referencedNames(root)].find((reference) => delivery.handles.has(reference));
    if (name !== undefined && !readsOnly(root, name)) {
      refuse('acknowledge-in-span', `'${name}' (${code.file}:${lineOf(root)}) is used in the work, which could acknowledge the message before the commit. Read what the work needs of it before, and acknowledge at the end of the subscriber.`);
    }
  }
}

const readers = new Set(['getPattern', 'getTopic', 'getPartition', 'getArgs', 'getArgByIndex', 'getSubject', 'getPacket', 'properties', 'fields', 'content']);

function readsOnly(root: ts.Node, name: string): boolean {
  let isRead = true;
  walk(root, (node) => {
    if (ts.isIdentifier(node) && node.text === name && !(ts.isPropertyAccessExpression(node.parent) && (node.parent.name === node || readers.has(node.parent.name.text)))) isRead = false;
  });
  return isRead;
}
