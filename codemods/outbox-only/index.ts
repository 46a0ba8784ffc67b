import { ts } from 'ts-morph';
import type { CodemodResult } from '../../src/core/outcome.js';
import type { Finding } from '../../src/core/finding.js';
import { findCall, findFunction, findNode, isStatementList, lineOf, unwrap, walk, type FunctionNode } from '../../src/rewrite/ast.js';
import type { CodemodContext, HandlerCodemod, HandlerFindings } from '../../src/rewrite/codemod.js';
import { EditSet } from '../../src/rewrite/edits.js';
import { uniqueBy } from '../../src/rewrite/handler.js';
import { finishEdits } from '../../src/rewrite/imports.js';
import { lineRange, range } from '../../src/rewrite/join.js';
import { standalone } from '../../src/rewrite/jscodeshift.js';
import { publishStatement } from '../../src/rewrite/publish.js';
import { guarded, refuse } from '../../src/rewrite/refusal.js';
import { removeUnused } from '../../src/rewrite/unused.js';
import { findVariable, isReference } from '../../src/rewrite/scope.js';

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
  const statements: ts.Statement[] = [];
  for (const finding of uniqueBy(findings, ({ publish }) => `${(publish.path[0]?.span ?? publish.span).start}`)) {
    const { statement, event } = readLegacyPublish(source, finding);
    const gone = withItsBranch(statement, handler.file);
    edits.replace(handler.file, lineRange(text, gone), '');
    statements.push(gone);
    if (event !== null) {
      keepType(edits, handler.file, fn, statement, event.text);
      removeVariable(edits, handler.file, fn, gone, event);
    }
  }
  const followUps = removeUnused(edits, { file: handler.file, fn, statements }, context);
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

/** The `if` goes with the only statement that it holds: without it, the next statement would become its branch. */
function withItsBranch(statement: ts.Statement, file: string): ts.Statement {
  const { parent } = statement;
  if (ts.isBlock(parent) && parent.statements.length > 1) return statement;
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

/** The event is only needed where it is stored: what handed it out of the transaction goes. */
function removeVariable(edits: EditSet, file: string, fn: FunctionNode, publish: ts.Statement, event: ts.Identifier): void {
  const declaration = findVariable(publish, event.text);
  if (declaration === null || ts.isParameter(declaration)) return;
  const holder = ts.isBindingElement(declaration) ? declaration.parent.parent : declaration;
  if (!ts.isVariableDeclaration(holder) || usesOutside(fn, holder, publish, event.text)) return;
  const { text } = edits.open(file);
  if (holder.initializer === undefined) {
    keepInside(edits, file, fn, holder, event.text);
    return;
  }
  const last = callbackReturn(holder.initializer);
  const statement = holder.parent.parent;
  if (last === null || last.expression === undefined || !ts.isVariableStatement(statement)) return;
  if (ts.isIdentifier(holder.name) && ts.isIdentifier(last.expression)) {
    edits.replace(file, { start: statement.getStart(), end: holder.initializer.getStart() }, '');
    edits.replace(file, lineRange(text, last), '');
    dropNulls(edits, file, holder.initializer);
    return;
  }
  if (!ts.isObjectBindingPattern(holder.name) || !ts.isObjectLiteralExpression(last.expression)) return;
  const kept = holder.name.elements.map((element) => element.getText()).filter((name) => name !== event.text);
  const returned = last.expression.properties.map((property) => property.getText()).filter((name) => name !== event.text);
  const one = kept.length === 1 && returned.length === 1 && kept[0] === returned[0] && /^[\w$]+$/.test(kept[0] ?? '');
  edits.replace(file, range(holder.name), one ? (kept[0] ?? '') : `{ ${kept.join(', ')} }`);
  edits.replace(file, range(last.expression), one ? (returned[0] ?? '') : `{ ${returned.join(', ')} }`);
}

/** A transaction that gives nothing back leaves with `return` where it left with `return null`. */
function dropNulls(edits: EditSet, file: string, initializer: ts.Expression): void {
  walk(initializer, (node) => {
    if (ts.isReturnStatement(node) && node.expression?.kind === ts.SyntaxKind.NullKeyword) edits.replace(file, { start: node.getStart() + 'return'.length, end: node.expression.getEnd() }, '');
  });
}

/** Whether the variable is used besides its declaration, the transaction that makes it, and the publish. */
function usesOutside(fn: FunctionNode, holder: ts.VariableDeclaration, publish: ts.Node, name: string): boolean {
  let used = false;
  walk(fn, (node) => {
    if (node === publish || node === holder.initializer) return false;
    if (holder.initializer !== undefined && ts.isIdentifier(node) && node.text === name && isReference(node)) used = true;
    return true;
  });
  return used;
}

/** The `return` that a transaction's callback ends with. */
function callbackReturn(initializer: ts.Expression): ts.ReturnStatement | null {
  const value = unwrap(initializer);
  const call = ts.isAwaitExpression(value) ? unwrap(value.expression) : value;
  const callback = ts.isCallExpression(call) ? call.arguments[call.arguments.length - 1] : undefined;
  if (callback === undefined || !(ts.isArrowFunction(callback) || ts.isFunctionExpression(callback)) || !ts.isBlock(callback.body)) return null;
  const last = callback.body.statements[callback.body.statements.length - 1];
  return last !== undefined && ts.isReturnStatement(last) ? last : null;
}

/** `let event;` before a `try` becomes a constant in it. */
function keepInside(edits: EditSet, file: string, fn: FunctionNode, holder: ts.VariableDeclaration, name: string): void {
  const assignments: ts.BinaryExpression[] = [];
  walk(fn, (node) => {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && node.left.getText() === name) assignments.push(node);
  });
  const [assignment] = assignments;
  const statement = holder.parent.parent;
  if (assignment === undefined || assignments.length > 1 || !ts.isVariableStatement(statement) || statement.declarationList.declarations.length > 1) return;
  edits.replace(file, lineRange(edits.open(file).text, statement), '');
  edits.insert(file, assignment.getStart(), 'const ');
}

export default standalone(outboxOnly);
