import { posix } from 'node:path';
import { ts } from 'ts-morph';
import type { Workspace } from '../workspace/workspace.js';

const EXTENSIONS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'];

interface PathConfig {
  /** Folder that `paths` are relative to. */
  readonly base: string;
  readonly hasBaseUrl: boolean;
  readonly paths: readonly (readonly [string, readonly string[]])[];
}

/** Finds the file of the project behind a module specifier. Null: external, or not there. */
export type ModuleResolver = (specifier: string, from: string) => string | null;

/** Makes a resolver that knows relative paths, tsconfig `paths` and `baseUrl`, and workspace packages by their name. */
export function moduleResolver(workspace: Workspace): ModuleResolver {
  const files = new Set(workspace.files());
  const packages = workspacePackages(workspace);
  const configs = new Map<string, PathConfig | null>();
  const cache = new Map<string, string | null>();

  const configOf = (directory: string): PathConfig | null => {
    const known = configs.get(directory);
    if (known !== undefined) return known;
    const file = posix.join(directory, 'tsconfig.json');
    const own = readPathConfig(workspace, file, 0);
    const parent = posix.dirname(directory);
    const result = own ?? (directory === '.' ? null : configOf(parent));
    configs.set(directory, result);
    return result;
  };

  const resolve: ModuleResolver = (specifier, from) => {
    const directory = posix.dirname(from);
    if (specifier.startsWith('.')) return findFile(files, posix.join(directory, specifier));
    const config = configOf(directory);
    return (config === null ? null : throughPaths(files, config, specifier)) ?? throughPackages(files, packages, specifier);
  };
  return (specifier, from) => {
    const key = `${posix.dirname(from)}\0${specifier}`;
    let found = cache.get(key);
    if (found === undefined) {
      found = resolve(specifier, from);
      cache.set(key, found);
    }
    return found;
  };
}

function findFile(files: ReadonlySet<string>, path: string): string | null {
  if (files.has(path)) return path;
  const withoutJs = path.replace(/\.([cm]?)jsx?$/, '');
  for (const stem of new Set([path, withoutJs])) {
    for (const extension of EXTENSIONS) if (files.has(stem + extension)) return stem + extension;
  }
  for (const extension of EXTENSIONS) {
    const index = posix.join(path, `index${extension}`);
    if (files.has(index)) return index;
  }
  return null;
}

function throughPaths(files: ReadonlySet<string>, config: PathConfig, specifier: string): string | null {
  for (const [pattern, targets] of config.paths) {
    const [prefix, suffix] = pattern.split('*') as [string, string | undefined];
    const matches = suffix === undefined ? specifier === prefix : specifier.startsWith(prefix) && specifier.endsWith(suffix);
    if (!matches) continue;
    const middle = suffix === undefined ? '' : specifier.slice(prefix.length, specifier.length - suffix.length);
    for (const target of targets) {
      const found = findFile(files, posix.join(config.base, target.replace('*', middle)));
      if (found !== null) return found;
    }
  }
  return config.hasBaseUrl ? findFile(files, posix.join(config.base, specifier)) : null;
}

function readPathConfig(workspace: Workspace, file: string, depth: number): PathConfig | null {
  const text = workspace.read(file);
  if (text === null || depth > 8) return null;
  const { config } = ts.parseConfigFileTextToJson(file, text) as { config?: { extends?: unknown; compilerOptions?: { baseUrl?: unknown; paths?: unknown } } };
  const options = config?.compilerOptions ?? {};
  const directory = posix.dirname(file);
  const hasBaseUrl = typeof options.baseUrl === 'string';
  const own = typeof options.paths === 'object' && options.paths !== null ? Object.entries(options.paths as Record<string, unknown>) : [];
  if (hasBaseUrl || own.length > 0) {
    const base = hasBaseUrl ? posix.join(directory, options.baseUrl as string) : directory;
    const paths = own.map(([pattern, targets]) => [pattern, Array.isArray(targets) ? targets.filter((t) => typeof t === 'string') : []] as const);
    if (paths.length > 0) return { base, hasBaseUrl, paths };
    const inherited = inheritedConfig(workspace, config?.extends, directory, depth);
    return { base, hasBaseUrl, paths: inherited?.paths ?? [] };
  }
  return inheritedConfig(workspace, config?.extends, directory, depth) ?? (depth === 0 ? { base: directory, hasBaseUrl: false, paths: [] } : null);
}

function inheritedConfig(workspace: Workspace, bases: unknown, directory: string, depth: number): PathConfig | null {
  for (const base of Array.isArray(bases) ? [...(bases as unknown[])].reverse() : [bases]) {
    if (typeof base !== 'string' || !base.startsWith('.')) continue;
    const path = posix.join(directory, base);
    const found = readPathConfig(workspace, path.endsWith('.json') ? path : `${path}.json`, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function workspacePackages(workspace: Workspace): Map<string, { directory: string; entry: string[] }> {
  const packages = new Map<string, { directory: string; entry: string[] }>();
  for (const file of workspace.files()) {
    if (posix.basename(file) !== 'package.json') continue;
    const manifest = parseJson(workspace.read(file));
    if (typeof manifest.name !== 'string') continue;
    const entry = [manifest.source, manifest.types, manifest.typings, manifest.module, manifest.main].filter((e): e is string => typeof e === 'string');
    if (!packages.has(manifest.name)) packages.set(manifest.name, { directory: posix.dirname(file), entry });
  }
  return packages;
}

function parseJson(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {}; // a manifest that can't be read names no package
  }
}

function throughPackages(files: ReadonlySet<string>, packages: ReadonlyMap<string, { directory: string; entry: string[] }>, specifier: string): string | null {
  const name = packageName(specifier);
  const found = packages.get(name);
  if (found === undefined) return null;
  const rest = specifier.slice(name.length + 1);
  // What a manifest points at is often built: `dist/index.js` was made from `src/index.ts`.
  const candidates = rest !== '' ? [rest, posix.join('src', rest), posix.join('lib', rest), rest.replace(/^(dist|build|lib)\//, 'src/')]
    : [...found.entry.flatMap((entry) => [entry, entry.replace(/(^|\/)(dist|build|lib)\//, '$1src/'), entry.replace(/(^|\/)(dist|build|lib)\//, '$1')]), 'src/index', 'index'];
  for (const candidate of candidates) {
    const file = findFile(files, posix.join(found.directory, candidate.replace(/\.d\.[cm]?ts$/, '')));
    if (file !== null) return file;
  }
  return null;
}

/** `@scope/name/sub` → `@scope/name`; `node:events` → `events`. */
export function packageName(specifier: string): string {
  const parts = specifier.replace(/^node:/, '').split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}
