import type { Config, ServiceConfig } from '../core/config.js';
import type { PartialServiceConfig } from './config.js';
import { detectDatabase, detectMigrationDirectory, readDataSourceTexts } from './data-source.js';
import { findManifests, findManifestsBeside, findNestProjects, type Manifest } from './manifests.js';
import { parseLooseJson, toObject, toStrings } from './json.js';
import { isInFolder, joinPath } from './paths.js';
import { busPackages, ormPackages } from './stacks.js';
import type { Workspace } from './workspace.js';

/** The services of a project: as configured, else as detected. Never empty. */
export function resolveServices(workspace: Workspace, config: Config): readonly ServiceConfig[] {
  if (config.services.length > 0) return config.services;
  const known = detected.get(workspace);
  if (known) return known;
  const services = detectServices(workspace);
  detected.set(workspace, services);
  return services;
}

/** Asked for every finding of a scan, and the same as long as the workspace is. */
const detected = new WeakMap<Workspace, readonly ServiceConfig[]>();

/** The service that a file belongs to: the one with the deepest root around it. */
export function serviceOf(services: readonly ServiceConfig[], file: string): ServiceConfig | null {
  const around = services.filter(({ root }) => isInFolder(file, root));
  return around.sort((a, b) => depth(b.root) - depth(a.root))[0] ?? null;
}

/** Fills up what the configuration leaves out. */
export function completeServices(workspace: Workspace, partial: readonly PartialServiceConfig[]): readonly ServiceConfig[] {
  if (partial.length === 0) return [];
  const manifests = findManifests(workspace);
  return partial.map((service) => ({ ...describe(workspace, { root: service.root, name: service.name, manifest: manifestOf(manifests, service.root) }), ...service }));
}

/**
 * Every package with an ORM or a bus among its dependencies; where one root manifest serves a monorepo, its
 * applications as nest-cli.json or folders with their own tsconfig name them; else the root itself.
 */
export function detectServices(workspace: Workspace): readonly ServiceConfig[] {
  const manifests = findManifests(workspace).map((manifest, _, all) => withLibraries(manifest, [...all, ...findManifestsBeside(workspace)]));
  const own = manifests.filter((manifest) => manifest.root !== '.' && isService(manifest) && !isLibrary(manifest, manifests));
  const root = manifestOf(manifests, '.');
  const found = own.map((manifest) => candidate(manifest.root, manifest, manifest.name));
  if (isService(root)) {
    const projects = findNestProjects(workspace).filter((project) => !own.some((manifest) => manifest.root === project.root));
    if (projects.length > 0) found.push(...projects.map((project) => candidate(project.root, root, project.name)));
    else if (found.length === 0 || hasSource(workspace, '.')) found.push(candidate('.', root, root.name));
  }
  if (found.length === 0) found.push(candidate('.', root, root.name));
  return distinctNames(found).map((service) => describe(workspace, service)).sort((a, b) => (a.root < b.root ? -1 : 1));
}

interface Candidate {
  readonly name: string;
  readonly root: string;
  readonly manifest: Manifest;
}

function candidate(root: string, manifest: Manifest, name: string | null): Candidate {
  const folder = root === '.' ? 'app' : (root.split('/').at(-1) ?? root);
  return { root, manifest, name: name?.replace(/^@[^/]+\//, '') || folder };
}

function distinctNames(candidates: readonly Candidate[]): Candidate[] {
  return candidates.map((service) =>
    candidates.filter(({ name }) => name === service.name).length > 1 && service.root !== '.' ? { ...service, name: service.root } : service,
  );
}

function isService({ dependencies }: Manifest): boolean {
  return [...ormPackages.typeorm, ...Object.values(busPackages).flat()].some((name) => dependencies.has(name));
}

/** What a package gets through the other packages of the project is its own as well: a bus is often in a shared one. */
function withLibraries(manifest: Manifest, manifests: readonly Manifest[]): Manifest {
  const dependencies = new Set(manifest.dependencies);
  // A set goes on over what is added while it is gone through: the libraries of libraries are met, each once.
  for (const name of dependencies) {
    const library = manifests.find((other) => other.name === name);
    for (const inherited of library?.dependencies ?? []) dependencies.add(inherited);
  }
  return { ...manifest, dependencies };
}

/** A package that another one of the project depends on is part of that one, not a service. */
function isLibrary({ name }: Manifest, manifests: readonly Manifest[]): boolean {
  return name !== null && manifests.some(({ dependencies }) => dependencies.has(name));
}

function manifestOf(manifests: readonly Manifest[], root: string): Manifest {
  const around = manifests.filter((manifest) => isInFolder(root, manifest.root)).sort((a, b) => depth(b.root) - depth(a.root));
  return around[0] ?? { root: '.', name: null, dependencies: new Set() };
}

function describe(workspace: Workspace, { root, name, manifest }: Candidate): ServiceConfig {
  const { dependencies } = manifest;
  const source = sourceFolder(workspace, root);
  const texts = readDataSourceTexts(workspace, root);
  const orm = ormPackages.typeorm.some((dependency) => dependencies.has(dependency)) ? 'typeorm' : null;
  return {
    name,
    root,
    orm,
    buses: Object.entries(busPackages).filter(([, packages]) => packages.some((dependency) => dependencies.has(dependency))).map(([bus]) => bus),
    database: detectDatabase(texts, dependencies),
    migrations: orm === null ? null : { tool: orm, directory: detectMigrationDirectory(workspace, { root, texts }) ?? joinPath(source, 'migrations') },
    outbox: joinPath(source, 'outbox'),
    databaseUrlEnv: 'DATABASE_URL',
  };
}

/** Where the service's code lies: nest-cli's sourceRoot, tsconfig's rootDir or first include, `src`, else the root. */
function sourceFolder(workspace: Workspace, root: string): string {
  const nest = toObject(parseLooseJson(workspace.read(joinPath(root, 'nest-cli.json')) ?? ''));
  const project = findNestProjects(workspace).find((item) => item.root === root);
  const compiler = toObject(parseLooseJson(workspace.read(joinPath(root, 'tsconfig.json')) ?? ''));
  const named = [
    nest['sourceRoot'],
    toObject(compiler['compilerOptions'])['rootDir'],
    ...toStrings(compiler['include']).map((glob) => glob.split('/')[0]),
    'src',
  ];
  const inside = named
    .filter((folder): folder is string => typeof folder === 'string' && /^[\w./-]+$/.test(folder))
    .map((folder) => joinPath(root, folder))
    .filter((folder) => folder !== root && folder !== '.' && !folder.startsWith('..'));
  const found = [...(project?.source ? [project.source] : []), ...inside].find((folder) => workspace.files().some((file) => isInFolder(file, folder)));
  return found ?? root;
}

function hasSource(workspace: Workspace, root: string): boolean {
  const source = joinPath(root, 'src');
  return workspace.files().some((file) => isInFolder(file, source));
}

function depth(folder: string): number {
  return folder === '.' ? 0 : folder.split('/').length;
}
