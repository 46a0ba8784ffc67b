import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { ts } from 'ts-morph';
import { isBeside, type Workspace } from '../workspace/workspace.js';

const EXTENSIONS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'];

interface PathConfig {
  /** Folder that `paths` are relative to. */
  readonly base: string;
  readonly hasBaseUrl: boolean;
  readonly paths: readonly (readonly [string, readonly string[]])[];
}

/** Finds the file of the project behind a module specifier. Null: external, or not there. */
export type ModuleResolver = (specifier: string, from: string) => string | null;

/** Where module specifiers lead. */
export interface ModuleLinks {
  readonly resolve: ModuleResolver;
  /** Whether a specifier that `resolve` knows nothing of means code of the user's that is out of reach: no installed package. */
  readonly leadsOut: (specifier: string, from: string) => boolean;
}

/** Makes a resolver that knows relative paths, tsconfig `paths` and `baseUrl`, and workspace packages by their name. */
export function moduleResolver(workspace: Workspace): ModuleResolver {
  return moduleLinks(workspace).resolve;
}

/** As `moduleResolver`, and tells what it can't reach. */
export function moduleLinks(workspace: Workspace): ModuleLinks {
  const find = fileFinder(workspace);
  const packages = workspacePackages(workspace);
  const configs = new Map<string, PathConfig | null>();
  const cache = new Map<string, string | null>();
  const top = workspace.surroundings?.root ?? '.';

  const configOf = (directory: string): PathConfig | null => {
    const known = configs.get(directory);
    if (known !== undefined) return known;
    const file = posix.join(directory, 'tsconfig.json');
    const own = readPathConfig(workspace, file, 0);
    const result = own ?? (directory === top ? null : configOf(posix.join(directory, '..')));
    configs.set(directory, result);
    return result;
  };

  const resolve: ModuleResolver = (specifier, from) => {
    const directory = posix.dirname(from);
    if (specifier.startsWith('.')) return findFile(find, posix.join(directory, specifier));
    const config = configOf(directory);
    const mapped = config === null ? null : pathsOf(config, specifier).map((path) => findFile(find, path)).find((file) => file !== null);
    return mapped ?? throughPackages(find, packages, specifier);
  };
  const beyond = posix.join(top, '..');
  const isOut = (path: string): boolean => path === beyond || path.startsWith(`${beyond}/`);
  return {
    resolve: (specifier, from) => {
      const key = `${posix.dirname(from)}\0${specifier}`;
      let found = cache.get(key);
      if (found === undefined) {
        found = resolve(specifier, from);
        cache.set(key, found);
      }
      return found;
    },
    leadsOut: (specifier, from) => {
      const directory = posix.dirname(from);
      if (specifier.startsWith('.')) return isOut(posix.join(directory, specifier));
      const config = configOf(directory);
      if (config !== null && pathsOf({ ...config, hasBaseUrl: false }, specifier).some(isOut)) return true;
      const name = packageName(specifier);
      const version = versionOf(workspace, name);
      if (packages.has(name)) return true;
      return version === null ? !isBuiltin(specifier) && inheritsFrom(workspace, directory, isOut) : /^(?:file|link|portal|workspace):/.test(version);
    },
  };
}

/** Finds a file under its own name, also where the path to it leads out of the project and in again; null: there is none. */
type FindFile = (path: string) => string | null;

function fileFinder({ files, links, surroundings }: Workspace): FindFile {
  const own = new Set(files());
  let beside: ReadonlySet<string> | null = null;
  const home = surroundings === null ? null : `${posix.join(surroundings.root, surroundings.project)}/`;
  const find: FindFile = (path) => {
    if (own.has(path)) return path;
    for (const [link, target] of links()) {
      if (path === link) return find(target);
      if (path.startsWith(`${link}/`)) return find(posix.join(target, path.slice(link.length)));
    }
    if (surroundings === null || home === null || !isBeside(path)) return null;
    if (path.startsWith(home)) return own.has(path.slice(home.length)) ? path.slice(home.length) : null;
    beside ??= new Set(surroundings.files());
    return beside.has(path) ? path : null;
  };
  return find;
}

function findFile(find: FindFile, path: string): string | null {
  const withoutJs = path.replace(/\.([cm]?)jsx?$/, '');
  const names = [path, ...[...new Set([path, withoutJs])].flatMap((stem) => EXTENSIONS.map((extension) => stem + extension)), ...EXTENSIONS.map((extension) => posix.join(path, `index${extension}`))];
  for (const name of names) {
    const found = find(name);
    if (found !== null) return found;
  }
  return null;
}

/** The paths that tsconfig maps a specifier to, in its order. */
function pathsOf({ base, hasBaseUrl, paths }: PathConfig, specifier: string): readonly string[] {
  const mapped = paths.flatMap(([pattern, targets]) => {
    const [prefix, suffix] = pattern.split('*') as [string, string | undefined];
    const matches = suffix === undefined ? specifier === prefix : specifier.startsWith(prefix) && specifier.endsWith(suffix);
    if (!matches) return [];
    const middle = suffix === undefined ? '' : specifier.slice(prefix.length, specifier.length - suffix.length);
    return targets.map((target) => posix.join(base, target.replace('*', middle)));
  });
  return hasBaseUrl ? [...mapped, posix.join(base, specifier)] : mapped;
}

/** How the project's manifest asks for a package; null: it does not. */
function versionOf(workspace: Workspace, name: string): string | null {
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = parseJson(workspace.read('package.json'));
  const versions = [dependencies, devDependencies, peerDependencies, optionalDependencies].map((group) => (typeof group === 'object' && group !== null ? (group as Record<string, unknown>)[name] : undefined));
  return versions.find((version) => typeof version === 'string') ?? null;
}

/** Whether a tsconfig of the project inherits from one that is out of reach: a name that no manifest declares may be one of its `paths`. */
function inheritsFrom(workspace: Workspace, directory: string, isOut: (path: string) => boolean): boolean {
  const file = posix.join(directory, 'tsconfig.json');
  const { config } = ts.parseConfigFileTextToJson(file, workspace.read(file) ?? '{}') as { config?: { extends?: unknown } };
  const bases = [config?.extends].flat().filter((base): base is string => typeof base === 'string' && base.startsWith('.'));
  return bases.some((base) => isOut(posix.join(directory, base))) || (directory !== '.' && !isBeside(directory) && inheritsFrom(workspace, posix.dirname(directory), isOut));
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
  for (const file of [...workspace.files(), ...(workspace.surroundings?.files() ?? [])]) {
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

function throughPackages(find: FindFile, packages: ReadonlyMap<string, { directory: string; entry: string[] }>, specifier: string): string | null {
  const name = packageName(specifier);
  const found = packages.get(name);
  if (found === undefined) return null;
  const rest = specifier.slice(name.length + 1);
  // What a manifest points at is often built: `dist/index.js` was made from `src/index.ts`.
  const candidates = rest !== '' ? [rest, posix.join('src', rest), posix.join('lib', rest), rest.replace(/^(dist|build|lib)\//, 'src/')]
    : [...found.entry.flatMap((entry) => [entry, entry.replace(/(^|\/)(dist|build|lib)\//, '$1src/'), entry.replace(/(^|\/)(dist|build|lib)\//, '$1')]), 'src/index', 'index'];
  for (const candidate of candidates) {
    const file = findFile(find, posix.join(found.directory, candidate.replace(/\.d\.[cm]?ts$/, '')));
    if (file !== null) return file;
  }
  return null;
}

/** `@scope/name/sub` → `@scope/name`; `node:events` → `events`. */
export function packageName(specifier: string): string {
  const parts = specifier.replace(/^node:/, '').split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}
