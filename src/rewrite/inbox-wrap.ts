import { ts } from 'ts-morph';
import { enclosingFunction, lineOf, walk, type FunctionNode } from './ast.js';
import { usesDatabase } from './calls.js';
import type { CodemodContext } from './codemod.js';
import { indentLines } from './edits.js';
import { enlist } from './enlist.js';
import { HandDown } from './hand-down.js';
import { guardText } from './inbox-guard.js';
import { lineRange } from './join.js';
import { short } from './message.js';
import { findOwner } from './owner.js';
import { refuse } from './refusal.js';
import { declaredNames, freeName, referencedNames, takenNames } from './scope.js';
import { indentAt } from './style.js';
import type { Delivery, SubscriberCode } from './subscriber.js';
import { transactionBinder } from './transaction-binder.js';
import { acknowledgements, acknowledges, guardHandles, isLogStatement, returnsIn, type Work } from './work.js';

/** Wraps the work of a subscriber in one new transaction that asks the inbox first. */
export function wrapWork(code: SubscriberCode, delivery: Delivery, work: Work, context: CodemodContext): readonly string[] {
  const roots = work.list.statements.slice(work.first, work.last + 1);
  const removed = guardExits(code, delivery, work, roots);
  guardMessage(code, delivery, work);
  guardNames(code, work, roots);
  const { edits, file, fn } = code;
  const manager = freeName(['manager', 'entityManager', 'transactionManager'], takenNames(fn));
  const owner = findOwner(edits, file, methodAround(fn), code.calls.filter(({ call, node }) => call.callee.kind !== 'project' && usesDatabase(call) && roots.some((root) => root.pos <= node.pos && root.end >= node.end)), context);
  enlist(edits, { file, fn, roots, returnIsAwaited: true, removed }, { binder: transactionBinder(manager), handDown: new HandDown(edits, context), manager }, context);
  unwrapReturn(code, work);
  emit(code, delivery, work, { owner: owner.expression, manager, removed });
  return owner.followUps;
}

/** The method whose `this` an arrow function sees; the function itself where it is none. */
function methodAround(fn: FunctionNode): FunctionNode {
  let node: ts.Node = fn;
  while (ts.isArrowFunction(node)) {
    const outer: FunctionNode | null = enclosingFunction(node);
    if (outer === null || ts.isFunctionDeclaration(outer) || ts.isFunctionExpression(outer)) return fn;
    node = outer;
  }
  return ts.isMethodDeclaration(node) ? node : fn;
}

function emit(code: SubscriberCode, delivery: Delivery, work: Work, how: { readonly owner: string; readonly manager: string; readonly removed: readonly ts.Statement[] }): void {
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const start = work.list.statements[work.first]?.getStart() ?? 0;
  const last = work.list.statements[work.last]?.getEnd() ?? 0;
  const end = ts.getTrailingCommentRanges(text, last)?.at(-1)?.end ?? last;
  const indent = indentAt(text, start);
  const inner = indent + style.indent;
  indentLines(edits, file, { start, end });
  for (const statement of how.removed) removeLine(code, statement);
  if (delivery.inline !== null) {
    const { inline, message } = delivery;
    edits.insert(file, start, `const ${message} = ${inline.getText()}${style.semicolon}${style.eol}${indent}`);
    // What was inserted right behind it, as another argument, stays.
    edits.drop(file, { start: inline.getStart(), end: inline.getEnd() - 1 });
    edits.replace(file, { start: inline.getStart(), end: inline.getEnd() }, message);
  }
  const guard = guardText(code, delivery, { indent: inner, manager: how.manager, exit: [`return${style.semicolon}`] });
  edits.insert(file, start, `await ${how.owner}.transaction(async (${how.manager}) => {${style.eol}${guard}${style.eol}${style.eol}${inner}`);
  edits.insert(file, end, `${style.eol}${indent}})${style.semicolon}`);
}

/** Removes a statement with its line, and the indentation that the line was to get. */
function removeLine({ edits, file }: SubscriberCode, statement: ts.Statement): void {
  const { text } = edits.open(file);
  const start = text.lastIndexOf('\n', statement.getStart() - 1) + 1;
  edits.drop(file, { start, end: start });
  edits.replace(file, lineRange(text, statement), '');
}

/** `return this.orders.save(order);` at the end of the work: nobody gets that value any more. */
function unwrapReturn(code: SubscriberCode, work: Work): void {
  const last = work.list.statements[work.last];
  if (last === undefined || !ts.isReturnStatement(last) || last.expression === undefined) return;
  const isAwaited = ts.isAwaitExpression(last.expression);
  code.edits.replace(code.file, { start: last.getStart(), end: last.expression.getStart() }, isAwaited ? '' : 'await ');
}

/** Guards: the message is known where the transaction begins, and is still what came. */
function guardMessage(code: SubscriberCode, { message, declaration, inline }: Delivery, work: Work): void {
  if (inline !== null) return;
  const start = work.list.statements[work.first]?.getStart() ?? 0;
  if (declaration !== null && declaration.getStart() >= start) refuse('subscriber-shape', `'${message}' (${code.file}:${lineOf(declaration)}) is declared in the middle of the work. Read the message before it.`);
  walk(code.body, (node) => {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isIdentifier(node.left) && node.left.text === message && node.parent !== declaration) {
      refuse('reassigned-variable', `'${message}' gets another value (${code.file}:${lineOf(node)}), so it may no longer be the message with its eventId. Give that value a name of its own.`);
    }
  });
}

/** Guards: leaving the work early does in the callback what it did before. */
function guardExits(code: SubscriberCode, delivery: Delivery, work: Work, roots: readonly ts.Statement[]): ts.Statement[] {
  const isLast = (node: ts.ReturnStatement): boolean => node === roots[roots.length - 1];
  const behind = work.behind.filter((statement) => !isLogStatement(statement) && !(ts.isReturnStatement(statement) && statement.expression === undefined));
  const dropped: ts.Statement[] = [];
  for (const root of roots) {
    for (const exit of returnsIn(root)) if (!isLast(exit) && behind.length > 0) dropped.push(...guardReturn(code, delivery, behind, exit));
    guardThrow(code, root);
  }
  const kept = roots.filter((root) => !dropped.some((statement) => statement.pos >= root.pos && statement.end <= root.end));
  guardHandles(code, delivery, kept);
  for (const root of roots.filter((candidate) => !kept.includes(candidate))) {
    const left = acknowledgements(delivery, root).find((call) => !dropped.some((statement) => statement.pos <= call.pos && statement.end >= call.end));
    if (left !== undefined) guardHandles(code, delivery, [left]);
  }
  return dropped;
}

/** A branch that acknowledges and returns: the acknowledgement behind the transaction does the same, so the one in the branch goes. */
function guardReturn(code: SubscriberCode, delivery: Delivery, behind: readonly ts.Statement[], exit: ts.ReturnStatement): readonly ts.Statement[] {
  const [first] = behind;
  const own = ts.isBlock(exit.parent) ? exit.parent.statements.filter((statement) => statement.end <= exit.pos && acknowledges(delivery, statement)) : [];
  const [only] = own;
  if (first !== undefined && behind.length === 1 && only !== undefined && own.length === 1 && exit.expression === undefined && plain(first) === plain(only)) return own;
  refuse('exit-in-span', `A 'return' (${code.file}:${lineOf(exit)}) leaves the work early and passes over '${first === undefined ? '' : short(first)}', which would run behind the transaction in any case. Decide before the work, or let every path end with the same acknowledgement.`);
}

function plain(statement: ts.Statement): string {
  return statement.getText().replace(/^await\s+/, '').replace(/;$/, '');
}

/** A `throw` behind a write keeps the write today, and would take it back in the transaction. */
function guardThrow(code: SubscriberCode, root: ts.Statement): void {
  const first = code.calls.find(({ call }) => call.effects.write);
  const visit = (node: ts.Node): boolean => {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isThrowStatement(node) && first !== undefined && node.getStart() > first.node.getStart() && ts.findAncestor(node, ts.isCatchClause) === undefined) {
      refuse('exit-in-span', `A 'throw' (${code.file}:${lineOf(node)}) stands behind a write; in the transaction it would take the write back. Decide before the write.`);
    }
    return true;
  };
  if (visit(root)) walk(root, visit);
}

/** Guards: what is declared in the work is used in it only. */
function guardNames(code: SubscriberCode, work: Work, roots: readonly ts.Statement[]): void {
  const declared = new Set(roots.flatMap(declaredNames));
  for (const statement of work.behind) {
    const name = [...referencedNames(statement)].find((candidate) => declared.has(candidate));
    if (name !== undefined) refuse('declaration-in-span', `'${name}' is declared in the work and used behind it (${code.file}:${lineOf(statement)}), where the transaction is over and a duplicate has none. Move that statement before the acknowledgement.`);
  }
}
