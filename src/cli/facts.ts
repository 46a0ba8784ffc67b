import type { Analysis } from '../analysis/analysis.js';
import { factsOf, type ProjectFacts } from '../plan/facts.js';
import type { Figures } from '../schema/operations/figures.js';
import { readEvidence } from '../workspace/evidence.js';
import { notReadProblems } from '../plan/not-read.js';
import { printable } from '../report/text.js';
import { assertProject, assertServices, type CommandContext } from './context.js';

/** Reads the code and tells how far the project is. */
export interface ReadProject {
  readonly analysis: Analysis;
  readonly facts: ProjectFacts;
}

export async function readProject(context: CommandContext, figures?: ReadonlyMap<string, Figures>): Promise<ReadProject> {
  assertProject(context);
  assertServices(context);
  const { workspace, config, out } = context;
  out.progress(`Reading ${workspace.files().length.toLocaleString('en-US')} files…`);
  const { analyse } = await import('../analysis/analyse.js');
  const analysis = analyse(workspace, config);
  out.progress(null);
  return { analysis, facts: projectFacts(context, analysis, figures) };
}

export function projectFacts({ workspace, config }: CommandContext, { result }: Analysis, figures?: ReadonlyMap<string, Figures>): ProjectFacts {
  return factsOf({ workspace, config, result, evidence: readEvidence(workspace), now: Date.now(), ...(figures === undefined ? {} : { figures }) });
}

/** Says what the answer knows nothing of, where the answer itself has no place for it. */
export function noteNotRead({ out }: Pick<CommandContext, 'out'>, { result }: Analysis): void {
  const problems = notReadProblems(result);
  for (const { file, line, message } of problems.slice(0, 5)) out.note(printable(`Not read: ${file}:${line}: ${message}`));
  if (problems.length > 5) out.note(`Not read: ${problems.length - 5} more; 'outboxify check' lists all.`);
}
