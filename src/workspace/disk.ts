import { readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { escapePath } from 'tinyglobby';
import type { Config } from '../core/config.js';
import { UsageError } from '../core/errors.js';
import type { SkippedFile } from '../core/report.js';
import { listFiles, type Listing } from './listing.js';
import { findMonorepo } from './monorepo.js';
import { isInside, joinPath, toPosix } from './paths.js';
import { isBeside, type Surroundings, type Workspace } from './workspace.js';

/** A larger file is generated or data; nobody writes a handler in it. */
export const maximumFileSize = 2 * 1024 * 1024;

/**
 * The files of a project on disk. Symbolic links are not followed when listing, and `read` refuses one that
 * leads out of the root, or out of the workspace that the project is a member of.
 */
export function openWorkspace(root: string, config: Pick<Config, 'exclude'>): Workspace {
  const realRoot = realRootOf(root);
  const monorepo = findMonorepo(realRoot);
  const skipped = new Map<string, SkippedFile>();
  const limit = monorepo ?? realRoot;
  let listing: Listing | null = null;
  const list = (): Listing => (listing ??= listFiles({ root: realRoot, limit, exclude: config.exclude }));
  return {
    root: realRoot,
    files: () => list().files,
    links: () => list().links,
    read(file) {
      const answer = readText({ root: realRoot, limit }, file);
      if (answer === null || typeof answer === 'string') return answer;
      skipped.set(file, answer);
      return null;
    },
    surroundings: monorepo === null ? null : surroundingsOf(realRoot, monorepo, config.exclude),
    skipped: () => [...(listing?.skipped ?? []), ...skipped.values()].sort((a, b) => (a.file < b.file ? -1 : 1)),
  };
}

function surroundingsOf(root: string, monorepo: string, exclude: readonly string[]): Surroundings {
  const project = toPosix(path.relative(monorepo, root));
  const up = toPosix(path.relative(root, monorepo));
  let listing: readonly string[] | null = null;
  return {
    root: up,
    project,
    files() {
      const patterns = exclude.filter(isBeside).map((pattern) => joinPath(project, pattern));
      listing ??= listFiles({ root: monorepo, limit: monorepo, exclude: [`${escapePath(project)}/**`, ...patterns] }).files.map((file) => joinPath(up, file));
      return listing;
    },
  };
}

function realRootOf(root: string): string {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) {
    throw new UsageError(`The project directory '${root}' ${stats ? 'is not a directory' : 'does not exist'}.`, {
      code: 'no-such-directory',
      hint: "Give the directory of the project with '--cwd <dir>'.",
    });
  }
  return realpathSync(root);
}

/** A path of the command line, relative to the project's root with `/`; `.` is the root, `../x` is outside. */
export function toProjectPath(root: string, given: string): string {
  const absolute = path.resolve(root, given);
  let real = absolute;
  try {
    real = realpathSync(absolute);
  } catch {
    // It does not exist: the caller says so.
  }
  return toPosix(path.relative(root, real)) || '.';
}

/** `limit` is the folder that no file is read outside of. */
function readText({ root, limit }: { readonly root: string; readonly limit: string }, file: string): string | SkippedFile | null {
  const absolute = path.resolve(root, file);
  if (!isInside(limit, absolute)) return null;
  try {
    const stats = statSync(absolute, { throwIfNoEntry: false });
    if (!stats?.isFile()) return null;
    if (!isInside(limit, realpathSync(absolute))) return null;
    if (stats.size > maximumFileSize) {
      return { file, reason: 'too-large', message: `${(stats.size / 1024 / 1024).toFixed(1)} MB; files over 2 MB are passed over` };
    }
    return decode(file, readFileSync(absolute));
  } catch (error) {
    return { file, reason: 'unreadable', message: errorCode(error) };
  }
}

function decode(file: string, bytes: Buffer): string | SkippedFile {
  try {
    // The byte order mark stays: offsets and untouched bytes must be those of the file.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { file, reason: 'not-utf8', message: 'not UTF-8 text' };
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error);
}
