import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commit, createBranch, currentBranch, fileAt, head, isDirty, isRepository } from '../../src/workspace/git.js';
import { temporaryProject } from '../project.js';

function repository(files: Readonly<Record<string, string>>): string {
  const root = temporaryProject(files);
  const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: root });
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.email', 'test@example.com');
  git('config', 'user.name', 'Test');
  git('config', 'commit.gpgsign', 'false');
  git('add', '.');
  git('commit', '--quiet', '--message=first');
  return root;
}

test('knows a repository from a folder', async () => {
  expect(await isRepository(repository({ 'a.ts': '1' }))).toBe(true);
  expect(await isRepository(temporaryProject({}))).toBe(false);
});

test('commits exactly the files given, whatever else is staged or changed', async () => {
  const root = repository({ 'a.ts': '1', 'b.ts': '1', 'c.ts': '1' });
  for (const file of ['a.ts', 'b.ts', 'new file.ts']) writeFileSync(path.join(root, file), '2');
  execFileSync('git', ['add', 'b.ts'], { cwd: root });
  expect([await isDirty(root), await isDirty(root, ['c.ts']), await isDirty(root, ['new file.ts'])]).toEqual([true, false, true]);
  const before = await head(root);
  const message = "orders: store 'order.placed'\n\n$(touch owned) `touch owned` \"quoted\"; touch owned";
  const hash = await commit(root, ['a.ts', 'new file.ts'], message);
  expect(hash).not.toBe(before);
  expect(await head(root)).toBe(hash);
  expect(execFileSync('git', ['show', '--format=%B', '--name-only', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()).toBe(`${message}\n\n\na.ts\nnew file.ts`);
  expect(await isDirty(root, ['b.ts'])).toBe(true);
  expect(existsSync(path.join(root, 'owned'))).toBe(false);
});

test('a name with stars or a dash means itself', async () => {
  const root = repository({ 'a.ts': '1', 'b.ts': '1' });
  for (const file of ['*.ts', 'b.ts', '--amend']) writeFileSync(path.join(root, file), '2');
  await commit(root, ['*.ts', '--amend'], 'stars');
  expect(await isDirty(root, ['b.ts'])).toBe(true);
  expect(await fileAt(root, 'HEAD', '*.ts')).toBe('2');
  expect(await fileAt(root, 'HEAD~1', '*.ts')).toBeNull();
  expect(await fileAt(root, '--output=x', 'b.ts')).toBeNull();
});

test('creates a branch, and refuses what git would', async () => {
  const root = repository({ 'a.ts': '1' });
  await createBranch(root, 'outbox/order-placed');
  expect(await currentBranch(root)).toBe('outbox/order-placed');
  await expect(createBranch(root, 'outbox/order-placed')).rejects.toMatchObject({ code: 'git-failed' });
  await expect(createBranch(root, 'a..b')).rejects.toMatchObject({ code: 'git-failed' });
  await expect(createBranch(root, '--force')).rejects.toMatchObject({ code: 'bad-branch-name' });
});

test('a repository without a commit has no head', async () => {
  const root = temporaryProject({});
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  expect(await head(root)).toBeNull();
});
