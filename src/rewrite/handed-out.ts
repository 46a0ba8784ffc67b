import { ts } from 'ts-morph';
import { unwrap, walk, type FunctionNode } from './ast.js';
import type { EditSet } from './edits.js';
import { lineRange, range } from './join.js';
import { findVariable, isReference } from './scope.js';

/** Events that were handed out of their transaction for legacy publishes that go. */
export interface HandedOut {
  readonly file: string;
  readonly fn: FunctionNode;
  /** Statements that go. */
  readonly gone: readonly ts.Node[];
  /** The events, as the publishes name them. */
  readonly events: readonly ts.Identifier[];
}

/** Statements that did nothing but encode a message, or read a value, for publishes that go: `const body = JSON.stringify(orderPlaced);`. */
export function preparations(fn: FunctionNode, gone: readonly ts.Statement[]): readonly ts.Statement[] {
  const found: ts.Statement[] = [];
  const visit = (node: ts.Node): boolean => {
    if (gone.includes(node as ts.Statement) || found.includes(node as ts.Statement)) return false;
    if (ts.isVariableStatement(node) && isPreparation(fn, node, [...gone, ...found])) found.push(node);
    return true;
  };
  // What a preparation was made of may have been one, too.
  for (let before = -1; before !== found.length;) {
    before = found.length;
    walk(fn, visit);
  }
  return found;
}

function isPreparation(fn: FunctionNode, { declarationList }: ts.VariableStatement, gone: readonly ts.Node[]): boolean {
  const [declaration] = declarationList.declarations;
  if (declaration?.initializer === undefined || declarationList.declarations.length > 1 || !ts.isIdentifier(declaration.name)) return false;
  const { text } = declaration.name;
  return onlyEncodes(declaration.initializer) && gone.some((statement) => mentions(statement, text, [])) && !mentions(fn, text, [...gone, declaration]);
}

/** `JSON.stringify(event)`, `Buffer.from(body)`, `order.region`: computing it has no effect. */
function onlyEncodes(value: ts.Expression): boolean {
  const node = unwrap(value);
  if (!ts.isCallExpression(node)) return isPlain(node);
  return /^(?:JSON\.stringify|Buffer\.from)$/.test(node.expression.getText()) && node.arguments.every((argument) => ts.isIdentifier(argument) || ts.isStringLiteralLike(argument) || onlyEncodes(argument));
}

/** Names, literals, and reads of fields. */
function isPlain(value: ts.Expression): boolean {
  const node = unwrap(value);
  if (ts.isPropertyAccessExpression(node)) return isPlain(node.expression);
  if (ts.isTemplateExpression(node)) return node.templateSpans.every(({ expression }) => isPlain(expression));
  return ts.isIdentifier(node) || ts.isStringLiteralLike(node) || ts.isNumericLiteral(node);
}

/** The events are only needed where they are stored: what handed them out of the transaction goes. */
export function removeHandedOut(edits: EditSet, { file, fn, gone, events }: HandedOut): void {
  const byHolder = new Map<ts.VariableDeclaration, Set<string>>();
  for (const event of events) {
    const declaration = findVariable(event, event.text);
    if (declaration === null || ts.isParameter(declaration)) continue;
    const holder = ts.isBindingElement(declaration) ? declaration.parent.parent : declaration;
    if (!ts.isVariableDeclaration(holder) || (holder.initializer !== undefined && mentions(fn, event.text, [...gone, holder]))) continue;
    byHolder.set(holder, (byHolder.get(holder) ?? new Set(onlyForGone(fn, holder, gone))).add(event.text));
  }
  for (const [holder, names] of byHolder) {
    if (holder.initializer !== undefined) for (const name of names) dropVariable(edits, file, holder.initializer, name);
    if (holder.initializer === undefined) keepInside(edits, file, fn, holder);
    else narrow(edits, file, holder, names);
  }
}

/** What is handed out beside the event, and used by nothing but the statements that go. */
function onlyForGone(fn: FunctionNode, { name, initializer }: ts.VariableDeclaration, gone: readonly ts.Node[]): readonly string[] {
  if (!ts.isObjectBindingPattern(name) || initializer === undefined) return [];
  return name.elements.flatMap(({ name: element }) => (ts.isIdentifier(element) ? [element.text] : []))
    .filter((text) => gone.some((statement) => mentions(statement, text, [])) && !mentions(fn, text, [...gone, initializer]));
}

/** The transaction gives back the rest. */
function narrow(edits: EditSet, file: string, holder: ts.VariableDeclaration, names: ReadonlySet<string>): void {
  const last = holder.initializer === undefined ? null : callbackReturn(holder.initializer);
  if (last?.expression === undefined || holder.initializer === undefined) return;
  if (ts.isIdentifier(holder.name)) {
    if (ts.isIdentifier(last.expression)) dropResult(edits, file, holder, last);
    return;
  }
  if (!ts.isObjectBindingPattern(holder.name) || !ts.isObjectLiteralExpression(last.expression)) return;
  const kept = holder.name.elements.map((element) => element.getText()).filter((name) => !names.has(name));
  const returned = last.expression.properties.map((property) => property.getText()).filter((name) => !names.has(name));
  if (kept.length === 0 && returned.length === 0) {
    dropResult(edits, file, holder, last);
    return;
  }
  const one = kept.length === 1 && returned.length === 1 && kept[0] === returned[0] && /^[\w$]+$/.test(kept[0] ?? '');
  edits.replace(file, range(holder.name), one ? (kept[0] ?? '') : `{ ${kept.join(', ')} }`);
  edits.replace(file, range(last.expression), one ? (returned[0] ?? '') : `{ ${returned.join(', ')} }`);
}

/** `const order = await orders.save(…);` in the transaction, which was only handed out: its value is not kept any more. */
function dropVariable(edits: EditSet, file: string, transaction: ts.Expression, name: string): void {
  const last = callbackReturn(transaction);
  if (last === null) return;
  for (const statement of ts.isBlock(last.parent) ? last.parent.statements : []) {
    const declaration = ts.isVariableStatement(statement) && statement.declarationList.declarations.length === 1 ? statement.declarationList.declarations[0] : undefined;
    if (declaration?.initializer === undefined || !ts.isIdentifier(declaration.name) || declaration.name.text !== name || mentions(last.parent, name, [declaration, last])) continue;
    if (ts.isAwaitExpression(unwrap(declaration.initializer))) edits.replace(file, { start: statement.getStart(), end: declaration.initializer.getStart() }, '');
  }
}

/** The transaction gives nothing back; it leaves with `return` where it left with `return null`. */
function dropResult(edits: EditSet, file: string, { initializer, parent }: ts.VariableDeclaration, last: ts.ReturnStatement): void {
  const statement = parent.parent;
  if (initializer === undefined || !ts.isVariableStatement(statement) || statement.declarationList.declarations.length > 1) return;
  edits.replace(file, { start: statement.getStart(), end: initializer.getStart() }, '');
  edits.replace(file, lineRange(edits.open(file).text, last), '');
  walk(initializer, (node) => {
    if (ts.isReturnStatement(node) && node.expression?.kind === ts.SyntaxKind.NullKeyword) edits.replace(file, { start: node.getStart() + 'return'.length, end: node.expression.getEnd() }, '');
  });
}

/** `let event;` before a `try` becomes a constant in it. */
function keepInside(edits: EditSet, file: string, fn: FunctionNode, holder: ts.VariableDeclaration): void {
  const assignments: ts.BinaryExpression[] = [];
  walk(fn, (node) => {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && node.left.getText() === holder.name.getText()) assignments.push(node);
  });
  const [assignment] = assignments;
  const statement = holder.parent.parent;
  if (assignment === undefined || assignments.length > 1 || !ts.isVariableStatement(statement) || statement.declarationList.declarations.length > 1) return;
  edits.replace(file, lineRange(edits.open(file).text, statement), '');
  edits.insert(file, assignment.getStart(), 'const ');
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

/** Whether a name is used in a node, besides in the parts left out. */
function mentions(root: ts.Node, name: string, except: readonly ts.Node[]): boolean {
  let found = false;
  walk(root, (node) => {
    if (except.includes(node)) return false;
    if (ts.isIdentifier(node) && node.text === name && isReference(node)) found = true;
    return true;
  });
  return found;
}
