import path from 'node:path';
import { ts } from 'ts-morph';
import type { ServiceConfig } from '../core/config.js';
import type { Workspace } from '../workspace/workspace.js';
import { isInFolder } from '../workspace/paths.js';

/** The root module of a Nest application: its file, relative to the project root, and the exported class. */
export interface AppModule {
  readonly file: string;
  readonly name: string;
}

/** The module that the service hands to `NestFactory`; else an exported `AppModule`. Null when neither is there. */
export function findAppModule(workspace: Workspace, service: Pick<ServiceConfig, 'root'>): AppModule | null {
  const files = workspace.files().filter((file) => isInFolder(file, service.root) && /\.[cm]?ts$/.test(file) && !/\.(?:spec|test|e2e-spec)\.ts$/.test(file));
  for (const file of files) {
    if (file.includes('/outbox/relay/')) continue;
    const text = workspace.read(file) ?? '';
    const name = /\bNestFactory\s*\.\s*create\w*\s*(?:<[^>]*>)?\(\s*([A-Za-z_$][\w$]*)/.exec(text)?.[1];
    const found = name === undefined ? null : moduleOf(workspace, { file, text }, name);
    if (found !== null) return found;
  }
  const declared = files.find((file) => /\bexport\s+class\s+AppModule\b/.test(workspace.read(file) ?? ''));
  return declared === undefined ? null : { file: declared, name: 'AppModule' };
}

/** Where the name comes from that a file uses: its own export, or one of its relative imports. */
function moduleOf(workspace: Workspace, { file, text }: { readonly file: string; readonly text: string }, name: string): AppModule | null {
  if (new RegExp(`\\bexport\\s+class\\s+${escape(name)}\\b`).test(text)) return { file, name };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    const element = bindings.elements.find((item) => item.name.text === name);
    const target = element === undefined ? null : resolve(workspace, file, statement.moduleSpecifier.text);
    if (element !== undefined && target !== null) return { file: target, name: element.propertyName?.text ?? name };
  }
  return null;
}

function resolve(workspace: Workspace, from: string, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  const base = path.posix.join(path.posix.dirname(from), specifier).replace(/\.js$/, '');
  return [`${base}.ts`, `${base}/index.ts`].find((file) => workspace.read(file) !== null) ?? null;
}

function escape(text: string): string {
  return text.replaceAll('$', '\\$');
}
