import { ts } from 'ts-morph';
import type { Edit } from '../core/edit.js';
import type { EditSet, NeededImport } from './edits.js';
import type { Project } from './project.js';
import { refuse } from './refusal.js';
import { moduleNames } from './scope.js';
import { quoted } from './style.js';

/** All edits, those for the imports that were asked for included. */
export function finishEdits(edits: EditSet): readonly Edit[] {
  for (const [file, needed] of edits.imports) addImports(edits, file, needed);
  edits.imports.clear();
  return edits.all();
}

/**
 * Makes names importable in a file: adds them to an import of the same module, or adds import statements behind the last one.
 * Names that are imported already are left alone.
 */
function addImports(edits: EditSet, file: string, needed: readonly NeededImport[]): void {
  const { source, text, style } = edits.open(file);
  const declarations = source.statements.filter(ts.isImportDeclaration);
  const modules = new Map<string, string[]>();
  const taken = moduleNames(source);
  for (const { name, module } of needed) {
    const same = declarations.filter((declaration) => ts.isStringLiteral(declaration.moduleSpecifier) && declaration.moduleSpecifier.text === module);
    if (same.some((declaration) => importsValue(declaration, name))) continue;
    // A manager is only ever a parameter's type; the others are needed when the code runs.
    if (name === 'EntityManager' && same.some((declaration) => importsAsType(declaration, name))) continue;
    if (taken.has(name)) refuse('name-taken', `'${name}' means something else in ${file}. Rename it there: the rewrite needs the '${name}' of '${module}'.`);
    const names = modules.get(module) ?? [];
    if (!names.includes(name)) names.push(name);
    modules.set(module, names);
  }
  const added: string[] = [];
  for (const [module, names] of modules) {
    const open = declarations.find((declaration) => ts.isStringLiteral(declaration.moduleSpecifier) && declaration.moduleSpecifier.text === module && takesNames(declaration));
    if (open !== undefined) extend(edits, file, open, names);
    else added.push(`import { ${names.join(', ')} } from ${quoted(style, module)}${style.semicolon}`);
  }
  if (added.length === 0) return;
  const last = declarations[declarations.length - 1];
  if (last !== undefined) edits.insert(file, last.getEnd(), added.map((line) => `${style.eol}${line}`).join(''));
  else edits.insert(file, source.statements[0]?.getStart() ?? text.length, added.map((line) => `${line}${style.eol}`).join('') + style.eol);
}

function importsValue(declaration: ts.ImportDeclaration, name: string): boolean {
  const bindings = declaration.importClause?.namedBindings;
  if (declaration.importClause?.isTypeOnly === true || bindings === undefined || !ts.isNamedImports(bindings)) return false;
  return bindings.elements.some((element) => element.name.text === name && element.propertyName === undefined && !element.isTypeOnly);
}

function importsAsType(declaration: ts.ImportDeclaration, name: string): boolean {
  const bindings = declaration.importClause?.namedBindings;
  return bindings !== undefined && ts.isNamedImports(bindings) && bindings.elements.some((element) => element.name.text === name);
}

function takesNames(declaration: ts.ImportDeclaration): boolean {
  const clause = declaration.importClause;
  return clause !== undefined && !clause.isTypeOnly && clause.namedBindings !== undefined && ts.isNamedImports(clause.namedBindings);
}

function extend(edits: EditSet, file: string, declaration: ts.ImportDeclaration, names: readonly string[]): void {
  const bindings = declaration.importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return;
  const { text, style } = edits.open(file);
  const sorted = isSorted(bindings.elements.map((element) => element.name.text));
  const multiline = bindings.getText().includes('\n');
  for (const name of names) {
    const next = sorted ? bindings.elements.find((element) => compare(element.name.text, name) > 0) : undefined;
    const last = bindings.elements[bindings.elements.length - 1];
    if (next !== undefined) {
      const gap = multiline ? `${style.eol}${lineIndent(text, next.getStart())}` : ' ';
      edits.insert(file, next.getStart(), `${name},${gap}`);
    } else if (last !== undefined) {
      const gap = multiline ? `${style.eol}${lineIndent(text, last.getStart())}` : ' ';
      edits.insert(file, last.getEnd(), `,${gap}${name}`);
    } else {
      edits.replace(file, { start: bindings.getStart(), end: bindings.getEnd() }, `{ ${names.join(', ')} }`);
      return;
    }
  }
}

function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

function compare(a: string, b: string): number {
  return a.toLowerCase() < b.toLowerCase() ? -1 : 1;
}

function isSorted(names: readonly string[]): boolean {
  return names.length > 1 && names.every((name, index) => index === 0 || compare(names[index - 1] ?? '', name) <= 0);
}

/** The specifier by which a file of the project imports another one: through an alias that the file uses already, or by a relative path. */
export function specifierOf(project: Project, from: string, to: string, source: ts.SourceFile): string {
  const relative = relativeSpecifier(from, to, source);
  if (!relative.startsWith('../../')) return relative;
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier) || statement.moduleSpecifier.text.startsWith('.')) continue;
    const used = statement.moduleSpecifier.text;
    const file = project.resolve(used, from);
    const rest = file === null ? null : sharedEnd(used, file);
    if (file === null || rest === null) continue;
    const base = file.slice(0, file.length - rest.extension.length - rest.path.length);
    if (base === '' || !to.startsWith(base)) continue;
    const candidate = used.slice(0, used.length - rest.path.length) + to.slice(base.length).replace(/\.[cm]?tsx?$/, '');
    if (project.resolve(candidate, from) === to) return candidate;
  }
  return relative;
}

/** The longest path that a specifier and the file it means end with. */
function sharedEnd(specifier: string, file: string): { readonly path: string; readonly extension: string } | null {
  const extension = /(?:\/index)?\.[cm]?[jt]sx?$/.exec(file)?.[0] ?? '';
  const stem = file.slice(0, file.length - extension.length).split('/');
  const words = specifier.split('/');
  let shared = 0;
  while (shared < words.length - 1 && shared < stem.length && words[words.length - 1 - shared] === stem[stem.length - 1 - shared]) shared += 1;
  return shared === 0 ? null : { path: stem.slice(stem.length - shared).join('/'), extension };
}

function relativeSpecifier(from: string, to: string, source: ts.SourceFile): string {
  const fromParts = from.split('/').slice(0, -1);
  const toParts = to.replace(/\.[cm]?tsx?$/, '').split('/');
  let shared = 0;
  while (shared < fromParts.length && shared < toParts.length - 1 && fromParts[shared] === toParts[shared]) shared += 1;
  const up = fromParts.slice(shared).map(() => '..');
  const path = [...(up.length > 0 ? up : ['.']), ...toParts.slice(shared)].join('/');
  return usesExtensions(source) ? `${path}.js` : path;
}

/** Whether the file writes `./x.js` in its relative imports, as NodeNext asks for. */
function usesExtensions(source: ts.SourceFile): boolean {
  return source.statements.some((statement) => ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)
    && /^\.{1,2}\/.*\.js$/.test(statement.moduleSpecifier.text));
}
