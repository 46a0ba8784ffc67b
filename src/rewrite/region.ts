import { ts } from 'ts-morph';
import { isFunctionNode, isStatementList, lineOf, statementIndex, walk, type FunctionNode, type StatementList } from './ast.js';
import { short } from './message.js';
import { messageChange } from './influence.js';
import type { PublishSite } from './publish.js';
import { refuse } from './refusal.js';

/** The statements of one list that will run in the transaction. */
export interface Region {
  readonly list: StatementList;
  /** First and last statement, both included. */
  readonly first: number;
  readonly last: number;
  readonly start: number;
  readonly end: number;
  /** The publishes come first and have to move behind. */
  readonly publishesFirst: boolean;
}

/** A call in the handler that leads to a write. */
export interface WriteSite {
  readonly call: ts.CallExpression;
}

/**
 * The shortest run of statements that holds every write and everything the events need. It ends where the first publish,
 * or the `try` around it, begins.
 */
export function findRegion(fn: FunctionNode, writes: readonly WriteSite[], publishes: readonly PublishSite[]): Region {
  guardOneMessageEach(publishes);
  const list = commonList(fn, writes, publishes);
  const writeIndexes = writes.map(({ call }) => statementIndex(list, call));
  const publishIndexes = publishes.map(({ statement }) => statementIndex(list, statement));
  const firstWrite = Math.min(...writeIndexes);
  const lastWrite = Math.max(...writeIndexes);
  const firstPublish = Math.min(...publishIndexes);
  const lastPublish = Math.max(...publishIndexes);
  for (const publish of publishes) guardPublishPlace(publish, list, writes);
  if (firstPublish > lastWrite) return lostEventRegion(fn, list, firstWrite, lastWrite, firstPublish, publishes);
  if (lastPublish < firstWrite) {
    guardLater(fn, list.statements.slice(firstPublish + 1, lastWrite + 1), writes, publishes);
    return region(list, firstWrite, lastWrite, true);
  }
  const [publish] = publishes;
  const inCatch = writes.find(({ call }) => publishes.some(({ statement }) => isInCatchOf(call, statement)));
  if (inCatch !== undefined) refuse('no-sound-place', `'${short(inCatch.call)}' (line ${lineOf(inCatch.call)}) writes in the 'catch' of the 'try' that publishes: it records that the publish has failed, and no one transaction can hold it and the write before. With outbox-only there is no such failure; rewrite this handler by hand.`);
  refuse('several-publishes', `In '${publish?.finding.handler.name ?? ''}' publishes stand between writes (line ${publish === undefined ? 0 : lineOf(publish.statement)}). Put the publishes behind the last write.`);
}

/**
 * Guards for publishes that move behind statements they stood before: the message is sent later, so nothing of these may change
 * it, the writes themselves aside: they get what they always got, and set ids and versions that the event has copied before.
 */
export function guardLater(fn: FunctionNode, statements: readonly ts.Statement[], writes: readonly WriteSite[], publishes: readonly PublishSite[]): void {
  const affects = messageChange(fn, publishes, { handles: writes.flatMap(({ call }) => handleOf(call)) });
  const isWrite = (statement: ts.Statement): boolean => writes.some(({ call }) => call.pos >= statement.pos && call.end <= statement.end);
  const culprit = statements.find((statement) => !isPublishOnly(statement, publishes) && !isWrite(statement) && affects(statement));
  if (culprit !== undefined) refuse('no-sound-place', `'${short(culprit)}' (line ${lineOf(culprit)}) may change what the message is made from, and the publish moves behind it. Put it before the publish.`);
}

/** The name that a write starts from: `manager` in `manager.save(Order, order)`. Only calls with arguments: in `order.save()` it is the row itself. */
function handleOf(call: ts.CallExpression): readonly string[] {
  if (call.arguments.length === 0) return [];
  let root: ts.Node = call.expression;
  while (ts.isPropertyAccessExpression(root) || ts.isCallExpression(root) || ts.isNonNullExpression(root)) root = root.expression;
  return ts.isIdentifier(root) ? [root.text] : [];
}

/** Two publishes that send one variable would share one event, or send one that is not stored. */
function guardOneMessageEach(publishes: readonly PublishSite[]): void {
  const shared = publishes.find(({ message }, index) => publishes.findIndex((other) => other.message.node === message.node) !== index);
  if (shared !== undefined) refuse('several-publishes', `Two publishes send the same message, '${short(shared.message.node)}' (line ${lineOf(shared.message.node)}): each needs an event of its own. Write the message out in each.`);
}

/** Whether a write is in the `catch` of a `try` around a publish. */
function isInCatchOf(write: ts.Node, publish: ts.Node): boolean {
  return ts.findAncestor(write, (node) => ts.isCatchClause(node) && node.parent.tryBlock.pos <= publish.pos && node.parent.tryBlock.end >= publish.end) !== undefined;
}

function region(list: StatementList, first: number, last: number, publishesFirst: boolean): Region {
  const start = list.statements[first]?.getStart() ?? 0;
  const end = list.statements[last]?.getEnd() ?? 0;
  return { list, first, last, start, end, publishesFirst };
}

function lostEventRegion(fn: FunctionNode, list: StatementList, firstWrite: number, lastWrite: number, firstPublish: number, publishes: readonly PublishSite[]): Region {
  let last = firstPublish - 1;
  const affects = messageChange(fn, publishes);
  const encodes = (statement: ts.Statement | undefined): boolean => statement !== undefined && publishes.some(({ message }) => message.node.pos >= statement.pos && message.node.end <= statement.end);
  const isNeeded = (statement: ts.Statement | undefined): boolean => statement !== undefined && !encodes(statement) && affects(statement);
  while (last > lastWrite && !isNeeded(list.statements[last])) last -= 1;
  // What stands between the transaction and a publish must not change the message either.
  const after = publishes.flatMap((publish) => [...between(list, last, publish, publishes)]);
  const culprit = after.find((statement) => !encodes(statement) && affects(statement));
  if (culprit !== undefined && publishes.length === 1) refuse('no-sound-place', `'${short(culprit)}' (line ${lineOf(culprit)}) makes what the message needs inside the 'try' around the publish, and the event is stored before that 'try'. Put it before the 'try'.`);
  if (culprit !== undefined) refuse('several-publishes', `'${short(culprit)}' (line ${lineOf(culprit)}) stands between the publishes and changes what a later one sends. Put it before the first publish.`);
  return region(list, firstWrite, last, false);
}

/** Statements that run behind the region and before the publish, the ones in the `try` around it included; other publishes excluded. */
function* between(list: StatementList, last: number, publish: PublishSite, publishes: readonly PublishSite[]): Iterable<ts.Statement> {
  for (let index = last + 1; index < statementIndex(list, publish.statement); index += 1) {
    const statement = list.statements[index];
    if (statement !== undefined && !isPublishOnly(statement, publishes)) yield statement;
  }
  for (let inner: ts.Node = publish.anchor; inner.parent !== list; inner = inner.parent) {
    const { parent } = inner;
    const before = isStatementList(parent) ? parent.statements.filter((statement) => statement.end <= inner.pos) : [];
    yield* before.filter((statement) => !isPublishOnly(statement, publishes));
  }
}

/** One of the publishes that are rewritten, or the `if` that holds nothing else. */
function isPublishOnly(statement: ts.Statement, publishes: readonly PublishSite[]): boolean {
  if (ts.isIfStatement(statement) && statement.elseStatement === undefined) return isPublishOnly(statement.thenStatement, publishes);
  if (ts.isBlock(statement)) return statement.statements.every((inner) => isPublishOnly(inner, publishes));
  return publishes.some((publish) => publish.statement === statement);
}

/** The innermost statement list that holds all writes and publishes. */
function commonList(fn: FunctionNode, writes: readonly WriteSite[], publishes: readonly PublishSite[]): StatementList {
  const nodes: readonly ts.Node[] = [...writes.map(({ call }) => call), ...publishes.map(({ statement }) => statement)];
  let node: ts.Node | undefined = publishes[0]?.anchor.parent;
  while (node !== undefined && node !== fn.parent) {
    if (isStatementList(node) && nodes.every((inner) => isWithinList(node as StatementList, inner))) return node;
    node = node.parent;
  }
  refuse('conditional-publish', `Write and publish of '${publishes[0]?.finding.handler.name ?? ''}' have no block in common.`);
}

function isWithinList(list: StatementList, inner: ts.Node): boolean {
  return inner.pos >= list.pos && inner.end <= list.end && statementIndex(list, inner) !== -1;
}

/** Between the list and the publish only `try` blocks may stand: everything else makes it conditional or repeats it. */
function guardPublishPlace(publish: PublishSite, list: StatementList, writes: readonly WriteSite[] = []): void {
  const at = `${publish.finding.handler.file}:${lineOf(publish.statement)}`;
  guardCaughtMessage(publish, list);
  for (let node: ts.Node = publish.anchor; node !== list; node = node.parent) {
    const { parent } = node;
    if (isFunctionNode(parent)) break;
    if (parent === list || (ts.isBlock(parent) && ts.isTryStatement(parent.parent) && parent.parent.tryBlock === parent) || (ts.isTryStatement(parent) && parent.tryBlock === node)) continue;
    if (ts.isCatchClause(parent)) refuse('publish-in-catch', `The publish (${at}) is in a 'catch': what it announces is a failure, and the transaction that stores it would be rolled back with it.`);
    if (ts.isTryStatement(parent) && parent.finallyBlock === node) refuse('publish-in-finally', `The publish (${at}) is in a 'finally': it also runs when the write has failed.`);
    if (ts.isIterationStatement(parent, false)) refuse('publish-in-loop', `The publish (${at}) is in a loop and the write is not. Store one event with the whole list, or move the write into the loop.`);
    if (ts.isIfStatement(parent) || ts.isSwitchStatement(parent) || ts.isCaseOrDefaultClause(parent)) {
      const branch = ts.isCaseOrDefaultClause(parent) ? parent : node;
      const shared = writes.find(({ call }) => call.pos >= branch.pos && call.end <= branch.end);
      if (shared !== undefined) {
        refuse('conditional-publish', `The publish (${at}) and a write (line ${lineOf(shared.call)}) share a branch, and other branches of '${publish.finding.handler.name}' write or publish, too: each needs a transaction of its own. Move each branch into a function of its own, and rewrite these.`);
      }
      refuse('conditional-publish', `The publish (${at}) is in a branch and the write is not. Decide before the write whether there is an event, or rewrite this handler by hand.`);
    }
  }
}

/** A message that is made in a `try` of its own leaves it: what fails there is no longer caught, and takes the write back. */
function guardCaughtMessage({ fallible, message, finding }: PublishSite, list: StatementList): void {
  if (fallible === null) return;
  let around: ts.Node = message.node;
  while (around !== list && !ts.isTryStatement(around)) around = around.parent;
  if (around === list) return;
  refuse('exit-in-span', `'${short(fallible)}' (${finding.handler.file}:${lineOf(fallible)}) makes the message inside the 'try' around the publish, and may fail. In a transaction its failure would take the write back and reach the caller. Compute it before the write, and leave names and plain values in the message.`);
}

/**
 * Guards for an event that is stored in a transaction and published behind it: the publish follows in the same list, in no
 * branch of its own, and what stands between changes nothing that the message uses.
 */
export function guardBehind({ fn, publishes }: { readonly fn: FunctionNode; readonly publishes: readonly PublishSite[] }, list: StatementList, transaction: ts.Statement, publish: PublishSite): void {
  const last = list.statements.indexOf(transaction);
  const index = statementIndex(list, publish.statement);
  if (index <= last) refuse('no-sound-place', `The publish (${publish.finding.handler.file}:${lineOf(publish.statement)}) and the transaction have no block in common, or it stands before the transaction.`);
  guardPublishPlace(publish, list);
  const affects = messageChange(fn, [publish]);
  const culprit = [...between(list, last, publish, publishes)].find((statement) => affects(statement));
  if (culprit !== undefined) refuse('unknown-call', `'${short(culprit)}' (line ${lineOf(culprit)}) stands between the commit and the publish and may change the message. Move it into the transaction, or behind the publish.`);
  guardExits({ list, first: last + 1, last, start: 0, end: 0, publishesFirst: false }, [publish]);
}

/** Guards: nothing between the first write and the publish leaves the function or the loop. */
export function guardExits(region: Region, publishes: readonly PublishSite[]): void {
  const last = Math.max(region.last, ...publishes.map(({ statement }) => statementIndex(region.list, statement)));
  for (let index = Math.min(region.first, ...publishes.map(({ statement }) => statementIndex(region.list, statement))); index <= last; index += 1) {
    const statement = region.list.statements[index];
    if (statement === undefined) continue;
    if (isReturnedWrite(region, index)) continue;
    const exit = findExit(statement, publishes);
    if (exit !== null) {
      const way = ts.isThrowStatement(exit)
        ? "Decide before the write; where it depends on what the write has found, open a transaction around the two yourself, with the 'throw' in it, publish behind it, and run this again."
        : "Decide before the write, or put the publish under a condition ('if (…) { … }') instead of leaving, and run this again.";
      const word = ts.isThrowStatement(exit) ? 'throw' : ts.isReturnStatement(exit) ? 'return' : 'break or continue';
      refuse('exit-in-span', `A '${word}' (line ${lineOf(exit)}) stands between the write and the publish. In a transaction it would take the write back, or leave the event stored without its publish. ${way}`);
    }
  }
}

/** `return this.orders.save(order)` behind the publishes: its value is returned behind the transaction. */
export function isReturnedWrite(region: Region, index: number): boolean {
  const statement = region.list.statements[index];
  if (!region.publishesFirst || index !== region.last || statement === undefined || !ts.isReturnStatement(statement) || statement.expression === undefined) return false;
  let hasMore = false;
  walk(statement.expression, (node) => {
    if (ts.isFunctionLike(node)) hasMore = true;
  });
  return !hasMore;
}

function findExit(statement: ts.Statement, publishes: readonly PublishSite[]): ts.Statement | null {
  let exit: ts.Statement | null = null;
  const visit = (node: ts.Node): boolean => {
    if (exit !== null || ts.isFunctionLike(node) || ts.isClassLike(node)) return false;
    if (ts.isReturnStatement(node)) exit = node;
    if (ts.isThrowStatement(node) && !isInCatch(node)) exit = node;
    if (ts.isBreakOrContinueStatement(node) && !breaksInside(node, statement)) exit = node;
    // The rest of a `try` around the publish runs behind it, and its `catch` is what ran before, too.
    if (ts.isTryStatement(node)) {
      const publish = publishes.find((candidate) => candidate.statement.pos >= node.tryBlock.pos && candidate.statement.end <= node.tryBlock.end);
      const before = publish === undefined ? [] : node.tryBlock.statements.filter((inner) => inner.end <= publish.statement.pos);
      exit ??= before.map((inner) => findExit(inner, publishes)).find((found) => found !== null) ?? null;
      if (publish !== undefined) return false;
    }
    return exit === null;
  };
  if (visit(statement)) walk(statement, visit);
  return exit;
}

/** A `throw` in a `catch` passes on what failed inside: the transaction is rolled back either way. */
function isInCatch(node: ts.Node): boolean {
  return ts.findAncestor(node, (ancestor) => (ts.isFunctionLike(ancestor) ? 'quit' : ts.isCatchClause(ancestor))) !== undefined;
}

function breaksInside(node: ts.BreakOrContinueStatement, statement: ts.Statement): boolean {
  if (node.label !== undefined) return false;
  for (let parent: ts.Node = node.parent; parent !== statement.parent; parent = parent.parent) {
    if (ts.isIterationStatement(parent, false) || (ts.isBreakStatement(node) && ts.isSwitchStatement(parent))) return true;
  }
  return false;
}
