import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { NewFile } from '../core/outcome.js';
import type { Change } from '../workspace/sink.js';
import type { Workspace } from '../workspace/workspace.js';
import { directoriesUp, parseJson, property } from './style.js';

interface Prettier {
  resolveConfig(file: string, options: { readonly editorconfig: boolean }): Promise<Record<string, unknown> | null>;
  format(text: string, options: Record<string, unknown>): Promise<string>;
}

/** Configurations that are code: reading them would run the project's own code. */
const codeConfigs = ['.prettierrc.js', '.prettierrc.cjs', '.prettierrc.mjs', '.prettierrc.ts', '.prettierrc.cts', '.prettierrc.mts', 'prettier.config.js', 'prettier.config.cjs', 'prettier.config.mjs', 'prettier.config.ts', 'prettier.config.cts', 'prettier.config.mts'];
const dataConfigs = ['.prettierrc', '.prettierrc.json', '.prettierrc.yaml', '.prettierrc.yml', '.prettierrc.json5', '.prettierrc.toml'];

/**
 * Formats changed files with the project's own Prettier, if it has one whose configuration is data. A file that was not
 * formatted with it before is left as the codemod wrote it: otherwise lines would change that the rewrite does not touch.
 */
export async function formatChanges(workspace: Workspace, changes: readonly Change[]): Promise<readonly Change[]> {
  const formatted: Change[] = [];
  for (const change of changes) formatted.push(await formatChange(workspace, change));
  return formatted;
}

async function formatChange(workspace: Workspace, change: Change): Promise<Change> {
  const { file, before, after } = change;
  if (before === null || after === null) return change;
  try {
    const format = await formatterOf(workspace, file);
    if (format === null || (await format(before)) !== before) return change;
    return { ...change, after: await format(after) };
  } catch {
    return change; // a formatter that fails must not stop a rewrite that is proved without it
  }
}

/** The same for generated files: they are formatted as the project's own new files would be. */
export async function formatNewFiles(workspace: Workspace, files: readonly NewFile[]): Promise<readonly NewFile[]> {
  const formatted: NewFile[] = [];
  for (const { file, content } of files) {
    try {
      formatted.push({ file, content: (await (await formatterOf(workspace, file))?.(content)) ?? content });
    } catch {
      formatted.push({ file, content }); // no parser for this kind of file
    }
  }
  return formatted;
}

/** The changes with their new files formatted, and with CRLF where the sources beside them have it. */
export async function formatNewChanges(workspace: Workspace, changes: readonly Change[]): Promise<readonly Change[]> {
  const added = changes.flatMap(({ file, before, after }): readonly NewFile[] => (before === null && after !== null ? [{ file, content: after }] : []));
  const formatted = new Map((await formatNewFiles(workspace, added)).map(({ file, content }) => [file, hasCrlf(workspace, file) ? content.replace(/\r?\n/g, '\r\n') : content]));
  return changes.map((change) => ({ ...change, after: formatted.get(change.file) ?? change.after }));
}

/** Files that are looked at to tell the line ends of a project. */
const sampleSize = 20;

/** Whether most sources in the nearest folder that has some end their lines with CRLF. */
function hasCrlf(workspace: Workspace, file: string): boolean {
  for (const directory of directoriesUp(file)) {
    const sources = workspace.files().filter((other) => other.startsWith(directory) && /\.[cm]?[jt]s$/.test(other)).slice(0, sampleSize);
    if (sources.length > 0) return sources.filter((source) => workspace.read(source)?.includes('\r\n')).length * 2 > sources.length;
  }
  return false;
}

/** Prettier as the project configures it for a file; null when it has none, or one that is code. */
async function formatterOf(workspace: Workspace, file: string): Promise<((text: string) => Promise<string>) | null> {
  if (!hasDataConfig(workspace, file)) return null;
  const prettier = await loadPrettier(workspace, file);
  const config = await prettier?.resolveConfig(path.join(workspace.root, file), { editorconfig: true });
  if (!prettier || !config || (Array.isArray(config['plugins']) && config['plugins'].length > 0)) return null;
  return (text) => prettier.format(text, { ...config, filepath: path.join(workspace.root, file), endOfLine: 'auto' });
}

function hasDataConfig(workspace: Workspace, file: string): boolean {
  for (const directory of directoriesUp(file)) {
    if (codeConfigs.some((name) => workspace.read(`${directory}${name}`) !== null)) return false;
    if (dataConfigs.some((name) => workspace.read(`${directory}${name}`) !== null)) return true;
    if (typeof property(parseJson(workspace.read(`${directory}package.json`)), 'prettier') === 'object' && property(parseJson(workspace.read(`${directory}package.json`)), 'prettier') !== null) return true;
  }
  return false;
}

async function loadPrettier(workspace: Workspace, file: string): Promise<Prettier | null> {
  let entry: string;
  try {
    entry = createRequire(path.join(workspace.root, file)).resolve('prettier');
  } catch {
    return null;
  }
  const loaded: unknown = await import(pathToFileURL(entry).href);
  const module = property(loaded, 'default') ?? loaded;
  return isPrettier(module) ? module : null;
}

function isPrettier(value: unknown): value is Prettier {
  return typeof property(value, 'format') === 'function' && typeof property(value, 'resolveConfig') === 'function';
}
