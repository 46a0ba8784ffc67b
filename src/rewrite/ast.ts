import { ts } from 'ts-morph';
import type { Span } from '../core/place.js';

/** A function that has a body of statements. */
export type FunctionNode = ts.MethodDeclaration | ts.FunctionDeclaration | ts.FunctionExpression | ts.ArrowFunction | ts.ConstructorDeclaration | ts.AccessorDeclaration;

export function isFunctionNode(node: ts.Node): node is FunctionNode {
  return ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isArrowFunction(node)
    || ts.isConstructorDeclaration(node) || ts.isAccessor(node);
}

/** The span of a node without its leading comments. */
export function spanOf(file: string, node: ts.Node): Span {
  return { file, start: node.getStart(), end: node.getEnd() };
}

/** The outermost node that covers exactly this range. */
export function findNode(root: ts.Node, range: { readonly start: number; readonly end: number }): ts.Node | null {
  let node: ts.Node = root;
  for (;;) {
    if (node !== root && node.getStart() === range.start && node.getEnd() === range.end) return node;
    const child = childAround(node, range);
    if (child === null) return null;
    node = child;
  }
}

function childAround(node: ts.Node, range: { readonly start: number; readonly end: number }): ts.Node | null {
  return node.forEachChild((child) => (child.pos <= range.start && child.end >= range.end ? child : undefined)) ?? null;
}

/** The innermost function around a range, decorators and name included. */
export function findFunction(root: ts.SourceFile, range: { readonly start: number; readonly end: number }): FunctionNode | null {
  let found: FunctionNode | null = null;
  for (let node: ts.Node | null = root; node !== null; node = childAround(node, range)) {
    if (isFunctionNode(node)) found = node;
  }
  return found;
}

/** The call expression of exactly this range. */
export function findCall(root: ts.SourceFile, range: { readonly start: number; readonly end: number }): ts.CallExpression | null {
  let node = findNode(root, range);
  while (node !== null && !ts.isCallExpression(node)) {
    const inner: ts.Node | null = childAround(node, range);
    node = inner !== null && inner.getStart() === range.start && inner.getEnd() === range.end ? inner : null;
  }
  return node;
}

export function enclosingFunction(node: ts.Node): FunctionNode | null {
  return ts.findAncestor(node.parent, isFunctionNode) ?? null;
}

export function enclosingClass(node: ts.Node): ts.ClassDeclaration | null {
  return ts.findAncestor(node.parent, ts.isClassDeclaration) ?? null;
}

/** A list of statements that run one after the other. */
export type StatementList = ts.Block | ts.CaseOrDefaultClause;

export function isStatementList(node: ts.Node): node is StatementList {
  return ts.isBlock(node) || ts.isCaseOrDefaultClause(node);
}

/** The statement of `list` that holds `node`; -1 when none does. */
export function statementIndex(list: StatementList, node: ts.Node): number {
  return list.statements.findIndex((statement) => statement.pos <= node.pos && statement.end >= node.end);
}

/** The statement that the node is part of, and the list which that statement is in. */
export function statementOf(node: ts.Node): { readonly statement: ts.Statement; readonly list: StatementList } | null {
  for (let current = node; current.parent !== undefined; current = current.parent) {
    if (isFunctionNode(current) && current !== node) return null;
    if (isStatementList(current.parent) && ts.isStatement(current)) return { statement: current, list: current.parent };
  }
  return null;
}

export function lineOf(node: ts.Node): number {
  return node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
}

export function isAsync(node: FunctionNode): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === ts.SyntaxKind.AsyncKeyword);
}

/** An expression without parentheses, casts and non-null marks around it. */
export function unwrap(node: ts.Expression): ts.Expression {
  let inner = node;
  while (ts.isParenthesizedExpression(inner) || ts.isAsExpression(inner) || ts.isSatisfiesExpression(inner) || ts.isNonNullExpression(inner)) inner = inner.expression;
  return inner;
}

/** Calls `visit` on every node below `root`; `visit` returns false to leave a subtree out. */
export function walk(root: ts.Node, visit: (node: ts.Node) => boolean | void): void {
  root.forEachChild((child) => {
    if (visit(child) !== false) walk(child, visit);
  });
}

/** Decorator names of a declaration. */
export function decoratorNames(node: ts.Node): readonly string[] {
  return decoratorsOf(node).map((decorator) => {
    const expression = ts.isCallExpression(decorator.expression) ? decorator.expression.expression : decorator.expression;
    return ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
  });
}

export function decoratorsOf(node: ts.Node): readonly ts.Decorator[] {
  return ts.canHaveDecorators(node) ? (ts.getDecorators(node) ?? []) : [];
}

/** `Class.method`, or the function's name, for messages. */
export function functionLabel(node: FunctionNode): string {
  const owner = enclosingClass(node);
  const name = node.name !== undefined ? node.name.getText() : 'a function';
  return owner?.name === undefined ? name : `${owner.name.text}.${name}`;
}
