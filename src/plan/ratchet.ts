import type { Problem } from '../core/problem.js';
import { eventOf, type HandlerState } from './handlers.js';
import type { BaselineEntry } from '../workspace/baseline.js';

/** A rule of the check on code. */
export interface CodeRule {
  readonly id: string;
  readonly title: string;
  readonly severity: Problem['severity'];
  readonly problem: string;
  readonly solution: string;
}

export const newDualWrite: CodeRule = {
  id: 'new-dual-write',
  title: 'A dual write that the baseline does not know',
  severity: 'error',
  problem: 'A handler writes and publishes without one transaction over both, and it is not one of those that were accepted.',
  solution: 'Store the event in the outbox: `outboxify rewrite <handler> --to dual-publish`. Or accept it with `outboxify check --update-baseline`.',
};

export const stageRegression: CodeRule = {
  id: 'stage-regression',
  title: 'A handler that stored its event does not store it any more',
  severity: 'error',
  problem: 'The baseline knows the handler as dual-publish or outbox-only, and the code is legacy again: its event can be lost.',
  solution: 'Bring the call of `store` back. Where the step back is meant, accept it with `outboxify check --update-baseline`.',
};

export const staleBaseline: CodeRule = {
  id: 'stale-baseline',
  title: 'The baseline accepts a dual write that is gone',
  severity: 'warning',
  problem: 'A dual write of the baseline is fixed or has gone. As long as the baseline accepts it, it could come back unseen.',
  solution: 'Run `outboxify check --update-baseline` and commit the file.',
};

export const codeRules: readonly CodeRule[] = [newDualWrite, stageRegression, staleBaseline];

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

/** Compares the handlers with the baseline. Null: there is none, and every dual write is new. */
export function compareWithBaseline(handlers: readonly HandlerState[], baseline: readonly BaselineEntry[] | null): readonly KeyedProblem[] {
  const today = toBaseline(handlers);
  const lines = new Map(handlers.flatMap(({ findings }) => findings.map(({ id, publish, handler }) => [id, publish.path[0]?.line ?? (publish.file === handler.file ? publish.line : handler.line)])));
  const legacy = today.filter(({ stage }) => stage === 'legacy');
  const problems = legacy.flatMap((entry): KeyedProblem[] => {
    const line = lines.get(entry.id ?? '') ?? 1;
    const before = baseline?.find((known) => known.stage !== 'legacy' && isSame(known, entry));
    if (before !== undefined) return [regression(entry, before, line)];
    const isAccepted = baseline?.some((known) => known.stage === 'legacy' && isSame(known, entry)) === true;
    return isAccepted ? [] : [newProblem(entry, line, baseline === null)];
  });
  const gone = (baseline ?? []).filter((known) => known.stage === 'legacy' && !legacy.some((entry) => isSame(known, entry)));
  return [...problems, ...gone.map(stale)];
}

/** By id; an event that only the outbox publishes has none. */
function isSame(a: BaselineEntry, b: BaselineEntry): boolean {
  if (a.id !== null && b.id !== null) return a.id === b.id;
  return a.file === b.file && a.handler === b.handler && a.event === b.event;
}

function newProblem(entry: BaselineEntry, line: number, isFirst: boolean): KeyedProblem {
  const accept = isFirst ? "There is no baseline yet: 'outboxify check --update-baseline' accepts the dual writes of today." : "'outboxify check --update-baseline' accepts it.";
  const message = `'${entry.handler}' writes and publishes '${entry.event}' without one transaction over both: a crash or a rollback between them is not noticed. ${accept}`;
  return problem(newDualWrite, entry, { line, message, fix: `npx outboxify rewrite ${entry.handler} --to dual-publish --write` });
}

function regression(entry: BaselineEntry, before: BaselineEntry, line: number): KeyedProblem {
  const message = `'${entry.handler}' was at '${before.stage}' for '${entry.event}' and is legacy again: its event is not stored with the write any more and can be lost.`;
  return problem(stageRegression, entry, { line, message, fix: `npx outboxify rewrite ${entry.handler} --to dual-publish --write` });
}

function stale(entry: BaselineEntry): KeyedProblem {
  const message = `The dual write of '${entry.handler}' with '${entry.event}' is gone and the baseline still accepts it.`;
  return problem(staleBaseline, entry, { line: 1, message, fix: 'npx outboxify check --update-baseline' });
}

function problem(rule: CodeRule, { id, file, handler, event }: BaselineEntry, about: { readonly line: number; readonly message: string; readonly fix: string }): KeyedProblem {
  const { line, message, fix } = about;
  return { rule: rule.id, severity: rule.severity, subject: 'code', object: file, file, line, message, fix, key: id ?? `${file}#${handler}#${event}`, handler };
}
