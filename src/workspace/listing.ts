import fs, { type Dirent } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import type { SkippedFile } from '../core/report.js';
import { readIgnoreRules } from './ignore-rules.js';
import { parseLooseJson, toObject } from './json.js';
import { isInside, toPosix } from './paths.js';

/** The files below a folder, and what stands there and could not be looked at. */
export interface Listing {
  /** Relative, with `/`, sorted. */
  readonly files: readonly string[];
  /** Symbolic links and what they lead to, both relative; those within `limit` only. */
  readonly links: ReadonlyMap<string, string>;
  readonly skipped: readonly SkippedFile[];
}

export interface ListingOptions {
  readonly root: string;
  /** The folder that no link may lead out of. */
  readonly limit: string;
  /** Globs of what is not wanted. */
  readonly exclude: readonly string[];
}

/** Never looked at: declarations and bundles. Dependencies, build output and hidden files are left out while folders are read. */
const leftOut: readonly string[] = ['**/*.d.{ts,mts,cts}', '**/*.min.{js,mjs,cjs}'];

/** Beside the manifest of a package these are made by tools; deeper down, a folder of such a name is someone's code. */
const madeByTools: ReadonlySet<string> = new Set(['dist', 'build', 'coverage']);
const manifests: ReadonlySet<string> = new Set(['package.json', 'project.json', 'tsconfig.app.json']);
const compilerFiles: readonly string[] = ['tsconfig.json', 'tsconfig.build.json', 'tsconfig.app.json'];
/** Hidden folders of tools, wherever they are. */
const toolFolders = /^\.(?:git|svn|hg|next|nuxt|output|yarn|pnpm-store|turbo|nx|cache|parcel-cache|svelte-kit|angular|serverless|webpack|aws-sam|vercel|netlify|husky|storybook|github|vscode|idea|outboxify)$/;
const script = /\.[cm]?[jt]sx?$/;

/** Lists a folder. Links are not followed; git's ignore rules hold. */
export function listFiles({ root, limit, exclude }: ListingOptions): Listing {
  const reader = folderReader(root);
  const found = globSync(['**/*', '**/.gitignore'], {
    cwd: root, ignore: [...leftOut, ...exclude], followSymbolicLinks: false, expandDirectories: false, onlyFiles: true, dot: true, fs: { readdirSync: reader.read },
  });
  const isIgnored = readIgnoreRules(root, found.filter((file) => file === '.gitignore' || file.endsWith('/.gitignore')));
  const wanted = found.filter((file) => !file.endsWith('.gitignore') && !isIgnored(file)).sort();
  const isLink = (file: string): boolean => reader.links.has(path.join(root, file));
  const targets = wanted.filter(isLink).map((file) => ({ file, target: targetOf(path.join(root, file)) }));
  const inside = targets.flatMap(({ file, target }) => (target !== null && isInside(limit, target) ? [[file, toPosix(path.relative(root, target)) || '.'] as const] : []));
  const unreadable = [...reader.unreadable].map(([folder, code]): SkippedFile => ({ file: toPosix(path.relative(root, folder)) || '.', reason: 'unreadable', message: `the folder can't be read: ${code}` }));
  return {
    files: wanted.filter((file) => !isLink(file)),
    links: new Map(inside),
    skipped: [...unreadable.filter(({ file }) => !isIgnored(file)), ...targets.flatMap(({ file, target }) => lostLink(file, target, limit))],
  };
}

/** A link that can't be followed, as far as there may be code behind it. */
function lostLink(file: string, target: string | null, limit: string): readonly SkippedFile[] {
  if (target === null) return script.test(file) ? [{ file, reason: 'unreadable', message: 'a symbolic link to nothing' }] : [];
  if (isInside(limit, target) || (!script.test(file) && !isFolder(target))) return [];
  return [{ file, reason: 'link', message: 'a symbolic link out of the project; it is not followed' }];
}

function targetOf(link: string): string | null {
  try {
    return fs.realpathSync(link);
  } catch {
    return null;
  }
}

function isFolder(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

interface FolderReader {
  readonly read: typeof fs.readdirSync;
  /** Absolute paths of the links that were met. */
  readonly links: ReadonlySet<string>;
  /** Folders that can't be read, and why. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** Reads folders for the glob: without what is left out, and with links as if they were files, so that none is passed over unseen. */
function folderReader(root: string): FolderReader {
  const links = new Set<string>();
  const unreadable = new Map<string, string>();
  const outputs = new Set<string>();
  const read = (folder: string): Dirent[] => {
    const directory = path.resolve(folder);
    let entries: Dirent[];
    try {
      entries = fs.readdirSync(directory, { withFileTypes: true });
    } catch (error) {
      unreadable.set(directory, error instanceof Error && 'code' in error ? String(error.code) : String(error));
      return [];
    }
    const isPackage = directory === root || entries.some(({ name }) => manifests.has(name));
    for (const output of compilerOutputs(directory, entries)) outputs.add(output);
    return entries.filter((entry) => isWanted(entry, isPackage) && !outputs.has(path.join(directory, entry.name))).map((entry) => {
      if (!entry.isSymbolicLink()) return entry;
      links.add(path.join(directory, entry.name));
      return Object.create(entry, { isFile: { value: () => true }, isSymbolicLink: { value: () => false } }) as Dirent;
    });
  };
  return { read: read as unknown as typeof fs.readdirSync, links, unreadable };
}

function isWanted(entry: Dirent, isPackage: boolean): boolean {
  const { name } = entry;
  if (name === 'node_modules') return false;
  if (name.startsWith('.')) return name === '.gitignore' || (!entry.isFile() && !isPackage && !toolFolders.test(name));
  return !(isPackage && madeByTools.has(name) && !entry.isFile());
}

/** Folders that the compiler writes to, where they hold nothing else. */
function compilerOutputs(directory: string, entries: readonly Dirent[]): readonly string[] {
  const present = compilerFiles.filter((file) => entries.some(({ name }) => name === file));
  return present.flatMap((file) => {
    const { outDir } = toObject(toObject(parseLooseJson(readText(path.join(directory, file))))['compilerOptions']);
    const output = typeof outDir === 'string' ? path.resolve(directory, outDir) : directory;
    // The output of a compiler that writes beside its sources is no folder of its own.
    return isInside(directory, output) && output !== directory && path.basename(output) !== 'src' ? [output] : [];
  });
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
