import { ts } from 'ts-morph';
import type { CodemodContext } from './codemod.js';
import { isStatementList, lineOf, statementIndex, unwrap, walk, type StatementList } from './ast.js';
import { storeLines } from './emit.js';
import type { HandlerCode, HandlerWrite, PlannedEvent } from './handler.js';
import { short } from './message.js';
import type { PublishSite } from './publish.js';
import { refuse } from './refusal.js';
import { guardLater } from './region.js';
import { findVariable, referencedNames } from './scope.js';
import { indentAt, reindent } from './style.js';

/** The start and end of a node, without its leading comments. */
export function range(node: ts.Node): { readonly start: number; readonly end: number } {
  return { start: node.getStart(), end: node.getEnd() };
}

/** `const orderPlaced = integrationEvent(…)` for code at some depth. */
export function buildLine(code: HandlerCode, event: PlannedEvent, indent: string, keyword = 'const '): string {
  const { text, style } = code.edits.open(code.file);
  const { node } = event.site.message;
  const message = reindent(code.edits.rendered(code.file, range(node)), indentAt(text, node.getStart()), indent);
  return `${keyword}${event.variable} = integrationEvent(${message})${style.semicolon}`;
}

/** The two statements that make and store an event, each line indented. */
export function eventLines(code: HandlerCode, event: PlannedEvent, how: { readonly indent: string; readonly manager: string; readonly keyword?: string }): string {
  const { style } = code.edits.open(code.file);
  return `${how.indent}${buildLine(code, event, how.indent, how.keyword)}${style.eol}${storeLines(style, how.indent, { ...event, manager: how.manager })}`;
}

/** The publish statement as it will be: it sends the event. */
export function publishText(code: HandlerCode, event: PlannedEvent, indent: string): string {
  const { edits, file } = code;
  const { text } = edits.open(file);
  const { statement, message } = event.site;
  const full = text.slice(statement.getStart(), statement.getEnd());
  const offset = statement.getStart();
  const replaced = full.slice(0, message.node.getStart() - offset) + event.variable + full.slice(message.node.getEnd() - offset);
  return reindent(replaced, indentAt(text, offset), indent);
}

/** Guards: every write goes through the handle of the transaction, as far as the handler itself tells. */
export function guardJoined(code: HandlerCode, handle: string): void {
  for (const { call, write } of code.writes) {
    if (!mentionsHandle(call, handle, 0)) {
      refuse('transaction-shape', `'${short(call)}' (${code.file}:${lineOf(call)}) stands in a transaction and is not given '${handle}', so it can not be told whether '${write.target ?? 'the row'}' is written in it.`);
    }
  }
}

/** Whether an expression uses a handle, itself or through local variables. */
export function mentionsHandle(node: ts.Node, handle: string, depth = 0): boolean {
  const names = referencedNames(node);
  if (names.has(handle)) return true;
  if (depth > 3) return false;
  return [...names].some((name) => {
    const declaration = findVariable(node, name);
    return declaration !== null && ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined && mentionsHandle(declaration.initializer, handle, depth + 1);
  });
}

/** Guards for a publish that moves: it is a plain statement of the list, and all but its message means the same outside. */
export function guardMovable(code: HandlerCode, site: PublishSite, list: StatementList): void {
  const at = `${code.file}:${lineOf(site.statement)}`;
  if (site.list !== list) {
    const inLoop = ts.findAncestor(site.statement, (node) => node === list || ts.isIterationStatement(node, false));
    if (inLoop !== undefined && inLoop !== list) refuse('publish-in-loop', `The publish (${at}) is in a loop; moved behind the commit it would have to repeat there. Store one event with the whole list.`);
    refuse('conditional-publish', `The publish (${at}) is in a branch or a 'try' of its own. Decide before the transaction whether there is an event, or rewrite this handler by hand.`);
  }
  const declared = new Set<string>();
  for (const statement of list.statements) if (ts.isVariableStatement(statement)) for (const declaration of statement.declarationList.declarations) walk(declaration.name.parent, (node) => {
    if (ts.isIdentifier(node) && node.parent === declaration) declared.add(node.text);
  });
  const rest = new Set<string>();
  walk(site.statement, (node) => {
    if (node === site.message.node) return false;
    if (ts.isIdentifier(node) && declared.has(node.text) && !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node)) rest.add(node.text);
    return true;
  });
  const [name] = rest;
  if (name !== undefined) refuse('no-sound-place', `The publish (${at}) uses '${name}', which exists only in the transaction. Declare it outside.`);
  guardLater(code.fn, list.statements.slice(statementIndex(list, site.statement) + 1), code.writes, code.publishes);
}

/** Guards: nothing leaves the list before its last statement. */
export function guardNoEarlyExit(list: StatementList, file: string): void {
  const last = list.statements[list.statements.length - 1];
  for (const statement of list.statements) {
    const visit = (node: ts.Node): boolean => {
      if (ts.isFunctionLike(node)) return false;
      if (ts.isReturnStatement(node) && node !== last) refuse('exit-in-span', `A 'return' (${file}:${lineOf(node)}) leaves the transaction early; there would be a commit without an event. Decide before the transaction.`);
      return true;
    };
    if (visit(statement)) walk(statement, visit);
  }
}

/** Whether a statement is `await x.commitTransaction()` and the like: a call of one method on one receiver. */
export function isCallOn(statement: ts.Statement, receiver: string, method: string): boolean {
  if (!ts.isExpressionStatement(statement)) return false;
  const expression = ts.isAwaitExpression(statement.expression) ? unwrap(statement.expression.expression) : unwrap(statement.expression);
  return ts.isCallExpression(expression) && expression.expression.getText() === `${receiver}.${method}`;
}

/** Removes a statement with its line, and the blank line it leaves when it stood alone between two. */
export function removeStatement(code: HandlerCode, statement: ts.Statement): void {
  const { text } = code.edits.open(code.file);
  code.edits.replace(code.file, lineRange(text, statement), '');
}

/** The statement with the rest of its lines, when nothing else is on them. */
export function lineRange(text: string, statement: ts.Statement): { readonly start: number; readonly end: number } {
  const { start, end } = range(statement);
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const newline = text.indexOf('\n', end);
  const lineEnd = newline === -1 ? text.length : newline + 1;
  const alone = text.slice(lineStart, start).trim() === '' && text.slice(end, lineEnd).trim() === '';
  if (!alone) return { start, end };
  const before = /(?:^|\n)[ \t]*\r?\n$/.exec(text.slice(0, lineStart));
  const closes = /^\s*[}\])]/.test(text.slice(lineEnd)) || /^[ \t]*\r?\n/.test(text.slice(lineEnd));
  const blank = before !== null && closes ? (/[ \t]*\r?\n$/.exec(text.slice(0, lineStart))?.[0].length ?? 0) : 0;
  return { start: lineStart - blank, end: lineEnd };
}

/** Index of the statement of `list` around a publish; refuses when the list does not hold it. */
export function publishIndex(code: HandlerCode, list: StatementList, site: PublishSite): number {
  const index = statementIndex(list, site.statement);
  if (index === -1) refuse('no-sound-place', `The publish (${code.file}:${lineOf(site.statement)}) and the transaction have no block in common.`);
  return index;
}

export function firstWrite(code: HandlerCode): HandlerWrite {
  return code.writes[0];
}

export function listOf(node: ts.Node): StatementList | null {
  return node.parent !== undefined && isStatementList(node.parent) ? node.parent : null;
}

export type { CodemodContext };
