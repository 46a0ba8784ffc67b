import { createHash } from 'node:crypto';
import { applyPatch, createTwoFilesPatch, parsePatch } from 'diff';
import { ToolError, UsageError } from '../core/errors.js';
import { nearestNames } from '../core/nearest.js';
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

/** What a rewrite was of. */
export interface UndoSubject {
  /** Handler or subscriber. */
  readonly name: string;
  /** Its file. */
  readonly file: string;
  /** What the subscriber receives; null: not known, or a handler. */
  readonly destination: string | null;
  /** Stage that was reached, or `inbox`. */
  readonly stage: string;
}

/** A rewrite that can be undone. */
export interface UndoRecord extends UndoSubject {
  /** Where the record is. */
  readonly path: string;
  readonly files: readonly UndoFile[];
}

/** The changes that take a rewrite back. */
export interface UndoPlan {
  readonly record: UndoRecord;
  readonly changes: readonly Change[];
}

/** File of the undo record of a rewrite: one per handler and stage, also where two services name their handlers alike. */
function undoPath({ name, file, destination, stage }: UndoSubject): string {
  const key = hash(`${file}#${name}#${destination ?? ''}`).slice(0, 8);
  return `${folder}/${name.replace(/[^\w.-]+/g, '_')}-${key}.${stage}.json`;
}

/** The undo record of a rewrite, as a change that is written with it. */
export function recordUndo(workspace: Workspace, { name, file, destination, stage }: UndoSubject, changes: readonly Change[]): Change {
  const path = undoPath({ name, file, destination, stage });
  const files: UndoFile[] = changes.map(({ file: changedFile, before, after }) => ({
    file: changedFile,
    before,
    afterHash: hash(after ?? ''),
    patch: createTwoFilesPatch(changedFile, changedFile, after ?? '', before ?? '', undefined, undefined, { context: 3 }),
  }));
  const after = `${JSON.stringify({ schemaVersion: 1, name, file, destination, stage, files }, null, 2)}\n`;
  return { file: path, before: workspace.read(path), after };
}

/**
 * The record of the rewrite that a person means, by name, last part of the name, `file#name` or destination; the first of `stages` that has one.
 * Throws when there is none, and when several handlers are called so.
 */
export function findRecord(workspace: Workspace, subject: string, stages: readonly string[]): UndoRecord {
  const records = undoRecords(workspace);
  const matches: readonly ((record: UndoRecord) => boolean)[] = [
    ({ name }) => name === subject,
    ({ file, name }) => `${file}#${name}` === subject,
    ({ name }) => name.split('.').at(-1) === subject,
    ({ destination }) => destination === subject,
    ({ file, destination }) => `${file}#${destination ?? ''}` === subject,
  ];
  for (const isMatch of matches) {
    const found = records.filter((record) => stages.includes(record.stage) && isMatch(record));
    const [first] = found;
    if (first === undefined) continue;
    const other = found.find((record) => record.file !== first.file || record.name !== first.name || record.destination !== first.destination);
    if (other !== undefined) {
      const full = (record: UndoRecord): string => `${record.file}#${record.file === other.file && first.file === other.file && first.name === other.name ? (record.destination ?? record.name) : record.name}`;
      throw new UsageError(`'${subject}' names several rewrites: ${full(first)} and ${full(other)}.`, { code: 'ambiguous-rewrite', hint: `Name one as '${full(first)}'.` });
    }
    const byStage = stages.flatMap((stage) => found.filter((record) => record.stage === stage));
    return byStage[0] ?? first;
  }
  const near = nearestNames(subject, [...new Set(records.filter(({ stage }) => stages.includes(stage)).map(({ name }) => name))]);
  const meant = near.length > 0 ? `Did you mean ${near.map((name) => `'${name}'`).join(' or ')}? ` : '';
  throw new UsageError(`There is no rewrite of '${subject}' to undo.`, { code: 'nothing-to-undo', hint: `${meant}Rewrites are recorded in '${folder}'; without a record, take the change back with git.` });
}

/** The changes that take a rewrite back; its record goes with them. */
export function planUndo(workspace: Workspace, record: UndoRecord): UndoPlan {
  const changes = record.files.map((file) => undoFile(workspace, file));
  return { record, changes: [...changes, { file: record.path, before: workspace.read(record.path), after: null }] };
}

/** The rewrites of the project that are recorded. Throws on a record that can't be read. */
export function undoRecords(workspace: Workspace): readonly UndoRecord[] {
  return listFolder(workspace.root, folder).filter((file) => file.endsWith('.json')).map((path) => readRecord(workspace.read(path), path));
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

function readRecord(text: string | null, path: string): UndoRecord {
  const record = parseJson(text);
  const [name, file, destination, stage, files] = ['name', 'file', 'destination', 'stage', 'files'].map((key) => property(record, key));
  const isRecord = typeof name === 'string' && typeof file === 'string' && typeof stage === 'string' && Array.isArray(files) && files.every(isUndoFile);
  if (!isRecord) throw new ToolError(`'${path}' is no undo record.`, { code: 'undo-unreadable', hint: 'Give the file back with git, or delete it; what it recorded is then taken back with git.', file: path });
  return { path, name, file, destination: typeof destination === 'string' ? destination : null, stage, files };
}

function isUndoFile(value: unknown): value is UndoFile {
  const before = property(value, 'before');
  return typeof property(value, 'file') === 'string' && typeof property(value, 'afterHash') === 'string' && typeof property(value, 'patch') === 'string' && (before === null || typeof before === 'string');
}

/** SHA-256 by which a record knows the file that its rewrite has made. */
export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
