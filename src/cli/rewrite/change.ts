import { exitCode, type ExitCode } from '../../core/exit-code.js';
import { ToolError, UsageError } from '../../core/errors.js';
import type { ChangeOutcome, Reason } from '../../core/outcome.js';
import type { Prepared } from '../../rewrite/execute.js';
import { prepareUndo, proveUndo } from '../../rewrite/verify-undo.js';
import { recordUndo, type UndoSubject } from '../../rewrite/undo.js';
import { commit, createBranch, currentBranch, hasGh, isDirty, isRepository, openPullRequest, push, pushRemote } from '../../workspace/git.js';
import { diskSink, dryRunSink, type Change } from '../../workspace/sink.js';
import type { CommandContext } from '../context.js';
import type { ChangeOptions } from '../options.js';

/** What is told about a change, besides its files. */
export interface ChangeSubject extends UndoSubject {
  /** First line of the commit. */
  readonly subject: string;
  /** Why a gate was passed; it goes into the commit. */
  readonly force: string | undefined;
}

const uncheckedTypes = 'Types were not checked: the dependencies are not installed. Compile before you commit.';

/** Writes a proved rewrite, or prints it, and commits it where that is asked for. */
export async function finishChange(context: CommandContext, options: ChangeOptions, prepared: Prepared, about: ChangeSubject): Promise<ExitCode> {
  if (prepared.reasons.length > 0) return report(context, options, { outcome: refused(prepared.reasons), notes: [] });
  const writes = options.write === true || wantsCommit(options);
  const changes = writes ? [...prepared.changes, recordUndo(context.workspace, about, prepared.changes)] : prepared.changes;
  if (wantsCommit(options)) await prepareCommit(context, options, changes);
  const outcome = (writes ? diskSink(context.cwd) : dryRunSink(context.cwd)).apply(changes);
  const notes = [...prepared.followUps, ...(prepared.typesChecked ? [] : [uncheckedTypes])];
  if (wantsCommit(options)) notes.push(...(await commitChange(context, options, changes, about)));
  return report(context, options, { outcome, notes });
}

/** Takes the last rewrite of a handler or subscriber back. */
export async function undoChange(context: CommandContext, options: ChangeOptions, wanted: string, stages: readonly string[]): Promise<ExitCode> {
  const plan = prepareUndo(context.workspace, wanted, stages);
  const { record, changes } = plan;
  const proof = proveUndo(context.workspace, context.config, plan);
  if (proof.reasons.length > 0) return report(context, options, { outcome: refused(proof.reasons), notes: [] });
  const writes = options.write === true || wantsCommit(options);
  if (wantsCommit(options)) await prepareCommit(context, options, changes);
  const outcome = (writes ? diskSink(context.cwd) : dryRunSink(context.cwd)).apply(changes);
  const about = { ...record, subject: `outbox: undo ${record.stage} ${record.name}`, force: undefined };
  const notes = proof.typesChecked ? [] : [uncheckedTypes];
  if (wantsCommit(options)) notes.push(...(await commitChange(context, options, changes, about)));
  return report(context, options, { outcome, notes });
}

function wantsCommit(options: ChangeOptions): boolean {
  return options.commit === true || options.branch !== undefined || options.pr === true;
}

function refused(reasons: readonly Reason[]): ChangeOutcome {
  return { outcome: 'refused', reasons, files: [], patch: '' };
}

async function prepareCommit({ cwd }: CommandContext, options: ChangeOptions, changes: readonly Change[]): Promise<void> {
  if (!(await isRepository(cwd))) throw new ToolError('The project is not in a git repository, so there is nothing to commit to.', { code: 'not-a-repository', hint: "Use '--write' alone." });
  const files = changes.map(({ file }) => file);
  if (options.allowDirty !== true && (await isDirty(cwd))) {
    throw new ToolError('The work tree has changes that are not committed.', { code: 'dirty-work-tree', hint: "Commit them first, or pass '--allow-dirty' (only the rewritten files are committed)." });
  }
  if (await isDirty(cwd, files)) {
    throw new ToolError('A file that the rewrite changes has other changes that are not committed.', { code: 'dirty-file', hint: 'Commit them first: the commit of a rewrite holds nothing else.', file: files[0] ?? '' });
  }
  if (options.pr === true && options.branch === undefined && ['main', 'master', 'develop'].includes((await currentBranch(cwd)) ?? '')) {
    throw new UsageError('A pull request needs a branch of its own.', { code: 'branch-needed', hint: "Name one with '--branch <name>'." });
  }
  if (options.branch !== undefined) await createBranch(cwd, options.branch);
}

async function commitChange({ cwd }: CommandContext, options: ChangeOptions, changes: readonly Change[], about: ChangeSubject): Promise<readonly string[]> {
  const body = about.force === undefined ? '' : `\n\nGate passed by hand: ${about.force}`;
  const hash = await commit(cwd, changes.map(({ file }) => file), `${about.subject}${body}`);
  const notes = [`Committed ${hash.slice(0, 9)}: ${about.subject}`];
  if (options.pr === true) notes.push(await pullRequest(cwd, (await currentBranch(cwd)) ?? options.branch ?? 'HEAD'));
  return notes;
}

/** Pushes the branch and opens the pull request; where that can't be done from here, says how to. */
async function pullRequest(cwd: string, branch: string): Promise<string> {
  const remote = await pushRemote(cwd);
  const missing = remote === null ? 'no remote can be told' : (await hasGh(cwd)) ? null : "'gh' is not installed";
  if (remote === null || missing !== null) return `No pull request was opened: ${missing ?? ''}. Open it with: git push --set-upstream ${remote ?? 'origin'} ${branch} && gh pr create --fill`;
  await push(cwd, remote, branch);
  return `Pull request: ${await openPullRequest(cwd, branch)}`;
}

function report({ out }: CommandContext, options: ChangeOptions, { outcome, notes }: { readonly outcome: ChangeOutcome; readonly notes: readonly string[] }): ExitCode {
  const code = outcome.outcome === 'refused' ? exitCode.findings : exitCode.ok;
  if (options.format === 'json') {
    out.print(JSON.stringify({ outcome: outcome.outcome, reasons: outcome.reasons, files: outcome.files, patch: outcome.patch }, null, 2));
    return code;
  }
  for (const { code: id, message } of outcome.reasons) out.print(`Refused (${id}): ${message}`);
  if (outcome.outcome === 'dry-run') out.print(outcome.patch.replace(/\n$/, ''));
  if (outcome.outcome === 'written') for (const { path, change } of outcome.files) out.print(`${change} ${path}`);
  for (const note of notes) out.note(note);
  if (outcome.outcome === 'dry-run') out.note("Nothing was written. Add '--write', or '--commit' to write and commit.");
  return code;
}
