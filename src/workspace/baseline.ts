import { ToolError } from '../core/errors.js';
import { toObject } from './json.js';
import type { Change } from './sink.js';
import type { Workspace } from './workspace.js';

/** A publish of a handler as it stood when the baseline was recorded. */
export interface BaselineEntry {
  /** Id of the finding; null for an event that only the outbox publishes. */
  readonly id: string | null;
  readonly stage: 'legacy' | 'dual-publish' | 'outbox-only';
  readonly file: string;
  readonly handler: string;
  readonly event: string;
}

export const baselineFile = '.outboxify/baseline.json';

/** Reads a baseline's text. Null: there is none. */
export function parseBaseline(text: string | null): readonly BaselineEntry[] | null {
  if (text === null) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw unreadable(error);
  }
  const { schemaVersion, handlers } = toObject(parsed);
  if (schemaVersion !== 1 || !Array.isArray(handlers)) throw unreadable();
  return handlers.map(toEntry);
}

function toEntry(value: unknown): BaselineEntry {
  const { id, stage, file, handler, event } = toObject(value);
  if ((id !== null && typeof id !== 'string') || typeof file !== 'string' || typeof handler !== 'string' || typeof event !== 'string') throw unreadable();
  if (stage !== 'legacy' && stage !== 'dual-publish' && stage !== 'outbox-only') throw unreadable();
  return { id, stage, file, handler, event };
}

/** The change that records a baseline; a sink writes it. Sorted and without times, so that two branches merge. */
export function writeBaseline(workspace: Pick<Workspace, 'read'>, entries: readonly BaselineEntry[]): Change {
  const lines = entries.map((entry) => JSON.stringify(entry)).sort();
  const list = lines.length === 0 ? '[]' : `[\n    ${lines.join(',\n    ')}\n  ]`;
  return { file: baselineFile, before: workspace.read(baselineFile), after: `{\n  "schemaVersion": 1,\n  "handlers": ${list}\n}\n` };
}

function unreadable(cause?: unknown): ToolError {
  return new ToolError(`'${baselineFile}' is not a baseline that this version can read.`, {
    code: 'bad-baseline',
    hint: "Bring back the version that git has of it, or delete it and run 'outboxify check --update-baseline'.",
    file: baselineFile,
    cause,
  });
}
