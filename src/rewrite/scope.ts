import { ts } from 'ts-morph';
import { isFunctionNode, walk } from './ast.js';

/** Names that a binding (identifier or pattern) declares. */
export function bindingNames(name: ts.BindingName): readonly string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? bindingNames(element.name) : []));
}

/** Whether an identifier stands for a variable, and not for a property, a key or a type. */
export function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isVariableDeclaration(parent) || ts.isParameter(parent)) return parent.initializer === node;
  if (ts.isTypeReferenceNode(parent) || ts.isQualifiedName(parent) || ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return false;
  if (ts.isMethodDeclaration(parent) || ts.isPropertyDeclaration(parent) || ts.isFunctionDeclaration(parent)) return false;
  return true;
}

/** Names of the variables that are read or assigned below a node. `this.x` counts as `this`. */
export function referencedNames(root: ts.Node): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && isReference(node)) names.add(node.text);
    if (node.kind === ts.SyntaxKind.ThisKeyword) names.add('this');
  };
  visit(root);
  walk(root, visit);
  return names;
}

/** Names that mean something inside a function: a new variable must have none of them. */
export function takenNames(fn: ts.Node): ReadonlySet<string> {
  const names = new Set<string>([...referencedNames(fn), ...moduleNames(fn.getSourceFile())]);
  walk(fn, (node) => {
    if ((ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node))) for (const name of bindingNames(node.name)) names.add(name);
    if ((ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) && node.name !== undefined) names.add(node.name.text);
  });
  return names;
}

/** Names that a statement declares: variables, patterns included, functions and classes. */
export function declaredNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(({ name }) => bindingNames(name));
  return (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) && statement.name !== undefined ? [statement.name.text] : [];
}

function importedNames({ importClause: clause }: ts.ImportDeclaration): readonly string[] {
  const bindings = clause?.namedBindings;
  const named = bindings === undefined ? [] : ts.isNamespaceImport(bindings) ? [bindings.name] : bindings.elements.map((element) => element.name);
  return [...(clause?.name === undefined ? [] : [clause.name]), ...named].map((name) => name.text);
}

/** Names that the module declares or imports. */
export function moduleNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) {
      importedNames(statement).forEach((name) => names.add(name));
    } else if (ts.isVariableStatement(statement)) {
      declaredNames(statement).forEach((name) => names.add(name));
    } else if ((ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement)
      || ts.isTypeAliasDeclaration(statement) || ts.isEnumDeclaration(statement)) && statement.name !== undefined) {
      names.add(statement.name.text);
    }
  }
  return names;
}

/** The first of the names that is free. */
export function freeName(candidates: readonly string[], taken: ReadonlySet<string>): string {
  const last = candidates[candidates.length - 1] ?? 'value';
  const free = candidates.find((name) => !taken.has(name));
  if (free !== undefined) return free;
  let number = 2;
  while (taken.has(`${last}${number}`)) number += 1;
  return `${last}${number}`;
}

/** The nearest declaration of a variable, seen from a node inside the function. Null: not declared in it. */
export function findVariable(from: ts.Node, name: string): ts.VariableDeclaration | ts.ParameterDeclaration | ts.BindingElement | null {
  for (let scope: ts.Node | undefined = from; scope !== undefined; scope = scope.parent) {
    const declared = declaredIn(scope, name);
    if (declared !== null) return declared;
  }
  return null;
}

function declaredIn(scope: ts.Node, name: string): ts.VariableDeclaration | ts.ParameterDeclaration | ts.BindingElement | null {
  if (isFunctionNode(scope)) {
    for (const parameter of scope.parameters) {
      const found = declares(parameter, name);
      if (found !== null) return found;
    }
    return null;
  }
  const lists: ts.VariableDeclarationList[] = [];
  if (ts.isBlock(scope) || ts.isCaseOrDefaultClause(scope) || ts.isSourceFile(scope)) {
    for (const statement of scope.statements) if (ts.isVariableStatement(statement)) lists.push(statement.declarationList);
  } else if ((ts.isForOfStatement(scope) || ts.isForInStatement(scope) || ts.isForStatement(scope)) && scope.initializer !== undefined && ts.isVariableDeclarationList(scope.initializer)) {
    lists.push(scope.initializer);
  }
  for (const list of lists) {
    for (const declaration of list.declarations) {
      const found = declares(declaration, name);
      if (found !== null) return found;
    }
  }
  return null;
}

function declares<T extends ts.VariableDeclaration | ts.ParameterDeclaration>(declaration: T, name: string): T | ts.BindingElement | null {
  if (ts.isIdentifier(declaration.name)) return declaration.name.text === name ? declaration : null;
  let found: ts.BindingElement | null = null;
  walk(declaration.name, (node) => {
    if (ts.isBindingElement(node) && ts.isIdentifier(node.name) && node.name.text === name) found = node;
  });
  return found;
}

/** Names of variables that get a new value below a node (`x = …`, `x++`, destructuring assignments). */
export function assignedNames(root: ts.Node): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment && node.operatorToken.kind <= ts.SyntaxKind.LastAssignment) {
      const target = node.left;
      if (ts.isIdentifier(target)) names.add(target.text);
      else if (ts.isObjectLiteralExpression(target) || ts.isArrayLiteralExpression(target)) for (const name of referencedNames(target)) names.add(name);
    }
    if ((ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) && ts.isIdentifier(node.operand)
      && (node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken)) names.add(node.operand.text);
    if ((ts.isForOfStatement(node) || ts.isForInStatement(node)) && ts.isIdentifier(node.initializer)) names.add(node.initializer.text);
  };
  visit(root);
  walk(root, visit);
  return names;
}
