import { analyse } from '../analysis/analyse.js';
import type { Analysis } from '../analysis/analysis.js';
import type { Config } from '../core/config.js';
import { applyEdits, type Edit } from '../core/edit.js';
import type { Finding, Stage, Subscriber } from '../core/finding.js';
import type { NewFile, Reason } from '../core/outcome.js';
import type { Change } from '../workspace/sink.js';
import { overlay, type Workspace } from '../workspace/workspace.js';
import { parse } from './edits.js';
import type { RefusalCode } from './reasons.js';
import { unjoinedCall } from './verify-inbox.js';
import { checkTypes, syntaxErrors } from './types-check.js';

/** The files as they become. Throws when edits overlap: a bug of a codemod. */
export function toChanges(workspace: Workspace, edits: readonly Edit[], newFiles: readonly NewFile[] = []): readonly Change[] {
  const files = [...new Set(edits.map(({ file }) => file))];
  const modified = files.map((file) => {
    const before = workspace.read(file) ?? '';
    return { file, before, after: applyEdits(before, edits.filter((edit) => edit.file === file)) };
  });
  return [...modified, ...newFiles.map(({ file, content }) => ({ file, before: null, after: content }))];
}

/** The workspace with the changes in it. */
export function changed(workspace: Workspace, changes: readonly Change[]): Workspace {
  return overlay(workspace, new Map(changes.map(({ file, after }) => [file, after])));
}

/** What a rewrite promises. */
export type Promised =
  | { readonly kind: 'handler'; readonly findings: readonly Finding[]; readonly stage: Stage }
  | { readonly kind: 'subscriber'; readonly subscriber: Subscriber };

export interface Proof {
  /** Why the rewrite must not be written; empty when it is proved. */
  readonly problems: readonly Reason[];
  /** Analysis of the result. */
  readonly analysis: Analysis | null;
  /** Whether types could be checked. */
  readonly typesChecked: boolean;
}

export interface ProofInput {
  readonly workspace: Workspace;
  readonly config: Config;
  readonly before: Analysis;
  readonly changes: readonly Change[];
  readonly serviceRoot: string;
  readonly promised: Promised;
}

/** Proves a rewrite in memory: it parses, has no new type error, and scanning it says what was promised and nothing else. */
export function prove(input: ProofInput): Proof {
  for (const { file, after } of input.changes) {
    const errors = after === null ? [] : syntaxErrors(parse(file, after));
    if (errors[0] !== undefined) return failed('syntax-error', `'${file}' would not parse: ${errors[0]}.`);
  }
  const types = checkTypes(input.workspace, input.changes, input.serviceRoot);
  if (types !== null && types.reserved[0] !== undefined) return failed('message-has-event-id', `By its type, a message has a field that the event sets itself (${types.reserved.slice(0, 3).join('; ')}). Rename that field, or write down the fields that subscribers need.`);
  if (types !== null && types.errors.length > 0) return failed('type-errors', `The result would have new type errors: ${types.errors.slice(0, 3).join('; ')}.`);
  const analysis = analyse(changed(input.workspace, input.changes), input.config);
  const difference = input.promised.kind === 'handler' ? handlerDifference(input.before, analysis, input.promised) : subscriberDifference(input.before, analysis, input.promised.subscriber);
  if (difference !== null) return { ...failed('scan-differs', difference), analysis };
  return { problems: [], analysis, typesChecked: types !== null };
}

function failed(code: RefusalCode, message: string): Proof {
  return { problems: [{ code, message }], analysis: null, typesChecked: false };
}

function handlerDifference(before: Analysis, after: Analysis, promised: Extract<Promised, { kind: 'handler' }>): string | null {
  const [first] = promised.findings;
  if (first === undefined) return null;
  const isOwn = (finding: Finding): boolean => finding.handler.file === first.handler.file && finding.handler.name === first.handler.name;
  const own = after.result.findings.filter(isOwn);
  const wrong = own.find(({ stage }) => stage !== promised.stage);
  if (wrong !== undefined) return `'${first.handler.name}' would be at '${wrong.stage}' and not at '${promised.stage}' (publish in ${wrong.publish.file}:${wrong.publish.line}).`;
  if (promised.stage === 'dual-publish' && own.length < promised.findings.length) return `'${first.handler.name}' would no longer be found: ${own.length} of ${promised.findings.length} publishes are left.`;
  const others = difference(before.result.findings.filter((finding) => !isOwn(finding)).map(findingKey), after.result.findings.filter((finding) => !isOwn(finding)).map(findingKey));
  if (others !== null) return `Another handler would change: ${others}.`;
  return difference(before.result.subscribers.map(subscriberKey), after.result.subscribers.map(subscriberKey));
}

function subscriberDifference(before: Analysis, after: Analysis, subscriber: Subscriber): string | null {
  // One function may subscribe to several events.
  const twins = before.result.subscribers.filter((other) => other.file === subscriber.file && other.span.start === subscriber.span.start);
  const isOwn = (other: Subscriber): boolean => other.file === subscriber.file && other.name === subscriber.name && twins.some(({ destination }) => destination === other.destination);
  const own = after.result.subscribers.filter(isOwn);
  if (own.length === 0 || own.some(({ inbox }) => !inbox)) return `'${subscriber.name}' would not be found behind its inbox.`;
  const unjoined = own[0] === undefined ? null : unjoinedCall(after, own[0]);
  if (unjoined !== null) return `${unjoined}.`;
  const others = difference(before.result.subscribers.filter((other) => !isOwn(other)).map(subscriberKey), after.result.subscribers.filter((other) => !isOwn(other)).map(subscriberKey));
  if (others !== null) return `Another subscriber would change: ${others}.`;
  return difference(before.result.findings.map(handlerKey), after.result.findings.map(handlerKey));
}

/** Handlers keep what they are; their kind may change when the subscriber that they are gets a transaction. */
function handlerKey({ handler, stage }: Finding): string {
  return `${handler.file} ${handler.name} ${stage}`;
}

/** What of a finding a rewrite of another handler must not change. */
export function findingKey({ handler, kind, stage, publish }: Finding): string {
  return `${handler.file} ${handler.name} ${kind} ${stage} ${publish.destination ?? ''}`;
}

/** What of a subscriber a rewrite of something else must not change. */
export function subscriberKey({ file, name, destination, inbox }: Subscriber): string {
  return `${file} ${name} ${destination ?? ''} ${inbox ? 'with inbox' : 'without inbox'}`;
}

/** The first key that is in one list and not in the other; null when both hold the same. */
export function difference(before: readonly string[], after: readonly string[]): string | null {
  const left = [...before].sort();
  const right = [...after].sort();
  const missing = left.find((key) => count(left, key) > count(right, key));
  if (missing !== undefined) return `'${missing}' is gone`;
  const added = right.find((key) => count(right, key) > count(left, key));
  return added === undefined ? null : `'${added}' is new`;
}

function count(keys: readonly string[], key: string): number {
  return keys.filter((other) => other === key).length;
}
