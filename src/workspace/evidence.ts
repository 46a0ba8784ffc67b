import os from 'node:os';
import { ToolError } from '../core/errors.js';
import { isObject, toObject } from './json.js';
import type { Change } from './sink.js';
import type { Workspace } from './workspace.js';

/** What code can't tell, written down by the command that saw it. Committed with the project. */
export interface EvidenceRecord {
  /** What was seen, such as `cut-over`. */
  readonly kind: string;
  /** Name of the service; empty where the command was not run for one. */
  readonly service: string;
  /** What it is about: a table, a subscriber, a message type. */
  readonly subject: string;
  /** ISO time of the record. */
  readonly recordedAt: string;
  /** User who ran the command. */
  readonly by: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

export const evidenceFile = '.outboxify/evidence.json';

/** The records, oldest first; none without the file. */
export function readEvidence(workspace: Pick<Workspace, 'read'>): readonly EvidenceRecord[] {
  const text = workspace.read(evidenceFile);
  if (text === null) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw unreadable(error);
  }
  const { schemaVersion, records } = toObject(parsed);
  if (schemaVersion !== 1 || !Array.isArray(records)) throw unreadable();
  return records.map(toRecord);
}

function toRecord(value: unknown): EvidenceRecord {
  const { kind, service, subject, recordedAt, by, details } = toObject(value);
  const texts = [kind, service, subject, recordedAt, by];
  if (!texts.every((text) => typeof text === 'string') || !isObject(details)) throw unreadable();
  const plain = Object.entries(details).filter((entry): entry is [string, string | number | boolean] => ['string', 'number', 'boolean'].includes(typeof entry[1]));
  return { kind: String(kind), service: String(service), subject: String(subject), recordedAt: String(recordedAt), by: String(by), details: Object.fromEntries(plain) };
}

/** The change that adds a record; a sink writes it. Who and when are filled in. */
export function addEvidence(
  workspace: Pick<Workspace, 'read'>,
  record: Omit<EvidenceRecord, 'recordedAt' | 'by'>,
  clock: () => Date = () => new Date(),
): Change {
  const complete: EvidenceRecord = { ...record, recordedAt: clock().toISOString(), by: userName() };
  const records = [...readEvidence(workspace), complete];
  return { file: evidenceFile, before: workspace.read(evidenceFile), after: `${JSON.stringify({ schemaVersion: 1, records }, null, 2)}\n` };
}

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return 'unknown';
  }
}

function unreadable(cause?: unknown): ToolError {
  return new ToolError(`'${evidenceFile}' is not a record of evidence that this version can read.`, {
    code: 'bad-evidence',
    hint: 'Bring back the version that git has of it.',
    file: evidenceFile,
    cause,
  });
}
