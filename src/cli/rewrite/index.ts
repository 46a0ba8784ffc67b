import { analyse } from '../../analysis/analyse.js';
import { UsageError } from '../../core/errors.js';
import type { ExitCode } from '../../core/exit-code.js';
import type { Finding } from '../../core/finding.js';
import { nearestNames } from '../../core/nearest.js';
import { handlerSubject, isFindingAt } from '../../core/subject.js';
import { prepareRewrite } from '../../rewrite/execute.js';
import { findingsOfHandler } from '../../rewrite/planner.js';
import { eventTitle } from '../../rewrite/title.js';
import { assertProject, assertServices, openContext } from '../context.js';
import type { RewriteOptions } from '../options.js';
import { finishChange, undoChange } from './change.js';
import { gateReasons, refusedBy } from './gate.js';

/** `outboxify rewrite <handler> --to <stage>` */
export async function runRewrite(options: RewriteOptions): Promise<ExitCode> {
  const context = await openContext(options);
  if (options.undo === true) return undoChange(context, options, options.handler, options.to === undefined ? ['outbox-only', 'dual-publish'] : [options.to]);
  const { to } = options;
  if (to === undefined) throw new UsageError(`The stage for '${options.handler}' is missing.`, { code: 'stage-missing', hint: "Add '--to dual-publish' or '--to outbox-only'." });
  assertProject(context);
  assertServices(context);
  const { workspace, config, out } = context;
  out.progress(`Reading ${workspace.files().length.toLocaleString('en-US')} files…`);
  const analysis = analyse(workspace, config);
  const finding = findHandler(analysis.result.findings, options.handler);
  const findings = findingsOfHandler(analysis, finding) ?? [finding];
  const closed = options.force === undefined ? await gateReasons(context, options, { analysis, finding, to }) : [];
  const prepared = closed.length > 0 ? refusedBy(closed) : await prepareRewrite({ workspace, config, analysis }, findings, to, { ...options, gate: [] });
  out.progress(null);
  return finishChange(context, options, prepared, {
    name: finding.handler.name,
    file: finding.handler.file,
    destination: null,
    stage: to,
    subject: `outbox: ${to} ${finding.handler.name} (${findings.map(eventTitle).join(', ')})`,
    force: options.force,
  });
}

/** The handler that a person means: by its name, the last part of it, a place in it, or the id of a finding. */
function findHandler(findings: readonly Finding[], subject: string): Finding {
  const matches: readonly ((finding: Finding) => boolean)[] = [
    ({ handler }) => handler.name === subject,
    ({ handler }) => `${handler.file}#${handler.name}` === subject,
    ({ id }) => /^[0-9a-f]{4,}$/i.test(subject) && id.startsWith(subject.toLowerCase()),
    (finding) => isFindingAt(subject, finding),
    ({ handler }) => handler.name.split('.').at(-1) === subject,
  ];
  for (const isMatch of matches) {
    const found = findings.filter(isMatch);
    const [first] = found;
    if (first === undefined) continue;
    const other = found.find(({ handler }) => handler.file !== first.handler.file || handler.span.start !== first.handler.span.start);
    if (other === undefined) return first;
    const all = findings.map(({ handler }) => handler);
    const names = [first, other].map(({ id, handler }) => handlerSubject(handler, id, all));
    throw new UsageError(`'${subject}' is the name of several handlers: ${[first, other].map(({ handler }, index) => `${names[index] ?? ''} (${handler.file}:${handler.line})`).join(' and ')}.`, {
      code: 'ambiguous-handler',
      hint: `Name one as '${names[0] ?? ''}'.`,
    });
  }
  const near = nearestNames(subject, [...new Set(findings.map(({ handler }) => handler.name))]);
  const meant = near.length > 0 ? `Did you mean ${near.map((name) => `'${name}'`).join(' or ')}? ` : '';
  throw new UsageError(`No handler with a dual write is called '${subject}'.`, { code: 'unknown-handler', hint: `${meant}'outboxify scan' lists them.` });
}
