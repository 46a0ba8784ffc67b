import { ts } from 'ts-morph';
import type { CodemodResult } from '../../src/core/outcome.js';
import { guardNotAmbient } from '../../src/rewrite/ambient-decorator.js';
import { lineOf, statementIndex } from '../../src/rewrite/ast.js';
import { ambientHost, guardAmbient, hostOwner } from '../../src/rewrite/ambient-host.js';
import { callsOf, usesDatabase, type TransactionCode } from '../../src/rewrite/calls.js';
import { guardClosures } from '../../src/rewrite/closures.js';
import type { CodemodContext, HandlerCodemod, HandlerFindings } from '../../src/rewrite/codemod.js';
import { indentLines } from '../../src/rewrite/edits.js';
import { columns, returned, storeLines } from '../../src/rewrite/emit.js';
import { enlist } from '../../src/rewrite/enlist.js';
import { guardFailures } from '../../src/rewrite/failures.js';
import { guardHandedIn } from '../../src/rewrite/handed-in.js';
import { HandDown } from '../../src/rewrite/hand-down.js';
import { importOutbox, planEvents, readHandler, type HandlerCode, type PlannedEvent } from '../../src/rewrite/handler.js';
import { finishEdits } from '../../src/rewrite/imports.js';
import { standalone } from '../../src/rewrite/jscodeshift.js';
import { short } from '../../src/rewrite/message.js';
import { findOwner } from '../../src/rewrite/owner.js';
import { guarded, refuse } from '../../src/rewrite/refusal.js';
import { findRegion, guardExits, isReturnedWrite, type Region } from '../../src/rewrite/region.js';
import { freeName, takenNames } from '../../src/rewrite/scope.js';
import { indentAt, reindent } from '../../src/rewrite/style.js';
import { transactionBinder } from '../../src/rewrite/transaction-binder.js';
import { regionVariables } from '../../src/rewrite/variables.js';

/** Opens a transaction around writes that had none, and stores the event in it. */
export const dualPublishDirect = {
  id: 'dual-publish-direct',
  title: 'Store the event in one new transaction with the writes',
  plan: (findings, context) => guarded(() => plan(findings, context)),
} as const satisfies HandlerCodemod;

function plan(findings: HandlerFindings, context: CodemodContext): CodemodResult {
  const code = readHandler(findings, context, { inTransactionCallback: false, messageBefore: true, conditional: true });
  guardNotAmbient(code, context);
  const inTransaction = code.writes.find(({ write }) => write.transaction !== null);
  if (inTransaction !== undefined) refuse('mixed-transactions', `A write of '${code.name}' (${inTransaction.write.file}:${inTransaction.write.line}) has a transaction and another has none. Put them into one first.`);
  const region = findRegion(code.fn, code.writes, code.publishes);
  for (const { message, call } of code.publishes) {
    const isBefore = message.node.pos < call.pos;
    if (isBefore && (region.publishesFirst || message.node.pos < region.end)) refuse('message-built-elsewhere', `The message of '${short(call.expression)}' (${code.file}:${lineOf(call)}) is encoded before the last write. Encode it behind, or where it is published.`);
  }
  guardExits(region, code.publishes);
  guardFailures(code, region, context);
  guardClosures(code.fn, code.file, {
    list: region.list, first: region.first, end: region.end,
    last: region.publishesFirst ? region.last : Math.max(...code.publishes.map(({ statement }) => statementIndex(region.list, statement))),
    messages: region.publishesFirst ? [] : code.publishes.flatMap(({ message, condition }) => (condition === null ? [message.node] : [message.node, condition])),
  });
  const transaction = transactionCode(code, region);
  const opened = openTransaction(code, transaction, context);
  const events = planEvents(code, context);
  wrap(code, region, { ...opened, events });
  importOutbox(code, context);
  return { kind: 'edits', edits: finishEdits(code.edits), followUps: opened.followUps };
}

/** How the transaction is opened, and what `store` gets in it. */
interface Opened {
  readonly opening: string;
  readonly manager: string;
  readonly followUps: readonly string[];
}

/** Opens the project's ambient transaction where all of the code goes through it; else a new one, whose manager is handed down. */
function openTransaction(code: HandlerCode, transaction: TransactionCode, context: CodemodContext): Opened {
  const host = ambientHost(code.edits, transaction, context);
  if (host !== null) {
    guardAmbient(code.edits, transaction, context);
    const { expression, followUps } = hostOwner(code.edits, code, host, context);
    return { opening: `${expression}.withTransaction(async () => {`, manager: `${expression}.tx`, followUps };
  }
  const manager = freeName(['manager', 'entityManager', 'transactionManager'], takenNames(code.fn));
  const calls = callsOf(code.edits, transaction, context);
  guardHandedIn(code.file, calls);
  const direct = calls.filter(({ call }) => call.callee.kind !== 'project' && usesDatabase(call));
  const owner = findOwner(code.edits, code.file, code.fn, direct, context);
  enlist(code.edits, transaction, { binder: transactionBinder(manager), handDown: new HandDown(code.edits, context), manager }, context);
  return { opening: `${owner.expression}.transaction(async (${manager}) => {`, manager, followUps: owner.followUps };
}

function transactionCode(code: HandlerCode, region: Region): TransactionCode {
  const statements = region.list.statements.slice(region.first, region.last + 1);
  const messages = region.publishesFirst ? [] : code.publishes.flatMap(({ message, condition }) => (condition === null ? [message.node] : [message.node, condition]));
  return { file: code.file, fn: code.fn, roots: [...statements, ...messages], returnIsAwaited: isReturnedWrite(region, region.last) };
}

function wrap(code: HandlerCode, region: Region, how: { readonly opening: string; readonly manager: string; readonly events: readonly PlannedEvent[] }): void {
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const indent = indentAt(text, region.start);
  const inner = indent + style.indent;
  const end = ts.getTrailingCommentRanges(text, region.end)?.at(-1)?.end ?? region.end;
  const needed = regionVariables(region, region.publishesFirst ? [] : code.publishes.flatMap(({ message, condition }) => (condition === null ? [message.node] : [message.node, condition])), code.fn);
  const saved = returnedWrite(code, region);
  const names = [...(saved === null ? [] : [saved]), ...needed, ...(region.publishesFirst ? [] : how.events.map(({ variable }) => variable))];
  const { pattern, value } = returned(names);
  const moved = (node: ts.Node, to: string): string => reindent(edits.rendered(file, range(node)), indentAt(text, node.getStart()), to);
  const build = (event: PlannedEvent): string => {
    const made = `integrationEvent(${moved(event.site.message.node, region.publishesFirst ? indent : inner)})`;
    const { condition } = event.site;
    if (condition === null) return `const ${event.variable} = ${made}${style.semicolon}`;
    const head = `const ${event.variable} = ${conditionText(moved(condition, inner), condition)}`;
    const line = `${head} ? ${made} : null${style.semicolon}`;
    if (line.includes('\n') || columns(inner + line) <= style.width) return line;
    return `${head}${style.eol}${inner}${style.indent}? ${made}${style.eol}${inner}${style.indent}: null${style.semicolon}`;
  };
  const tail: string[] = [];
  if (!region.publishesFirst) for (const event of how.events) tail.push(`${inner}${build(event)}`);
  for (const event of how.events) {
    const store = (depth: string): string => storeLines(style, depth, { ...event, manager: how.manager });
    tail.push(event.site.condition === null ? store(inner) : `${inner}if (${event.variable}) {${style.eol}${store(inner + style.indent)}${style.eol}${inner}}`);
  }
  if (names.length > 0) tail.push(`${inner}return ${value}${style.semicolon}`);
  const builds = region.publishesFirst ? how.events.map((event) => ({ event, text: build(event) })) : [];
  for (const { site, variable } of how.events) {
    edits.drop(file, range(site.message.node));
    edits.replace(file, range(site.message.node), variable);
    if (site.condition === null) continue;
    edits.drop(file, range(site.condition));
    edits.replace(file, range(site.condition), variable);
  }
  const behind = region.publishesFirst ? code.publishes.map(({ statement }) => `${style.eol}${indent}${moved(statement, indent)}`) : [];
  if (saved !== null) behind.push(`${style.eol}${indent}return ${saved}${style.semicolon}`);
  indentLines(edits, file, { start: region.start, end });
  const declaration = names.length === 0 ? '' : `const ${pattern} = `;
  edits.insert(file, region.start, `${declaration}await ${how.opening}${style.eol}${inner}`);
  for (const { event, text: built } of builds) {
    edits.drop(file, range(event.site.statement));
    edits.replace(file, range(event.site.statement), built);
  }
  if (region.publishesFirst) guardMovable(code, region);
  edits.insert(file, end, `${style.eol}${tail.join(style.eol)}${style.eol}${indent}})${style.semicolon}${behind.join('')}`);
}

/** A condition in front of `?`: what binds weaker gets parentheses. */
function conditionText(text: string, condition: ts.Expression): string {
  const isWeak = ts.isConditionalExpression(condition) || ts.isArrowFunction(condition) || (ts.isBinaryExpression(condition) && condition.operatorToken.kind >= ts.SyntaxKind.FirstAssignment && condition.operatorToken.kind <= ts.SyntaxKind.LastAssignment);
  return isWeak ? `(${text})` : text;
}

/** `return this.orders.save(order)` becomes `const saved = await …`; the name that its value gets. */
function returnedWrite(code: HandlerCode, region: Region): string | null {
  const statement = region.list.statements[region.last];
  if (!isReturnedWrite(region, region.last) || statement === undefined || !ts.isReturnStatement(statement) || statement.expression === undefined) return null;
  const name = freeName(['saved', 'result'], takenNames(code.fn));
  const value = ts.isAwaitExpression(statement.expression) ? statement.expression.expression : statement.expression;
  code.edits.replace(code.file, { start: statement.getStart(), end: value.getStart() }, `const ${name} = await `);
  return name;
}

function range(node: ts.Node): { readonly start: number; readonly end: number } {
  return { start: node.getStart(), end: node.getEnd() };
}

/** A publish before the write moves behind it, so it has to stand in the same list. */
function guardMovable(code: HandlerCode, region: Region): void {
  for (const { statement, list, condition } of code.publishes) {
    if (condition !== null) refuse('conditional-publish', `The publish (${code.file}:${lineOf(statement)}) stands in a branch before the write. Decide behind the write, or rewrite this handler by hand.`);
    if (list !== region.list || statementIndex(region.list, statement) < 0) refuse('no-sound-place', `The publish (${code.file}) is in a 'try' before the write; moved behind it, its 'catch' would see other failures.`);
  }
}

export default standalone(dualPublishDirect);
