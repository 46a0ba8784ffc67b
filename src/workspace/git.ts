import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ToolError, UsageError } from '../core/errors.js';

const run = promisify(execFile);

/** Runs git in `cwd` with an argument array, never through a shell. Standard output without its last line end. */
async function git(cwd: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('git', [...args], { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    return stdout.replace(/\r?\n$/, '');
  } catch (error) {
    throw gitError(args, error);
  }
}

function gitError(args: readonly string[], error: unknown): ToolError {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  if (isMissing) {
    return new ToolError('git could not be started.', { code: 'git-missing', hint: 'Install git, or leave the commit to yourself.', cause: error });
  }
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
  return new ToolError(`'git ${args[0] ?? ''}' failed: ${said.split('\n').slice(0, 3).join(' ')}`, {
    code: 'git-failed',
    hint: 'Mend what git says and run the command again; files that were written stay as they are.',
    cause: error,
  });
}

/** Whether `cwd` lies in the work tree of a git repository. */
export async function isRepository(cwd: string): Promise<boolean> {
  try {
    return (await git(cwd, ['rev-parse', '--is-inside-work-tree'])) === 'true';
  } catch {
    return false;
  }
}

/** Whether one of the files has changes that are not committed; without files, whether anything in the work tree has. */
export async function isDirty(cwd: string, files: readonly string[] = []): Promise<boolean> {
  const status = await git(cwd, ['--literal-pathspecs', 'status', '--porcelain', '--untracked-files=all', '--', ...files]);
  return status !== '';
}

/** The current commit, in full; null in a repository without one. */
export async function head(cwd: string): Promise<string | null> {
  try {
    return await git(cwd, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  } catch {
    return null;
  }
}

/** Name of the current branch; null when HEAD is detached. */
export async function currentBranch(cwd: string): Promise<string | null> {
  return (await git(cwd, ['branch', '--show-current'])) || null;
}

/** Creates a branch at HEAD and switches to it. */
export async function createBranch(cwd: string, name: string): Promise<void> {
  if (name.startsWith('-')) {
    throw new UsageError(`The branch name '${name}' begins with a dash.`, { code: 'bad-branch-name', hint: "Give another name with '--branch <name>'." });
  }
  await git(cwd, ['check-ref-format', '--branch', name]);
  await git(cwd, ['switch', '--create', name]);
}

/** Commits exactly these files, whatever else is staged, and gives the new commit's hash. */
export async function commit(cwd: string, files: readonly string[], message: string): Promise<string> {
  if (files.length === 0) throw new Error('commit needs at least one file');
  await git(cwd, ['--literal-pathspecs', 'add', '--all', '--', ...files]);
  await git(cwd, ['--literal-pathspecs', 'commit', '--quiet', `--message=${message}`, '--only', '--', ...files]);
  return git(cwd, ['rev-parse', 'HEAD']);
}

/** Whether the name stands for a commit: a branch, a tag or a hash. */
export async function hasRevision(cwd: string, revision: string): Promise<boolean> {
  if (revision.startsWith('-')) return false;
  try {
    await git(cwd, ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`]);
    return true;
  } catch {
    return false;
  }
}

/** Text of a file as of a revision; null when the revision does not have it. */
export async function fileAt(cwd: string, revision: string, file: string): Promise<string | null> {
  if (revision.startsWith('-')) return null;
  try {
    const { stdout } = await run('git', ['cat-file', 'blob', `${revision}:./${file}`], { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch {
    return null;
  }
}

/** Name of the remote that a new branch is pushed to: `origin`, else the only one; null when there is none, or it can't be told. */
export async function pushRemote(cwd: string): Promise<string | null> {
  const remotes = (await git(cwd, ['remote'])).split(/\r?\n/).filter((name) => name !== '');
  if (remotes.includes('origin')) return 'origin';
  return remotes.length === 1 ? (remotes[0] ?? null) : null;
}

/** Pushes a branch, and makes it follow the remote's. */
export async function push(cwd: string, remote: string, branch: string): Promise<void> {
  await git(cwd, ['push', '--quiet', '--set-upstream', remote, `refs/heads/${branch}`]);
}

/** Whether GitHub's command line tool can be started. */
export async function hasGh(cwd: string): Promise<boolean> {
  try {
    await run('gh', ['--version'], { cwd, encoding: 'utf8' });
    return true;
  } catch {
    return false;
  }
}

/** Opens a pull request for a pushed branch, from its commits, and gives its address. */
export async function openPullRequest(cwd: string, branch: string): Promise<string> {
  try {
    const { stdout } = await run('gh', ['pr', 'create', '--fill', '--head', branch], { cwd, encoding: 'utf8' });
    return stdout.trim().split(/\r?\n/).at(-1) ?? '';
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new ToolError(`'gh pr create' failed: ${said.split('\n').slice(0, 3).join(' ')}`, {
      code: 'gh-failed',
      hint: `The commit is made and '${branch}' is pushed. Mend what gh says, then run 'gh pr create --fill --head ${branch}'.`,
      cause: error,
    });
  }
}
