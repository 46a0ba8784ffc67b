import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { isObject, parseLooseJson, toObject, toStrings } from './json.js';
import { toPosix } from './paths.js';

/** Files that make everything below them one workspace. */
const workspaceFiles: readonly string[] = ['nx.json', 'rush.json'];

/**
 * The folder whose files belong together with those of `root`, where that is a folder above: the workspace (npm, Yarn, pnpm,
 * Lerna, Nx, Rush) that the package is a member of, else the package that `root` is a part of, as an application of a Nest
 * monorepo is. Never beyond the git repository. Null: `root` stands alone. Absolute paths.
 */
export function findMonorepo(root: string): string | null {
  const folders = foldersUp(root);
  const home = folders.find((folder) => existsSync(path.join(folder, 'package.json')));
  if (home === undefined) return null;
  const found = folders.slice(folders.indexOf(home)).find((folder) => isWorkspaceOf(folder, home)) ?? home;
  return found === root ? null : found;
}

/** The folder and those above it, up to the top of its repository; a home folder is nobody's workspace. */
function foldersUp(root: string): readonly string[] {
  const folders = [root];
  for (let folder = root; !existsSync(path.join(folder, '.git')); ) {
    const parent = path.dirname(folder);
    if (parent === folder || parent === os.homedir()) break;
    folders.push(parent);
    folder = parent;
  }
  return folders;
}

function isWorkspaceOf(folder: string, member: string): boolean {
  if (workspaceFiles.some((file) => existsSync(path.join(folder, file)))) return true;
  const patterns = memberPatterns(folder);
  if (patterns.length === 0 || folder === member) return patterns.length > 0;
  const wanted = toPosix(path.relative(folder, member));
  const members = globSync([...patterns], { cwd: folder, onlyDirectories: true, expandDirectories: false, followSymbolicLinks: false, ignore: ['**/node_modules/**'] });
  return members.some((found) => found.replace(/\/$/, '') === wanted);
}

/** Globs of the folders that are members: `workspaces` of package.json, `packages` of pnpm and Lerna. */
function memberPatterns(folder: string): readonly string[] {
  const workspaces = readJson(path.join(folder, 'package.json'))['workspaces'];
  const lerna = readJson(path.join(folder, 'lerna.json'))['packages'];
  const patterns = [...toStrings(isObject(workspaces) ? workspaces['packages'] : workspaces), ...toStrings(lerna), ...pnpmPackages(folder)];
  return patterns.map((pattern) => pattern.replace(/^(!?)\.\//, '$1').replace(/\/$/, ''));
}

/** The list `packages` of pnpm-workspace.yaml: block or flow, quoted or not. */
function pnpmPackages(folder: string): readonly string[] {
  const text = readText(path.join(folder, 'pnpm-workspace.yaml')).replace(/(^|\s)#.*$/gm, '');
  const list = /^packages:[ \t]*(\[[^\]]*\]|(?:\r?\n[ \t]*-[^\n]*|\r?\n[ \t]*(?=\r?\n))*)/m.exec(text)?.[1] ?? '';
  const items = list.startsWith('[') ? list.slice(1, -1).split(',') : list.split('\n').map((line) => line.replace(/^\s*-/, ''));
  return items.map((item) => item.trim().replace(/^(['"])(.*)\1$/, '$2')).filter((item) => item !== '');
}

function readJson(file: string): Readonly<Record<string, unknown>> {
  return toObject(parseLooseJson(readText(file)));
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
