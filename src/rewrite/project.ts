import { ts } from 'ts-morph';
import { moduleResolver, type ModuleResolver } from '../analysis/resolve-modules.js';
import type { Workspace } from '../workspace/workspace.js';
import { parse } from './edits.js';
import { parseJson, property } from './style.js';

export type TypeDeclaration = ts.ClassDeclaration | ts.InterfaceDeclaration;

/** A declaration and the file it is in. */
export interface Declared<T extends ts.Node> {
  readonly file: string;
  readonly node: T;
}

/** Looks declarations up across the files of a project. Parses a file when it is asked for, once. */
export class Project {
  private readonly sources = new Map<string, ts.SourceFile | null>();
  /** The file behind a module specifier; null: external, or not there. */
  readonly resolve: ModuleResolver;

  constructor(readonly workspace: Workspace) {
    this.resolve = moduleResolver(workspace);
  }

  source(file: string): ts.SourceFile | null {
    const known = this.sources.get(file);
    if (known !== undefined) return known;
    const text = this.workspace.read(file);
    const source = text === null ? null : parse(file, text);
    this.sources.set(file, source);
    return source;
  }

  /** The class or interface that a name means in a file, through imports and re-exports. */
  findType(file: string, name: string, depth = 0): Declared<TypeDeclaration> | null {
    const source = this.source(file);
    if (source === null || depth > 8) return null;
    for (const statement of source.statements) {
      if ((ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement)) && statement.name?.text === name) return { file, node: statement };
    }
    for (const statement of source.statements) {
      const found = ts.isImportDeclaration(statement) ? this.imported(file, statement, name, depth)
        : ts.isExportDeclaration(statement) ? this.reexported(file, statement, name, depth) : null;
      if (found !== null) return found;
    }
    return null;
  }

  private imported(file: string, statement: ts.ImportDeclaration, name: string, depth: number): Declared<TypeDeclaration> | null {
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings) || !ts.isStringLiteral(statement.moduleSpecifier)) return null;
    const element = bindings.elements.find((candidate) => candidate.name.text === name);
    const target = element === undefined ? null : this.resolve(statement.moduleSpecifier.text, file);
    return target === null || element === undefined ? null : this.findType(target, (element.propertyName ?? element.name).text, depth + 1);
  }

  private reexported(file: string, statement: ts.ExportDeclaration, name: string, depth: number): Declared<TypeDeclaration> | null {
    if (statement.moduleSpecifier === undefined || !ts.isStringLiteral(statement.moduleSpecifier)) return null;
    const clause = statement.exportClause;
    const element = clause !== undefined && ts.isNamedExports(clause) ? clause.elements.find((candidate) => candidate.name.text === name) : undefined;
    if (clause !== undefined && element === undefined) return null;
    const target = this.resolve(statement.moduleSpecifier.text, file);
    return target === null ? null : this.findType(target, element === undefined ? name : (element.propertyName ?? element.name).text, depth + 1);
  }

  /** Module that a name is imported from; null when it is declared in the file or is a global. */
  moduleOf(file: string, name: string): string | null {
    for (const statement of this.source(file)?.statements ?? []) {
      if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
      const clause = statement.importClause;
      const bindings = clause?.namedBindings;
      const named = bindings !== undefined && ts.isNamedImports(bindings) && bindings.elements.some((element) => element.name.text === name);
      const namespace = bindings !== undefined && ts.isNamespaceImport(bindings) && bindings.name.text === name;
      if (named || namespace || clause?.name?.text === name) return statement.moduleSpecifier.text;
    }
    return null;
  }

  /** The one class of this name below a folder; null when there is none or more than one. */
  findClassByName(root: string, name: string): Declared<ts.ClassDeclaration> | null {
    const found: Declared<ts.ClassDeclaration>[] = [];
    for (const file of this.filesMentioning(`class ${name}`, root)) {
      for (const statement of this.source(file)?.statements ?? []) {
        if (ts.isClassDeclaration(statement) && statement.name?.text === name) found.push({ file, node: statement });
      }
    }
    return found.length === 1 ? (found[0] ?? null) : null;
  }

  /** Source files below a folder whose text contains a string. */
  filesMentioning(text: string, root = '.'): readonly string[] {
    const prefix = root === '.' || root === '' ? '' : `${root}/`;
    return this.workspace.files().filter((file) => file.startsWith(prefix) && isSource(file) && (this.workspace.read(file)?.includes(text) ?? false));
  }

  /** Version range of a dependency in the nearest manifest that has it; null when none has. */
  dependency(root: string, name: string): string | null {
    const parts = root === '.' ? [] : root.split('/');
    for (let length = parts.length; length >= 0; length -= 1) {
      const manifest = parseJson(this.workspace.read([...parts.slice(0, length), 'package.json'].join('/')));
      for (const section of ['dependencies', 'devDependencies', 'peerDependencies']) {
        const version = property(property(manifest, section), name);
        if (typeof version === 'string') return version;
      }
    }
    return null;
  }
}

const projects = new WeakMap<Workspace, Project>();

/** The project of a workspace; one per workspace, so that its parsed files are shared. */
export function projectOf(workspace: Workspace): Project {
  const known = projects.get(workspace);
  if (known !== undefined) return known;
  const project = new Project(workspace);
  projects.set(workspace, project);
  return project;
}

export function isSource(file: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(file) && !file.endsWith('.d.ts');
}

/** Whether a file is a test by its name or folder. */
export function isTestFile(file: string): boolean {
  return /(?:^|\/)(?:tests?|__tests__|__mocks__|e2e|spec)\//.test(file) || /\.(?:spec|test|e2e-spec|mock)\.[cm]?[jt]sx?$/.test(file);
}
