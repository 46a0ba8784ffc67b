import type { SkippedFile } from '../core/report.js';
import { isObject, lineOfError, parseLooseJson, toObject } from './json.js';
import { joinPath } from './paths.js';
import type { Workspace } from './workspace.js';

/** A package.json of the project. */
export interface Manifest {
  /** Folder of the package, relative to the project root. */
  readonly root: string;
  readonly name: string | null;
  /** Names it needs at run time. */
  readonly dependencies: ReadonlySet<string>;
}

/** Every readable package.json, the root's first. The root of a part of a package has the manifest of that package. */
export function findManifests(workspace: Workspace): readonly Manifest[] {
  const own = manifestsAmong(workspace, workspace.files());
  if (own[0]?.root === '.' || workspace.surroundings === null) return own;
  for (let folder = '..'; ; folder = joinPath(folder, '..')) {
    const file = joinPath(folder, 'package.json');
    if (workspace.read(file) !== null) return [{ ...toManifest(workspace, file), root: '.' }, ...own];
    if (folder === workspace.surroundings.root) return own;
  }
}

/** The manifests that are no JSON: what the packages depend on is unknown. The root's first. */
export function brokenManifests(workspace: Workspace): readonly SkippedFile[] {
  return manifestsAmong(workspace, workspace.files()).flatMap(({ root }) => {
    const file = joinPath(root, 'package.json');
    const text = workspace.read(file);
    if (text === null || isObject(parseLooseJson(text))) return [];
    return [{ file, reason: 'unparsable', message: `not a JSON object, see line ${lineOfError(text)}` }];
  });
}

/** The manifests of the packages beside the project. */
export function findManifestsBeside(workspace: Workspace): readonly Manifest[] {
  return manifestsAmong(workspace, workspace.surroundings?.files() ?? []);
}

function manifestsAmong(workspace: Workspace, files: readonly string[]): readonly Manifest[] {
  return files
    .filter((file) => file === 'package.json' || file.endsWith('/package.json'))
    .map((file) => toManifest(workspace, file))
    .sort((a, b) => Number(b.root === '.') - Number(a.root === '.') || (a.root < b.root ? -1 : 1));
}

function toManifest(workspace: Workspace, file: string): Manifest {
  const content = toObject(parseLooseJson(workspace.read(file) ?? ''));
  const names = [content['dependencies'], content['peerDependencies']].flatMap((group) => Object.keys(toObject(group)));
  return {
    root: joinPath(file, '..'),
    name: typeof content['name'] === 'string' ? content['name'] : null,
    dependencies: new Set(names),
  };
}

/** An application of a monorepo that has no package.json of its own. */
export interface NestProject {
  readonly name: string;
  readonly root: string;
  readonly source: string | null;
}

const monorepoFolder = /^(?:apps|services|packages)\/([^/]+)\/tsconfig(?:\.app)?\.json$/;

/** Applications that the root's nest-cli.json names; without it, folders under apps/, services/ and packages/ with a tsconfig. */
export function findNestProjects(workspace: Workspace): readonly NestProject[] {
  const projects = toObject(parseLooseJson(workspace.read('nest-cli.json') ?? ''))['projects'];
  if (isObject(projects)) {
    return Object.entries(projects).flatMap(([name, value]) => {
      const { root, sourceRoot, type } = toObject(value);
      if (typeof root !== 'string' || type === 'library') return [];
      return [{ name, root: joinPath(root), source: typeof sourceRoot === 'string' ? joinPath(sourceRoot) : null }];
    });
  }
  const folders = new Map<string, NestProject>();
  for (const file of workspace.files()) {
    const name = monorepoFolder.exec(file)?.[1];
    if (name !== undefined) folders.set(name, { name, root: joinPath(file, '..'), source: null });
  }
  return [...folders.values()];
}
