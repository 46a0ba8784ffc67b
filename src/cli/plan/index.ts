import { UsageError } from '../../core/errors.js';
import { exitCode, type ExitCode } from '../../core/exit-code.js';
import type { ChangeOutcome } from '../../core/outcome.js';
import { checklist } from '../../plan/checklist.js';
import { mergeDocument } from '../../plan/document.js';
import { baselineFile, parseBaseline } from '../../workspace/baseline.js';
import { toProjectPath } from '../../workspace/disk.js';
import { diskSink, dryRunSink } from '../../workspace/sink.js';
import { openContext, type CommandContext } from '../context.js';
import { createInboxPreview, createPreview } from '../explain/preview.js';
import { noteNotRead, readProject } from '../facts.js';
import type { PlanOptions } from '../options.js';

export const planFile = 'OUTBOX-MIGRATION.md';

/** `outboxify plan`: writes the checklist, or brings it up to date. */
export async function runPlan(options: PlanOptions): Promise<ExitCode> {
  const context = await openContext(options);
  const { workspace, cwd } = context;
  const file = options.output === undefined ? planFile : toProjectPath(cwd, options.output);
  if (!/\.(md|markdown)$/i.test(file)) throw new UsageError(`The plan is written in Markdown, and '${file}' does not end in '.md'.`, { code: 'bad-plan-file', hint: `Name a file such as '--output ${planFile}'.` });
  const { analysis, facts } = await readProject(context);
  noteNotRead(context, analysis);
  const [rewriteOf, inboxOf] = [await createPreview(analysis, context), await createInboxPreview(analysis, context)];
  const blocks = checklist({ facts, rewriteOf, inboxOf, hasBaseline: parseBaseline(workspace.read(baselineFile)) !== null });
  const before = workspace.read(file);
  const after = mergeDocument(before, blocks, { title: 'Outbox migration', file });
  const outcome = (options.dryRun === true ? dryRunSink : diskSink)(cwd).apply([{ file, before, after }]);
  report(context, { options, outcome, file, after });
  return exitCode.ok;
}

interface Result {
  readonly options: PlanOptions;
  readonly outcome: ChangeOutcome;
  readonly file: string;
  readonly after: string;
}

function report({ out }: CommandContext, { options, outcome, file, after }: Result): void {
  if (options.format === 'json') {
    out.print(JSON.stringify(outcome, null, 2));
    return;
  }
  if (outcome.outcome === 'dry-run') {
    out.print(outcome.patch.replace(/\n$/, ''));
    return;
  }
  const done = after.match(/^- \[x\]/gim)?.length ?? 0;
  const all = after.match(/^- \[[ x]\]/gim)?.length ?? 0;
  const what = outcome.outcome === 'nothing-to-do' ? `${file} is current` : `Wrote ${file}`;
  out.print(`${what}: ${done} of ${all} steps are done.`);
}
