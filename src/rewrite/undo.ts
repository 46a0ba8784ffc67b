import { createHash } from 'node:crypto';
import { applyPatch, createTwoFilesPatch } from 'diff';
import { ToolError, UsageError } from '../core/errors.js';
import type { Change } from '../workspace/sink.js';
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
export function planUndo(workspace: Workspace, name: string, stages: readonly string[]): { readonly stage: string; readonly changes: readonly Change[] } {
  const stage = stages.find((candidate) => workspace.read(undoPath(name, candidate)) !== null);
  if (stage === undefined) {
    throw new UsageError(`There is no rewrite of '${name}' to undo.`, { code: 'nothing-to-undo', hint: `Rewrites are recorded in '${folder}'; without a record, take the change back with git.` });
  }
  const record = workspace.read(undoPath(name, stage));
  const changes = readRecord(record, undoPath(name, stage)).map((file) => undoFile(workspace, file));
  return { stage, changes: [...changes, { file: undoPath(name, stage), before: record, after: null }] };
}

function undoFile(workspace: Workspace, { file, before, afterHash, patch }: UndoFile): Change {
  const now = workspace.read(file);
  if (now === null) throw changedSince(file, 'it is gone');
  if (hash(now) === afterHash) return { file, before: now, after: before };
  if (before === null) throw changedSince(file, 'it was made by the rewrite and edited since');
  // Only where every hunk still fits exactly: a guess would mix two versions of the handler.
  const result = applyPatch(now, patch, { fuzzFactor: 0, autoConvertLineEndings: false });
  if (result === false) throw changedSince(file, 'the lines of the rewrite have been edited');
  return { file, before: now, after: result };
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

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
