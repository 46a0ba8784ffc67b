import { ts } from 'ts-morph';
import { enclosingClass, lineOf, walk, type FunctionNode } from './ast.js';
import { propertyOf } from './bind.js';
import type { CodemodContext } from './codemod.js';
import type { EditSet } from './edits.js';
import { isTestFile, projectOf } from './project.js';
import { referencedNames } from './scope.js';

/** Statements that go from a function. */
export interface Removed {
  readonly file: string;
  readonly fn: FunctionNode;
  readonly statements: readonly ts.Statement[];
}

/**
 * Removes what only the removed statements used: private constructor parameters of the class, and imports.
 * Returns what is left to the user: tests that construct the class by hand.
 */
export function removeUnused(edits: EditSet, removed: Removed, context: CodemodContext): readonly string[] {
  const owner = enclosingClass(removed.fn);
  const gone: ts.Node[] = [...removed.statements];
  const followUps: string[] = [];
  for (const name of owner === null ? [] : propertiesIn(removed.statements)) {
    const parameter = propertyOf(owner, name);
    if (owner === null || parameter === null || !ts.isParameter(parameter) || !isPrivate(parameter) || isUsed(owner, name, gone)) continue;
    const callers = constructions(owner, removed.file, context);
    if (callers.some((caller) => !isTestFile(caller.file))) continue;
    followUps.push(...callers.map((caller) => `${caller.file}:${caller.line} constructs '${owner.name?.text ?? ''}': it no longer takes '${name}'.`));
    removeParameter(edits, removed.file, parameter);
    gone.push(parameter);
  }
  removeImports(edits, removed.file, gone);
  return followUps;
}

function propertiesIn(statements: readonly ts.Statement[]): readonly string[] {
  const names = new Set<string>();
  for (const statement of statements) walk(statement, (node) => {
    if (ts.isPropertyAccessExpression(node) && node.expression.kind === ts.SyntaxKind.ThisKeyword) names.add(node.name.text);
  });
  return [...names];
}

function isPrivate(parameter: ts.ParameterDeclaration): boolean {
  return (ts.getModifiers(parameter) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
}

function isUsed(owner: ts.ClassDeclaration, name: string, gone: readonly ts.Node[]): boolean {
  let used = false;
  walk(owner, (node) => {
    if (gone.includes(node)) return false;
    if (ts.isPropertyAccessExpression(node) && node.name.text === name) used = true;
    if (ts.isElementAccessExpression(node) && node.expression.kind === ts.SyntaxKind.ThisKeyword) used = true;
    if (ts.isIdentifier(node) && node.text === name && !ts.isParameter(node.parent) && !ts.isPropertyAccessExpression(node.parent)) used = true;
    return true;
  });
  return used;
}

function constructions(owner: ts.ClassDeclaration, file: string, context: CodemodContext): readonly { readonly file: string; readonly line: number }[] {
  const name = owner.name?.text ?? '';
  const project = projectOf(context.workspace);
  return project.filesMentioning(name).flatMap((other) => {
    const source = project.findType(other, name)?.file === file ? project.source(other) : null;
    const found: { file: string; line: number }[] = [];
    if (source !== null) walk(source, (node) => {
      const isSubclass = ts.isHeritageClause(node) && node.types[0]?.expression.getText() === name;
      if (isSubclass || (ts.isNewExpression(node) && node.expression.getText() === name)) found.push({ file: other, line: lineOf(node) });
    });
    return found;
  });
}

/** Takes a parameter out of its list, with its comma and its line. */
function removeParameter(edits: EditSet, file: string, parameter: ts.ParameterDeclaration): void {
  const { text } = edits.open(file);
  const list = ts.isConstructorDeclaration(parameter.parent) ? parameter.parent.parameters : undefined;
  if (list === undefined) return;
  const index = list.indexOf(parameter);
  const next = list[index + 1];
  const previous = list[index - 1];
  if (next !== undefined) edits.replace(file, { start: parameter.getStart(), end: next.getStart() }, '');
  else if (previous !== undefined) edits.replace(file, { start: previous.getEnd(), end: parameter.getEnd() }, '');
  else edits.replace(file, { start: list.pos, end: /^,?\s*/.exec(text.slice(list.end))?.[0].length === undefined ? list.end : list.end + (/^\s*(?=\))/.exec(text.slice(list.end))?.[0].length ?? 0) }, '');
}

/** Takes out imports whose last use has gone. */
function removeImports(edits: EditSet, file: string, gone: readonly ts.Node[]): void {
  const { source, text } = edits.open(file);
  const candidates = new Set(gone.flatMap((node) => [...identifiers(node, [])]));
  const left = new Set<string>();
  for (const statement of source.statements) if (!ts.isImportDeclaration(statement)) for (const name of identifiers(statement, gone)) left.add(name);
  const kept = new Set(edits.all().filter((edit) => edit.file === file && edit.text !== '').flatMap((edit) => edit.text.match(/[\w$]+/g) ?? []));
  const unused = (name: string): boolean => candidates.has(name) && !left.has(name) && !kept.has(name);
  for (const statement of source.statements) {
    const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
    if (bindings === undefined || !ts.isNamedImports(bindings) || !ts.isImportDeclaration(statement)) continue;
    const stays = bindings.elements.filter((element) => !unused(element.name.text));
    if (stays.length === bindings.elements.length) continue;
    if (stays.length === 0 && statement.importClause?.name === undefined) edits.replace(file, { start: statement.getStart(), end: statement.getEnd() + lineEnd(text, statement.getEnd()) }, '');
    else removeElements(edits, file, bindings, stays);
  }
}

function removeElements(edits: EditSet, file: string, bindings: ts.NamedImports, stays: readonly ts.ImportSpecifier[]): void {
  const { elements } = bindings;
  elements.forEach((element, index) => {
    if (stays.includes(element)) return;
    const next = elements[index + 1];
    const previous = elements.slice(0, index).filter((other) => stays.includes(other)).pop();
    if (next !== undefined) edits.replace(file, { start: element.getStart(), end: next.getStart() }, '');
    else edits.replace(file, { start: previous?.getEnd() ?? element.getStart(), end: element.getEnd() }, '');
  });
}

function lineEnd(text: string, offset: number): number {
  return /^\r?\n/.exec(text.slice(offset))?.[0].length ?? 0;
}

/** Every identifier below a node that stands for a variable or a type. */
function identifiers(root: ts.Node, without: readonly ts.Node[]): ReadonlySet<string> {
  const names = new Set<string>(without.length === 0 ? referencedNames(root) : []);
  walk(root, (node) => {
    if (without.includes(node)) return false;
    const isMember = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
    if (ts.isIdentifier(node) && !isMember) names.add(node.text);
    return true;
  });
  return names;
}
