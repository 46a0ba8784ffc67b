import { ts } from 'ts-morph';
import type { CodemodResult } from '../../src/core/outcome.js';
import { guardNotAmbient } from '../../src/rewrite/ambient-decorator.js';
import { findCall, isStatementList, lineOf, unwrap, type FunctionNode } from '../../src/rewrite/ast.js';
import { ambientManager } from '../../src/rewrite/ambient-callback.js';
import { isAwaited } from '../../src/rewrite/calls.js';
import { guardClosuresBehind } from '../../src/rewrite/closures.js';
import type { CodemodContext, HandlerCodemod, HandlerFindings } from '../../src/rewrite/codemod.js';
import { guardFailuresBehind } from '../../src/rewrite/failures.js';
import { importOutbox, planEvents, readHandler, type HandlerCode, type PlannedEvent } from '../../src/rewrite/handler.js';
import { finishEdits } from '../../src/rewrite/imports.js';
import { eventLines, guardJoined, guardMovable, guardNoEarlyExit, publishText, range } from '../../src/rewrite/join.js';
import { standalone } from '../../src/rewrite/jscodeshift.js';
import { short } from '../../src/rewrite/message.js';
import { guarded, refuse } from '../../src/rewrite/refusal.js';
import { guardBehind } from '../../src/rewrite/region.js';
import { declaredNames, findVariable, freeName, referencedNames, takenNames } from '../../src/rewrite/scope.js';
import { indentAt } from '../../src/rewrite/style.js';
import { namesIn } from '../../src/rewrite/variables.js';

/** Stores the event in the callback transaction that the writes have; a publish inside it moves behind the commit. */
export const joinCallback = {
  id: 'join-callback',
  title: 'Store the event in the transaction that is there',
  plan: (findings, context) => guarded(() => plan(findings, context)),
} as const satisfies HandlerCodemod;

/** `[const x = |return ][await] manager.transaction(async (manager) => { … })` */
interface Transaction {
  readonly call: ts.CallExpression;
  readonly callback: ts.ArrowFunction | ts.FunctionExpression;
  readonly body: ts.Block;
  /** Expression of the transaction's manager, in the callback. */
  readonly manager: string;
  /** The writes reach the transaction through the library's context, and not through the manager. */
  readonly isAmbient: boolean;
  readonly statement: ts.Statement;
  readonly list: ts.Block | ts.CaseOrDefaultClause;
  /** The value of the callback, as its last statement returns it. */
  readonly result: ts.Expression | null;
  readonly lastReturn: ts.ReturnStatement | null;
}

function plan(findings: HandlerFindings, context: CodemodContext): CodemodResult {
  const code = readHandler(findings, context, { inTransactionCallback: true, messageBefore: false, conditional: false });
  guardNotAmbient(code, context);
  const transaction = readTransaction(code, context);
  if (!transaction.isAmbient) guardJoined(code, transaction.manager);
  guardNoEarlyExit(transaction.body, code.file);
  guardSettled(code, transaction);
  guardAwaitedWrites(code);
  const inside = code.publishes.filter(({ call }) => isInside(call, transaction.callback));
  if (inside.length > 0 && inside.length < code.publishes.length) refuse('several-publishes', `'${code.name}' publishes inside and behind its transaction. Bring the publishes together first.`);
  for (const site of code.publishes) {
    if (inside.length > 0) guardMovable(code, site, transaction.body);
    else guardBehind(code, transaction.list, transaction.statement, site);
  }
  if (inside.length === 0) {
    guardFailuresBehind(code, transaction, context);
    guardClosuresBehind(code, transaction.list, transaction.statement);
  }
  const events = planEvents(code, context);
  if (inside.length > 0) storeInPlace(code, transaction, events);
  else storeAtEnd(code, transaction, events);
  importOutbox(code, context);
  return { kind: 'edits', edits: finishEdits(code.edits), followUps: [] };
}

/** A write that nobody waits for may run when the transaction is over. */
function guardAwaitedWrites(code: HandlerCode): void {
  for (const { call } of code.writes) {
    if (!isAwaited(call, true)) refuse('write-not-awaited', `'${short(call)}' (${code.file}:${lineOf(call)}) is not awaited where it stands. Await it.`);
  }
}

function isInside(inner: ts.Node, outer: ts.Node): boolean {
  return inner.pos >= outer.pos && inner.end <= outer.end;
}

function readTransaction(code: HandlerCode, context: CodemodContext): Transaction {
  const site = code.writes[0].write.transaction;
  const call = site === null || site.span.file !== code.file ? null : findCall(code.edits.open(code.file).source, site.span);
  const callback = call?.arguments[call.arguments.length - 1];
  if (call === null || callback === undefined || !isInside(call, code.fn) || !(site?.style === 'ambient' || /\.transaction$/.test(call.expression.getText()))) {
    refuse('transaction-shape', `The transaction of '${code.name}' (${code.file}:${site === null ? 0 : lineOf(code.fn)}) is opened elsewhere, in '${site?.function ?? ''}'. Store the event there, or hand its manager to this function.`);
  }
  const at = `${code.file}:${lineOf(call)}`;
  if (!(ts.isArrowFunction(callback) || ts.isFunctionExpression(callback)) || !ts.isBlock(callback.body) || !isAsyncFunction(callback)) {
    refuse('transaction-shape', `'${short(call.expression)}' (${at}) gets no async function with a body in braces.`);
  }
  const isAmbient = site?.style === 'ambient';
  const manager = isAmbient ? ambientManager(code.edits, { file: code.file, call, callback }, context) : managerParameter(call, callback, at);
  const statement = statementAround(call, at);
  const list = statement.parent;
  if (!isStatementList(list)) refuse('transaction-shape', `'${short(call.expression)}' (${at}) is the only statement of a branch without braces.`);
  const last = callback.body.statements[callback.body.statements.length - 1];
  const lastReturn = last !== undefined && ts.isReturnStatement(last) ? last : null;
  return { call, callback, body: callback.body, manager, isAmbient, statement, list, lastReturn, result: lastReturn?.expression ?? null };
}

function managerParameter(call: ts.CallExpression, callback: FunctionNode, at: string): string {
  const parameter = callback.parameters[0];
  if (parameter === undefined || !ts.isIdentifier(parameter.name)) refuse('transaction-shape', `The callback of '${short(call.expression)}' (${at}) does not take the manager of its transaction, so its writes do not run in it.`);
  return parameter.name.text;
}

function isAsyncFunction(fn: FunctionNode): boolean {
  return (ts.canHaveModifiers(fn) ? (ts.getModifiers(fn) ?? []) : []).some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword);
}

/** The transaction has to be a statement, the value of one constant, or what the function returns. */
function statementAround(call: ts.CallExpression, at: string): ts.Statement {
  let node: ts.Node = call.parent;
  while (ts.isAwaitExpression(node) || ts.isParenthesizedExpression(node)) node = node.parent;
  if (ts.isExpressionStatement(node) || ts.isReturnStatement(node)) {
    if (ts.isExpressionStatement(node) && !ts.isAwaitExpression(unwrap(node.expression))) refuse('write-not-awaited', `The transaction (${at}) is not awaited. Await it.`);
    return node;
  }
  if (ts.isVariableDeclaration(node) && ts.isVariableDeclarationList(node.parent) && node.parent.declarations.length === 1 && ts.isVariableStatement(node.parent.parent)) return node.parent.parent;
  refuse('transaction-shape', `What the transaction (${at}) gives back is used in an expression. Put it into a constant first.`);
}

/** What the statement of the transaction declares, and how the callback has to return it with the events. */
interface ResultNames {
  /** Names that the callback returns besides the events. */
  readonly names: readonly string[];
  /** Statement that has to be added before the `return`, to give its value a name. */
  readonly declaration: string | null;
}

function resultNames(code: HandlerCode, transaction: Transaction): ResultNames {
  const { statement, result, callback } = transaction;
  const taken = takenNames(callback);
  const { style } = code.edits.open(code.file);
  if (ts.isExpressionStatement(statement)) return { names: [], declaration: null };
  if (ts.isReturnStatement(statement)) {
    if (result === null) return { names: [], declaration: null };
    if (ts.isIdentifier(result)) return { names: [result.text], declaration: null };
    const name = freeName(['result'], new Set([...taken, ...takenNames(code.fn)]));
    return { names: [name], declaration: `const ${name} = ${awaitedText(result)}${style.semicolon}` };
  }
  const declaration = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : undefined;
  if (declaration === undefined || result === null) refuse('transaction-shape', `The transaction of '${code.name}' (${code.file}:${lineOf(statement)}) gives back nothing, and its value is kept.`);
  if (declaration.type !== undefined) refuse('transaction-shape', `The constant that holds the transaction's value (${code.file}:${lineOf(statement)}) has a declared type. Remove it: it follows from the callback.`);
  if (ts.isIdentifier(declaration.name)) {
    const name = declaration.name.text;
    if (ts.isIdentifier(result) && result.text === name) return { names: [name], declaration: null };
    if (taken.has(name)) refuse('transaction-shape', `'${name}' means one thing inside the transaction and another behind it (${code.file}:${lineOf(statement)}). Rename one.`);
    return { names: [name], declaration: `const ${name} = ${awaitedText(result)}${style.semicolon}` };
  }
  const names = ts.isObjectBindingPattern(declaration.name) ? shorthandNames(declaration.name.elements.map((element) => element.getText())) : null;
  const returned = ts.isObjectLiteralExpression(result) ? shorthandNames(result.properties.map((property) => property.getText())) : null;
  if (names === null || returned === null || names.some((name) => !returned.includes(name))) {
    refuse('transaction-shape', `The value of the transaction (${code.file}:${lineOf(statement)}) is taken apart in a way that an event can not be added to. Return the variables by their names.`);
  }
  return { names: returned.filter((name) => names.includes(name)), declaration: null };
}

/** An async callback waits for what it returns; inside an object nobody would. */
function awaitedText(result: ts.Expression): string {
  const inner = unwrap(result);
  const isSettled = ts.isIdentifier(inner) || ts.isAwaitExpression(inner) || ts.isPropertyAccessExpression(inner) || ts.isObjectLiteralExpression(inner) || ts.isArrayLiteralExpression(inner)
    || ts.isNewExpression(inner) || ts.isLiteralExpression(inner) || ts.isTemplateExpression(inner);
  if (isSettled) return result.getText();
  return ts.isCallExpression(inner) ? `await ${result.getText()}` : `await (${result.getText()})`;
}

/** Guards: a variable that the callback returns holds a value, not a promise that only the `return` waits for. */
function guardSettled(code: HandlerCode, { result }: Transaction): void {
  if (result === null) return;
  const names = ts.isIdentifier(result) ? [result] : ts.isObjectLiteralExpression(result) ? result.properties.flatMap((property) => (ts.isShorthandPropertyAssignment(property) ? [property.name] : [])) : [];
  for (const name of names) {
    const declaration = findVariable(name, name.text);
    const value = declaration !== null && ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined ? unwrap(declaration.initializer) : null;
    if (value === null || !ts.isCallExpression(value) || /\.(?:create|merge|map|filter|find|slice|concat|flatMap)$/.test(value.expression.getText())) continue;
    refuse('write-not-awaited', `'${name.text}' (${code.file}:${lineOf(value)}) is returned from the transaction without an 'await'. Await it where it is declared.`);
  }
}

function shorthandNames(texts: readonly string[]): readonly string[] | null {
  return texts.every((text) => /^[\w$]+$/.test(text)) ? texts : null;
}

/** The publish is inside: the event is made and stored in its place, and published behind the transaction. */
function storeInPlace(code: HandlerCode, transaction: Transaction, events: readonly PlannedEvent[]): void {
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const indent = indentAt(text, transaction.statement.getStart());
  const publishes = events.map((event) => `${style.eol}${indent}${publishText(code, event, indent)}`).join('');
  for (const event of events) {
    const { statement } = event.site;
    const inner = indentAt(text, statement.getStart());
    edits.replace(file, range(statement), eventLines(code, event, { indent: inner, manager: transaction.manager }).slice(inner.length));
  }
  returnEvents(code, transaction, { events, behind: publishes, before: '' });
}

/** The publish is behind: the event is made and stored as the last thing of the transaction. */
function storeAtEnd(code: HandlerCode, transaction: Transaction, events: readonly PlannedEvent[]): void {
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  guardVisible(code, transaction, events);
  const inner = bodyIndent(text, transaction, style.indent);
  const lines = events.map((event) => eventLines(code, event, { indent: inner, manager: transaction.manager })).join(style.eol);
  for (const { site, variable } of events) edits.replace(file, range(site.message.node), variable);
  returnEvents(code, transaction, { events, behind: '', before: lines });
}

function bodyIndent(text: string, { body }: Transaction, unit: string): string {
  const first = body.statements[0];
  return first === undefined ? indentAt(text, body.getStart()) + unit : indentAt(text, first.getStart());
}

/** The message must mean the same at the end of the callback as behind the transaction. */
function guardVisible(code: HandlerCode, transaction: Transaction, events: readonly PlannedEvent[]): void {
  const { names } = resultNames(code, transaction);
  const shadowed = takenInside(transaction);
  for (const { site } of events) {
    for (const name of referencedNames(site.message.node)) {
      if (shadowed.has(name) && !names.includes(name)) refuse('transaction-shape', `'${name}', which the message (${code.file}:${lineOf(site.message.node)}) uses, means something else inside the transaction. Rename one.`);
    }
  }
}

function takenInside({ callback }: Transaction): ReadonlySet<string> {
  const names = new Set<string>();
  for (const parameter of callback.parameters) names.add(parameter.name.getText());
  const statements = ts.isBlock(callback.body) ? callback.body.statements : [];
  for (const name of statements.flatMap(declaredNames)) names.add(name);
  return names;
}

/** Whether a name is used behind the transaction, other than in a message that moves into it. */
function isUsedBehind({ statement, list }: Transaction, name: string, events: readonly PlannedEvent[]): boolean {
  const moved = events.map(({ site }) => site.message.node);
  const behind = list.statements.slice(list.statements.indexOf(statement) + 1);
  return behind.some((other) => namesIn(other, moved).includes(name));
}

/** Makes the callback return its value with the events, and the statement take them apart. */
function returnEvents(code: HandlerCode, transaction: Transaction, how: { readonly events: readonly PlannedEvent[]; readonly behind: string; readonly before: string }): void {
  const { edits, file } = code;
  const { text, style } = edits.open(file);
  const { statement, lastReturn, call, body } = transaction;
  const { names, declaration } = resultNames(code, transaction);
  const kept = ts.isReturnStatement(statement) ? names : names.filter((name) => isUsedBehind(transaction, name, how.events));
  const all = [...kept, ...how.events.map(({ variable }) => variable)];
  const list = all.length === 1 ? (all[0] ?? '') : `{ ${all.join(', ')} }`;
  const inner = bodyIndent(text, transaction, style.indent);
  const lines = [...(declaration === null ? [] : [`${inner}${declaration}`]), ...(how.before === '' ? [] : [how.before]), `${inner}return ${list}${style.semicolon}`];
  if (lastReturn !== null) edits.replace(file, range(lastReturn), lines.join(style.eol).slice(inner.length));
  else {
    const last = body.statements[body.statements.length - 1];
    const offset = last === undefined ? body.getStart() + 1 : ts.getTrailingCommentRanges(text, last.getEnd())?.at(-1)?.end ?? last.getEnd();
    edits.insert(file, offset, style.eol + lines.join(style.eol));
  }
  const indent = indentAt(text, statement.getStart());
  edits.replace(file, { start: statement.getStart(), end: call.getStart() }, `const ${list} = await `);
  const returns = ts.isReturnStatement(statement) && names[0] !== undefined ? `${style.eol}${indent}return ${names[0]}${style.semicolon}` : '';
  if (how.behind !== '' || returns !== '') edits.insert(file, statement.getEnd(), how.behind + returns);
}

export default standalone(joinCallback);
