import { accessSync, constants, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { ToolError } from '../core/errors.js';
import type { ChangeOutcome } from '../core/outcome.js';
import { isInside } from './paths.js';
import { toPatch } from './patch.js';
import { notWritable, statOf, writeAll, type PlacedChange } from './write.js';

/** What one file becomes. Null: it does not exist. */
export interface Change {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Where changes go. Both sinks check and answer the same. */
export interface Sink {
  /** Throws a ToolError when a file is not as `before` says, or can't be written; then no file is changed. */
  apply(changes: readonly Change[]): ChangeOutcome;
}

/** Writes to disk: each file as a whole or not at all; everything is checked before the first is written. */
export function diskSink(root: string): Sink {
  return {
    apply(changes) {
      const placed = place(root, changes);
      const outcome = describe(placed, 'written');
      writeAll(placed);
      return outcome;
    },
  };
}

/** Writes nothing; same checks, same answer. */
export function dryRunSink(root: string): Sink {
  return { apply: (changes) => describe(place(root, changes), 'dry-run') };
}

function describe(changes: readonly PlacedChange[], outcome: 'written' | 'dry-run'): ChangeOutcome {
  const byFile = new Map(changes.map(({ file, absolute }) => [file, absolute]));
  return {
    outcome: changes.length === 0 ? 'nothing-to-do' : outcome,
    reasons: [],
    files: changes.map(({ file, before, after }) => ({ path: file, change: kindOf(before, after) })),
    patch: toPatch(changes, (file) => isExecutable(byFile.get(file))),
  };
}

function kindOf(before: string | null, after: string | null): 'created' | 'modified' | 'deleted' {
  if (before === null) return 'created';
  return after === null ? 'deleted' : 'modified';
}

function isExecutable(absolute: string | undefined): boolean {
  const stats = absolute === undefined ? undefined : statOf(absolute);
  return stats !== undefined && (stats.mode & 0o100) !== 0;
}

/** The changes that change something, each checked against the disk. */
function place(root: string, changes: readonly Change[]): PlacedChange[] {
  const realRoot = realpathSync(root);
  const seen = new Set<string>();
  return changes
    .filter(({ before, after }) => before !== after)
    .map((change) => {
      if (seen.has(change.file)) throw new Error(`two changes of one file: ${change.file}`);
      seen.add(change.file);
      const placed = { ...change, absolute: resolveInside(realRoot, change.file) };
      assertAsBefore(placed);
      assertWritable(placed);
      return placed;
    });
}

function resolveInside(root: string, file: string): string {
  const wanted = path.resolve(root, file);
  const existing = nearestExisting(wanted);
  const real = path.join(realpathSync(existing), path.relative(existing, wanted));
  if (isInside(root, wanted) && isInside(root, real) && real !== root) return real;
  throw new ToolError(`'${file}' lies outside the project.`, {
    code: 'outside-project',
    hint: "outboxify writes only below the project's root; run it from a folder that contains both.",
    file,
  });
}

function nearestExisting(file: string): string {
  let existing = file;
  while (!statOf(existing)) existing = path.dirname(existing);
  return existing;
}

function assertAsBefore({ file, before, absolute }: PlacedChange): void {
  const stats = statOf(absolute);
  if (before === null && stats) {
    throw new ToolError(`'${file}' exists already and would be overwritten.`, {
      code: 'file-exists',
      hint: 'Move or delete it, or name another place, and run the command again.',
      file,
    });
  }
  if (before === null || (stats?.isFile() && readFileSync(absolute, 'utf8') === before)) return;
  throw new ToolError(`'${file}' has changed since it was read.`, {
    code: 'file-changed',
    hint: 'Run the command again on the file as it is now.',
    file,
  });
}

/** The file is replaced by renaming, so its folder must be writable; a read-only file is respected, too. */
function assertWritable({ file, before, absolute }: PlacedChange): void {
  const folder = nearestExisting(path.dirname(absolute));
  try {
    if (!statOf(folder)?.isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (before !== null) accessSync(absolute, constants.W_OK);
  } catch (error) {
    throw notWritable(file, error);
  }
}
