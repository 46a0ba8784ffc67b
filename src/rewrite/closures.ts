import { ts } from 'ts-morph';
import { isFunctionNode, lineOf, statementIndex, walk, type FunctionNode, type StatementList } from './ast.js';
import type { HandlerCode } from './handler.js';
import { short } from './message.js';
import { refuse } from './refusal.js';
import { bindingNames, findVariable, isReference, referencedNames } from './scope.js';

/** Code that moves into a transaction. */
export interface Moved {
  readonly list: StatementList;
  /** Statements of `list` whose variables move, or stand behind the transaction afterwards: first and last, both included. */
  readonly first: number;
  readonly last: number;
  /** Where the code that runs in the transaction ends. */
  readonly end: number;
  /** Expressions from behind that move in. */
  readonly messages: readonly ts.Expression[];
}

/**
 * Guards: no function that stays outside closes over a variable that moves, where the moved code uses it. It would find
 * another variable of that name, or the one behind the transaction before it has its value.
 */
export function guardClosures(fn: FunctionNode, file: string, moved: Moved): void {
  const start = moved.list.statements[moved.first]?.getStart() ?? 0;
  const runs = [...moved.list.statements.slice(moved.first).filter((statement) => statement.end <= moved.end), ...moved.messages];
  const used = new Set(runs.flatMap((node) => [...referencedNames(node)]));
  const outside: { readonly name: string; readonly node: ts.Node; readonly names: ReadonlySet<string> }[] = [];
  walk(fn, (node) => {
    if (node.getStart() >= start && node.getEnd() <= moved.end) return false;
    if (moved.messages.some((message) => message === node)) return false;
    const { name } = ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node) ? node : { name: undefined };
    const holder = name === undefined || (ts.isVariableDeclaration(node) && (node.initializer === undefined || !holdsFunction(node.initializer))) ? null : name;
    if (holder !== null && holder !== undefined) for (const bound of bindingNames(holder)) outside.push({ name: bound, node, names: referencedNames(node) });
    return true;
  });
  for (const { node } of reached(outside, used)) {
    const name = movedName(node, moved);
    if (name !== null) refuse('declaration-in-span', `'${short(node)}' (${file}:${lineOf(node)}) uses '${name}', which moves into the transaction, and is used there: it would not see that variable. Hand '${name}' to it as an argument.`);
  }
  guardSameVariables(file, moved);
}

/** The same for messages that move into a transaction that is there: what its statement declares is set behind it. */
export function guardClosuresBehind(code: HandlerCode, list: StatementList, transaction: ts.Statement): void {
  const last = Math.max(...code.publishes.map(({ statement }) => statementIndex(list, statement)));
  guardClosures(code.fn, code.file, { list, first: list.statements.indexOf(transaction), last, end: transaction.getEnd(), messages: code.publishes.map(({ message }) => message.node) });
}

/** The functions that the code uses, and those that they use. */
function reached<T extends { readonly name: string; readonly names: ReadonlySet<string> }>(outside: readonly T[], used: ReadonlySet<string>): readonly T[] {
  const names = new Set(used);
  const found = new Set<T>();
  for (let size = -1; size < found.size;) {
    size = found.size;
    for (const each of outside) {
      if (!names.has(each.name)) continue;
      found.add(each);
      each.names.forEach((name) => names.add(name));
    }
  }
  return [...found];
}

function holdsFunction(node: ts.Node): boolean {
  if (isFunctionNode(node) || ts.isClassExpression(node)) return true;
  let found = false;
  walk(node, (inner) => {
    if (isFunctionNode(inner)) found = true;
  });
  return found;
}

/** A variable of the moved statements that a node refers to; null: none. */
function movedName(root: ts.Node, { list, first, last }: Moved): string | null {
  const statements = list.statements.slice(first, last + 1);
  let found: string | null = null;
  walk(root, (node) => {
    if (!ts.isIdentifier(node) || !(isReference(node) || ts.isShorthandPropertyAssignment(node.parent))) return;
    const declaration = findVariable(node, node.text);
    const statement = declaration === null ? undefined : ts.findAncestor(declaration, ts.isVariableStatement);
    if (statement !== undefined && statements.some((other) => other === statement)) found = node.text;
  });
  return found;
}

/** Guards: a message means the same at the end of the transaction as where it stands: no block in between has its names. */
function guardSameVariables(file: string, { list, messages }: Moved): void {
  for (const message of messages) {
    const visit = (node: ts.Node): void => {
      if (!ts.isIdentifier(node) || !(isReference(node) || ts.isShorthandPropertyAssignment(node.parent))) return;
      const declaration = findVariable(node, node.text) ?? declaredFunction(node, list);
      const isInside = declaration !== null && declaration.pos >= message.pos && declaration.end <= message.end;
      const isBetween = declaration !== null && declaration.pos >= list.pos && declaration.end <= list.end && !list.statements.some((statement) => isTopLevel(declaration, statement));
      if (isBetween && !isInside) refuse('declaration-in-span', `'${node.text}' of the message (${file}:${lineOf(node)}) is declared in a block around the publish, which the event leaves. Declare it before that block.`);
    };
    visit(message);
    walk(message, visit);
  }
}

function isTopLevel(declaration: ts.Node, statement: ts.Statement): boolean {
  if (declaration === statement) return true;
  return ts.isVariableStatement(statement) && ts.findAncestor(declaration, ts.isVariableStatement) === statement;
}

/** A function or class that a block around a name declares, up to the list. */
function declaredFunction(name: ts.Identifier, list: StatementList): ts.Node | null {
  for (let scope: ts.Node = name; scope !== list.parent && scope.parent !== undefined; scope = scope.parent) {
    if (!ts.isBlock(scope) && !ts.isCaseOrDefaultClause(scope)) continue;
    const found = scope.statements.find((statement) => (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) && statement.name?.text === name.text);
    if (found !== undefined) return found;
  }
  return null;
}
