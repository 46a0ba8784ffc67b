import { createHash } from 'node:crypto';
import { applyPatch, createTwoFilesPatch, parsePatch } from 'diff';
import { ToolError, UsageError } from '../core/errors.js';
import type { Change } from '../workspace/sink.js';
import { listFolder } from '../workspace/folder.js';
import type { Workspace } from '../workspace/workspace.js';
import { parseJson, property } from './style.js';

/** What it takes to give one file back. */
interface UndoFile {
  readonly file: string;
  /** The file before the rewrite; null: it did not exist. */
  readonly before: string | null;
  /** SHA-256 of the file after the rewrite. */
  readonly afterHash: string;
  /** Patch from the rewritten file back, for a file that has changed elsewhere since. */
  readonly patch: string;
}

const folder = '.outboxify/undo';

/** A rewrite that can be undone. */
export interface UndoRecord {
  readonly name: string;
  readonly stage: string;
  /** Files that it changed, with the hash of what it made of them. */
  readonly files: readonly { readonly file: string; readonly afterHash: string }[];
}

/** The changes that take a rewrite back. */
export interface UndoPlan {
  readonly name: string;
  readonly stage: string;
  readonly changes: readonly Change[];
}

/** File of the undo record of a rewrite; one per handler and stage. */
export function undoPath(name: string, stage: string): string {
  return `${folder}/${name.replace(/[^\w.-]+/g, '_')}.${stage}.json`;
}

/** The undo record of a rewrite, as a change that is written with it. */
export function recordUndo(workspace: Workspace, record: { readonly name: string; readonly stage: string; readonly changes: readonly Change[] }): Change {
  const file = undoPath(record.name, record.stage);
  const files: UndoFile[] = record.changes.map(({ file: changedFile, before, after }) => ({
    file: changedFile,
    before,
    afterHash: hash(after ?? ''),
    patch: createTwoFilesPatch(changedFile, changedFile, after ?? '', before ?? '', undefined, undefined, { context: 3 }),
  }));
  const after = `${JSON.stringify({ schemaVersion: 1, name: record.name, stage: record.stage, files }, null, 2)}\n`;
  return { file, before: workspace.read(file), after };
}

/** The changes that take the last rewrite of this name back; the record goes with them. */
export function planUndo(workspace: Workspace, name: string, stages: readonly string[]): UndoPlan {
  const stage = stages.find((candidate) => workspace.read(undoPath(name, candidate)) !== null);
  if (stage === undefined) {
    throw new UsageError(`There is no rewrite of '${name}' to undo.`, { code: 'nothing-to-undo', hint: `Rewrites are recorded in '${folder}'; without a record, take the change back with git.` });
  }
  const record = workspace.read(undoPath(name, stage));
  const changes = readRecord(record, undoPath(name, stage)).map((file) => undoFile(workspace, file));
  return { name, stage, changes: [...changes, { file: undoPath(name, stage), before: record, after: null }] };
}

/** The rewrites of the project that are recorded. */
export function undoRecords(workspace: Workspace): readonly UndoRecord[] {
  return listFolder(workspace.root, folder).filter((file) => file.endsWith('.json')).flatMap((file) => {
    const record = parseJson(workspace.read(file));
    const [name, stage, files] = [property(record, 'name'), property(record, 'stage'), property(record, 'files')];
    if (typeof name !== 'string' || typeof stage !== 'string' || !Array.isArray(files)) return [];
    return [{ name, stage, files: files.filter(isUndoFile) }];
  });
}

function undoFile(workspace: Workspace, { file, before, afterHash, patch }: UndoFile): Change {
  const now = workspace.read(file);
  if (now === null) throw changedSince(file, 'it is gone');
  if (hash(now) === afterHash) return { file, before: now, after: before };
  if (before === null) throw changedSince(file, 'it was made by the rewrite and edited since');
  // Only where every hunk still fits exactly: a guess would mix two versions of the handler.
  const result = applyPatch(now, patch, { fuzzFactor: 0, autoConvertLineEndings: false }) || withoutAdded(now, patch);
  if (result === null) throw changedSince(file, 'the lines of the rewrite have been edited');
  return { file, before: now, after: withoutEmptyList(result) };
}

/** Rewrites that are undone in another order leave `routes` empty over two lines: it began as `{}`. */
function withoutEmptyList(text: string): string {
  return text.replace(/(\bconst routes = \{)\r?\n\}/, '$1}');
}

/** Where the rewrite has only added lines (a route), and they are there once, they go whatever stands beside them now; else null. */
function withoutAdded(now: string, patch: string): string | null {
  let text: string | null = now;
  for (const { lines } of parsePatch(patch).flatMap((file) => file.hunks)) {
    const added = addedLines(lines);
    text = added === null || text === null ? null : withoutLines(text, `${added.join('\n')}\n`);
  }
  return text;
}

/** Lines that the rewrite has put into a file without changing another one; `{}` may have become a list with a line for each entry. */
function addedLines(lines: readonly string[]): readonly string[] | null {
  const made = lines.filter((line) => line.startsWith('-')).map((line) => line.slice(1));
  const was = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1));
  if (was.length === 0) return made;
  const entries = made.filter((line) => /^\s+['"]?[\w.:/-]+['"]?: \{ .* \},\r?$/.test(line));
  const squeeze = (all: readonly string[]): string => all.join('').replace(/\s+/g, '');
  return entries.length > 0 && squeeze(made.filter((line) => !entries.includes(line))) === squeeze(was) ? entries : null;
}

/** A text without whole lines that are in it exactly once; null when they are not. */
function withoutLines(text: string, lines: string): string | null {
  const framed = `\n${text}`;
  const start = framed.indexOf(`\n${lines}`);
  if (start < 0 || framed.indexOf(`\n${lines}`, start + 1) >= 0) return null;
  return text.slice(0, start) + text.slice(start + lines.length);
}

function changedSince(file: string, why: string): ToolError {
  return new ToolError(`'${file}' has changed since the rewrite (${why}), so it can not be undone.`, { code: 'changed-since', hint: 'Take the rewrite back by hand or with git. No file was changed.', file });
}

function readRecord(text: string | null, file: string): readonly UndoFile[] {
  const files = property(parseJson(text), 'files');
  if (!Array.isArray(files) || !files.every(isUndoFile)) {
    throw new ToolError(`'${file}' is no undo record.`, { code: 'undo-unreadable', hint: 'Take the rewrite back with git.', file });
  }
  return files;
}

function isUndoFile(value: unknown): value is UndoFile {
  const before = property(value, 'before');
  return typeof property(value, 'file') === 'string' && typeof property(value, 'afterHash') === 'string' && typeof property(value, 'patch') === 'string' && (before === null || typeof before === 'string');
}

/** SHA-256 by which a record knows the file that its rewrite has made. */
export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
