import { ToolError, UsageError } from '../../core/errors.js';
import { exitCode, type ExitCode } from '../../core/exit-code.js';
import type { Problem } from '../../core/problem.js';
import { codeRules } from '../../plan/code-rules.js';
import { filesNotRead, notReadProblems } from '../../plan/not-read.js';
import { compareWithBaseline, toBaseline, type KeyedProblem } from '../../plan/ratchet.js';
import { count } from '../../report/figures.js';
import { checkUrl } from '../../schema/check.js';
import type { TableRole } from '../../schema/tables.js';
import { baselineFile, parseBaseline, writeBaseline, type BaselineEntry } from '../../workspace/baseline.js';
import { fileAt, hasRevision, isRepository } from '../../workspace/git.js';
import { joinPath } from '../../workspace/paths.js';
import { diskSink } from '../../workspace/sink.js';
import { isProject, openContext, type CommandContext } from '../context.js';
import { databaseTarget } from '../database.js';
import { readProject } from '../facts.js';
import type { CheckOptions } from '../options.js';
import { renderProblems } from './render.js';

/** What one part of the check says. */
interface Part {
  readonly problems: readonly (Problem & Partial<KeyedProblem>)[];
  readonly checked: readonly string[];
}

/** `outboxify check`: the ratchet over the code, and with `--db` the tables. With `--db` it needs no project. */
export async function runCheck(options: CheckOptions): Promise<ExitCode> {
  if (options.updateBaseline === true && options.base !== undefined) {
    throw new UsageError("'--base' reads the baseline of another revision; '--update-baseline' writes the one of this one.", { code: 'conflicting-flags', hint: 'Give one of the two.' });
  }
  const context = await openContext(options);
  const hasProject = isProject(context.workspace);
  const parts: Part[] = [];
  if (hasProject || options.db === undefined || options.updateBaseline === true) parts.push(await checkCode(context, options));
  if (options.db !== undefined) parts.push(await checkTables(context, { ...options, db: options.db }));
  const problems = parts.flatMap((part) => part.problems);
  context.out.print(renderProblems({ problems, checked: parts.flatMap(({ checked }) => checked) }, { format: options.format ?? 'pretty', style: context.out.style }).replace(/\n$/, ''));
  return problems.some(({ severity }) => severity === 'error') ? exitCode.findings : exitCode.ok;
}

async function checkCode(context: CommandContext, options: CheckOptions): Promise<Part> {
  const { analysis: { result }, facts } = await readProject(context);
  const checked = codeRules.map(({ id }) => id);
  const notRead = notReadProblems(result);
  if (options.updateBaseline !== true) return { problems: [...compareWithBaseline(facts.handlers, await readBaseline(context, options.base), filesNotRead(result)), ...notRead], checked };
  const broken = notRead.find(({ severity }) => severity === 'error');
  if (broken !== undefined) throw incompleteBaseline(broken);
  const entries = toBaseline(facts.handlers);
  const { outcome } = diskSink(context.cwd).apply([writeBaseline(context.workspace, entries)]);
  const legacy = entries.filter(({ stage }) => stage === 'legacy').length;
  const accepted = `${count(legacy, 'dual write')} ${legacy === 1 ? 'is' : 'are'} accepted`;
  context.out.note(outcome === 'written' ? `Wrote ${baselineFile}: ${accepted}.` : `${baselineFile} is current: ${accepted}.`);
  return { problems: notRead, checked };
}

/** What it accepted in a file that does not parse just now would come back as new. */
function incompleteBaseline({ file, line, message }: Problem): ToolError {
  return new ToolError(`The baseline can't be written: '${file}' was not read. ${message}`, {
    code: 'file-not-read', hint: "Mend the file, or name it under 'exclude' in outboxify.json, and run the command again.", file, line,
  });
}

async function readBaseline({ cwd, workspace }: CommandContext, base: string | undefined): Promise<readonly BaselineEntry[] | null> {
  if (base === undefined) return parseBaseline(workspace.read(baselineFile));
  if (!(await isRepository(cwd))) throw new UsageError(`'--base ${base}' needs a git repository.`, { code: 'not-a-repository', hint: 'Run the check in the work tree of one.' });
  if (!(await hasRevision(cwd, base))) throw new UsageError(`'${base}' is no revision of this repository.`, { code: 'unknown-revision', hint: 'Fetch it first: a shallow clone has one commit only.' });
  return parseBaseline(await fileAt(cwd, base, baselineFile));
}

/** Only the tables that the service's code uses: one that publishes and never subscribes has no inbox. */
async function checkTables(context: CommandContext, options: CheckOptions & { readonly db: string }): Promise<Part> {
  const { url, tables, service } = databaseTarget(context, options);
  const hasCode = (file: string): boolean => service !== null && context.workspace.read(joinPath(service.outbox, file)) !== null;
  const used: readonly TableRole[] = [...(hasCode('store.ts') ? ['outbox' as const] : []), ...(hasCode('inbox.ts') ? ['inbox' as const] : [])];
  return used.length > 0 ? checkUrl(url, tables, used) : checkUrl(url, tables);
}
