import type { Problem } from '../core/problem.js';
import { newDualWrite, staleBaseline, stageRegression, type CodeRule } from './code-rules.js';
import { eventOf, type HandlerState } from './handlers.js';
import type { BaselineEntry } from '../workspace/baseline.js';

/** A problem and what tells it from others of its rule, whatever lines move. */
export interface KeyedProblem extends Problem {
  readonly key: string;
  readonly handler: string;
}

/** What the baseline records of the handlers as they are. */
export function toBaseline(handlers: readonly HandlerState[]): readonly BaselineEntry[] {
  return handlers.flatMap(({ file, name, findings, events }) => {
    const published = findings.map((finding): BaselineEntry => ({ id: finding.id, stage: finding.stage, file, handler: name, event: eventOf(finding) }));
    const stored = events.filter((event) => !published.some((entry) => entry.event === event));
    return [...published, ...stored.map((event): BaselineEntry => ({ id: null, stage: 'outbox-only', file, handler: name, event }))];
  });
}

/** Compares the handlers with the baseline. Null: there is none, and every dual write is new. What files hold that were not read is not known to be gone. */
export function compareWithBaseline(handlers: readonly HandlerState[], baseline: readonly BaselineEntry[] | null, notRead: ReadonlySet<string> = new Set()): readonly KeyedProblem[] {
  const today = toBaseline(handlers);
  const places = new Map(handlers.flatMap(({ findings, subject }) => findings.map(({ id, publish, handler }): [string, About] => [id, { subject, line: publish.path[0]?.line ?? (publish.file === handler.file ? publish.line : handler.line) }])));
  const aboutOf = ({ id, handler }: BaselineEntry): About => places.get(id ?? '') ?? { subject: handler, line: 1 };
  const legacy = today.filter(({ stage }) => stage === 'legacy');
  const gone = (baseline ?? []).filter((known) => known.stage === 'legacy' && !notRead.has(known.file) && !legacy.some((entry) => isSame(known, entry)));
  const moved = new Map<BaselineEntry, BaselineEntry>();
  const problems = legacy.flatMap((entry): KeyedProblem[] => {
    const about = aboutOf(entry);
    const before = baseline?.find((known) => known.stage !== 'legacy' && isSame(known, entry));
    if (before !== undefined) return [regression(entry, before, about)];
    if (baseline?.some((known) => known.stage === 'legacy' && isSame(known, entry)) === true) return [];
    const origin = gone.find((known) => known.handler === entry.handler && known.event === entry.event && ![...moved.values()].includes(known));
    if (origin !== undefined) moved.set(entry, origin);
    return origin === undefined ? [newProblem(entry, about, baseline === null)] : [];
  });
  const stillGone = gone.filter((known) => ![...moved.values()].includes(known));
  return [...problems, ...[...moved].map(([entry, origin]) => move(entry, origin, aboutOf(entry))), ...stillGone.map(stale)];
}

/** By id; an event that only the outbox publishes has none. */
function isSame(a: BaselineEntry, b: BaselineEntry): boolean {
  if (a.id !== null && b.id !== null) return a.id === b.id;
  return a.file === b.file && a.handler === b.handler && a.event === b.event;
}

/** Where a problem is, and how its handler is named on the command line. */
interface About {
  readonly line: number;
  readonly subject: string;
}

function newProblem(entry: BaselineEntry, { line, subject }: About, isFirst: boolean): KeyedProblem {
  const accept = isFirst ? "There is no baseline yet: 'outboxify check --update-baseline' accepts the dual writes of today." : "'outboxify check --update-baseline' accepts it.";
  const message = `'${entry.handler}' writes and publishes '${entry.event}' without one transaction over both: a crash or a rollback between them is not noticed. ${accept}`;
  return problem(newDualWrite, entry, { line, message, fix: `npx outboxify rewrite ${subject} --to dual-publish --write` });
}

function regression(entry: BaselineEntry, before: BaselineEntry, { line, subject }: About): KeyedProblem {
  const message = `'${entry.handler}' was at '${before.stage}' for '${entry.event}' and is legacy again: its event is not stored with the write any more and can be lost.`;
  return problem(stageRegression, entry, { line, message, fix: `npx outboxify rewrite ${subject} --to dual-publish --write` });
}

/** An accepted dual write whose file was renamed is no new one. */
function move(entry: BaselineEntry, origin: BaselineEntry, { line }: About): KeyedProblem {
  const message = `The dual write of '${entry.handler}' with '${entry.event}' that the baseline accepts in '${origin.file}' has moved here.`;
  return problem(staleBaseline, entry, { line, message, fix: 'npx outboxify check --update-baseline' });
}

function stale(entry: BaselineEntry): KeyedProblem {
  const message = `The dual write of '${entry.handler}' with '${entry.event}' is gone and the baseline still accepts it.`;
  return problem(staleBaseline, entry, { line: 1, message, fix: 'npx outboxify check --update-baseline' });
}

function problem(rule: CodeRule, { id, file, handler, event }: BaselineEntry, about: { readonly line: number; readonly message: string; readonly fix: string }): KeyedProblem {
  const { line, message, fix } = about;
  return { rule: rule.id, severity: rule.severity, subject: 'code', object: file, file, line, message, fix, key: id ?? `${file}#${handler}#${event}`, handler };
}
