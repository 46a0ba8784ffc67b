import type { Analysis } from '../analysis/analysis.js';
import type { Config, ServiceConfig } from '../core/config.js';
import type { Finding, Subscriber } from '../core/finding.js';
import type { CodemodResult, Reason } from '../core/outcome.js';
import { resolveServices, serviceOf } from '../workspace/services.js';
import type { Change } from '../workspace/sink.js';
import { toPatch } from '../workspace/patch.js';
import type { Workspace } from '../workspace/workspace.js';
import type { CodemodContext, HandlerFindings } from './codemod.js';
import { formatChanges } from './format.js';
import { findingsOfHandler, planInbox, planRewrite, type Planned, type RewriteStage } from './planner.js';
import { changed, prove, toChanges, type Promised } from './verify.js';

/** What all rewrites work on. */
export interface RewriteInput {
  readonly workspace: Workspace;
  readonly config: Config;
  readonly analysis: Analysis;
}

export interface RewriteWishes {
  readonly event?: string;
  readonly aggregateType?: string;
  readonly aggregateId?: string;
  readonly force?: string;
  /** What is not met yet of the gate before outbox-only; missing: nothing is known about the relay. */
  readonly gate?: readonly Reason[];
}

const relayUnknown: Reason = { code: 'gate-not-met', message: 'Nothing says that the relay delivers: it has to run, with the cut-over done and an inbox at every subscriber, before the legacy publish may go.' };

/** A rewrite that is proved, or the reasons why there is none. */
export interface Prepared {
  readonly changes: readonly Change[];
  /** Why nothing is changed; empty when there are changes. */
  readonly reasons: readonly Reason[];
  readonly codemod: string | null;
  readonly followUps: readonly string[];
  /** Whether types could be checked. */
  readonly typesChecked: boolean;
}

/** Plans and proves the rewrite of a handler. Writes nothing. */
export async function prepareRewrite(input: RewriteInput, findings: HandlerFindings, to: RewriteStage, wishes: RewriteWishes = {}): Promise<Prepared> {
  const context = contextFor(input, findings[0].handler.file, wishes);
  const attempt = (infer: boolean): Promise<Prepared> => prepare(input, {
    planned: planRewrite(findings, to, { ...context, aggregate: { ...context.aggregate, infer } }),
    service: context.service,
    promised: { kind: 'handler', findings, stage: to },
    again: (analysis, workspace) => againHandler(analysis, findings, to, contextFor({ ...input, analysis, workspace }, findings[0].handler.file, wishes)),
  });
  const prepared = await attempt(true);
  // The aggregate's id is the one thing that is told from names: where its type does not fit, the event's own id does.
  if (!prepared.reasons.some(({ code }) => code === 'type-errors') || wishes.aggregateId !== undefined) return prepared;
  const second = await attempt(false);
  return second.reasons.length === 0 ? second : prepared;
}

/** Plans and proves the rewrite of a subscriber. Writes nothing. */
export async function prepareInbox(input: RewriteInput, subscriber: Subscriber, wishes: RewriteWishes = {}): Promise<Prepared> {
  const context = contextFor(input, subscriber.file, wishes);
  return prepare(input, {
    planned: planInbox(subscriber, context),
    service: context.service,
    promised: { kind: 'subscriber', subscriber },
    again: (analysis, workspace) => {
      const same = analysis.result.subscribers.find(({ file, name, destination }) => file === subscriber.file && name === subscriber.name && destination === subscriber.destination);
      return same === undefined ? null : planInbox(same, contextFor({ ...input, analysis, workspace }, subscriber.file, wishes));
    },
  });
}

interface Step {
  readonly planned: Planned;
  readonly service: ServiceConfig;
  readonly promised: Promised;
  /** The same plan on the result; null when there is nothing to plan any more. */
  again(analysis: Analysis, workspace: Workspace): Planned | null;
}

async function prepare(input: RewriteInput, step: Step): Promise<Prepared> {
  const { result, codemod } = step.planned;
  if (result.kind !== 'edits') return { changes: [], reasons: [result.reason], codemod, followUps: [], typesChecked: false };
  const plain = toChanges(input.workspace, result.edits, result.newFiles);
  const changes = await formatChanges(input.workspace, plain);
  const proof = prove({ workspace: input.workspace, config: input.config, before: input.analysis, changes, serviceRoot: step.service.root, promised: step.promised });
  const reasons = proof.problems.length > 0 || proof.analysis === null ? proof.problems : secondRun(step.again(proof.analysis, changed(input.workspace, changes)));
  if (reasons.length > 0) return { changes: [], reasons, codemod, followUps: [], typesChecked: proof.typesChecked };
  return { changes, reasons: [], codemod, followUps: [...result.followUps, ...unresolvedRoutes(changes)], typesChecked: proof.typesChecked };
}

/** Routes that the user has to fill in. */
function unresolvedRoutes(changes: readonly Change[]): readonly string[] {
  const count = (text: string | null): number => text?.split(/transport: ['"]unresolved['"], note/).length ?? 1;
  return changes.filter(({ before, after }) => count(after) > count(before)).map(({ file }) => `${file}: write down where the new 'unresolved' route goes, before the relay runs; it publishes nothing that has none.`);
}

function secondRun(planned: Planned | null): readonly Reason[] {
  if (planned === null || planned.result.kind === 'skip') return [];
  return [{ code: 'not-idempotent', message: `A second run of '${planned.codemod ?? ''}' would change the result again.` }];
}

function againHandler(analysis: Analysis, findings: HandlerFindings, to: RewriteStage, context: CodemodContext): Planned | null {
  const [{ handler }] = findings;
  const same = analysis.result.findings.find((finding) => finding.handler.file === handler.file && finding.handler.name === handler.name);
  const all = same === undefined ? null : findingsOfHandler(analysis, same);
  return all === null ? null : planRewrite(all, to, context);
}

export function contextFor({ workspace, config, analysis }: RewriteInput, file: string, wishes: RewriteWishes): CodemodContext {
  const services = resolveServices(workspace, config);
  const service = serviceOf(services, file) ?? services[0];
  if (service === undefined) throw new Error('a project has at least one service');
  return {
    workspace,
    analysis,
    service,
    event: wishes.event ?? null,
    force: wishes.force ?? null,
    gate: wishes.gate ?? [relayUnknown],
    aggregate: { type: wishes.aggregateType ?? null, id: wishes.aggregateId ?? null, infer: true },
  };
}

/** What the next rewrite of a finding's handler would do. Planned, not proved: cheap enough for every finding of a scan. */
export interface RewritePreview {
  readonly possible: boolean;
  readonly reasons: readonly Reason[];
  /** Unified diff; empty when it is not possible. */
  readonly patch: string;
}

export function previewRewrite(input: RewriteInput, finding: Finding, wishes: RewriteWishes = {}): RewritePreview {
  const findings = findingsOfHandler(input.analysis, finding);
  if (findings === null) return { possible: false, reasons: [], patch: '' };
  const to = finding.stage === 'legacy' ? 'dual-publish' : 'outbox-only';
  const { result } = planRewrite(findings, to, contextFor(input, finding.handler.file, wishes));
  return preview(input.workspace, result);
}

/** What giving a subscriber its inbox would do. Planned, not proved. */
export function previewInbox(input: RewriteInput, subscriber: Subscriber): RewritePreview {
  const { result } = planInbox(subscriber, contextFor(input, subscriber.file, {}));
  return preview(input.workspace, result);
}

function preview(workspace: Workspace, result: CodemodResult): RewritePreview {
  if (result.kind !== 'edits') return { possible: false, reasons: [result.reason], patch: '' };
  return { possible: true, reasons: [], patch: toPatch(toChanges(workspace, result.edits, result.newFiles)) };
}
