import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, rmSync, rmdirSync, statSync, writeFileSync, type Stats } from 'node:fs';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { ToolError } from '../core/errors.js';
import type { Change } from './sink.js';

/** A change together with the file that it really concerns, symbolic links resolved. */
export interface PlacedChange extends Change {
  readonly absolute: string;
}

interface Prepared {
  readonly change: PlacedChange;
  /** Null for a deletion. */
  readonly temporary: string | null;
}

/**
 * Writes all files or none. Every new content is first written next to its place, then all are renamed: a crash
 * leaves each file whole, old or new. When something fails, what was done is taken back.
 */
export function writeAll(changes: readonly PlacedChange[]): void {
  const folders: string[] = [];
  const prepared: Prepared[] = [];
  const done: PlacedChange[] = [];
  let current = '';
  try {
    for (const change of changes) {
      current = change.file;
      prepared.push({ change, temporary: prepare(change, folders) });
    }
    for (const { change, temporary } of prepared) {
      current = change.file;
      if (temporary === null) rmSync(change.absolute);
      else renameSync(temporary, change.absolute);
      done.push(change);
    }
  } catch (error) {
    for (const { temporary } of prepared) if (temporary !== null) rmSync(temporary, { force: true });
    for (const change of done.reverse()) putBack(change);
    for (const folder of folders.reverse()) removeIfEmpty(folder);
    throw notWritable(current, error);
  }
}

/** Writes the new content beside the file, flushed to disk, with the mode of the file that it replaces. */
function prepare({ absolute, after }: PlacedChange, folders: string[]): string | null {
  if (after === null) return null;
  makeFolders(path.dirname(absolute), folders);
  const temporary = path.join(path.dirname(absolute), `.${path.basename(absolute)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFlushed(temporary, after);
    const stats = statOf(absolute);
    if (stats) chmodSync(temporary, stats.mode & 0o7777);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return temporary;
}

function writeFlushed(file: string, text: string): void {
  const descriptor = openSync(file, 'wx');
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Creates the missing folders, outermost first, and notes them. */
function makeFolders(folder: string, made: string[]): void {
  if (statOf(folder)) return;
  makeFolders(path.dirname(folder), made);
  mkdirSync(folder);
  made.push(folder);
}

function putBack({ absolute, before }: PlacedChange): void {
  if (before === null) {
    rmSync(absolute, { force: true });
    return;
  }
  const mode = statOf(absolute)?.mode;
  const temporary = `${absolute}.${randomBytes(6).toString('hex')}.tmp`;
  writeFlushed(temporary, before);
  if (mode !== undefined) chmodSync(temporary, mode & 0o7777);
  renameSync(temporary, absolute);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Not empty: someone else's file is in it by now.
  }
}

/** What the user is told when the disk refuses. */
export function notWritable(file: string, cause: unknown): ToolError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return new ToolError(`Cannot write '${file}' (${code}); no file was changed.`, {
    code: 'not-writable',
    hint: 'Make the file and its folder writable, or free space, and run the command again.',
    file,
    cause,
  });
}

/** What stands at this path; undefined for nothing, also when a part of the path is a file. */
export function statOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

/** Writes a report to a file that the user named, wherever it is: whole or not at all. What is there is replaced. */
export function writeReportFile(absolute: string, text: string): void {
  const file = path.basename(absolute);
  const stats = statOf(absolute);
  if (stats && !stats.isFile()) {
    throw new ToolError(`'${file}' is there and is no file.`, { code: 'file-exists', hint: 'Name another place for the report.', file });
  }
  writeAll([{ file, before: stats ? readFileSync(absolute, 'utf8') : null, after: text, absolute: stats ? realpathSync(absolute) : absolute }]);
}
