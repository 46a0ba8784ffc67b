import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runRewrite } from '../../src/cli/rewrite/index.js';
import type { RewriteOptions } from '../../src/cli/options.js';
import { createProject, readCases, readTree } from './harness.js';

const fixture = readCases().find(({ codemod, name }) => codemod === 'dual-publish-direct' && name === 'save-then-emit');
const source = 'src/parcels.service.ts';
let project: ReturnType<typeof createProject>;
let printed: string[];
let noted: string[];

beforeEach(() => {
  if (fixture === undefined) throw new Error('the fixture save-then-emit is missing');
  project = createProject(fixture, 'plain', false);
  printed = [];
  noted = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => (printed.push(String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => (noted.push(String(text)), true));
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  project.remove();
});

async function run(options: Partial<RewriteOptions>): Promise<{ readonly code: number; readonly out: string }> {
  printed = [];
  const code = await runRewrite({ cwd: project.folder, color: false, handler: 'ParcelsService.pack', to: 'dual-publish', ...options });
  return { code, out: printed.join('') };
}

const git = (...args: string[]): string => execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false', ...args], { cwd: project.folder, encoding: 'utf8' });

function initRepository(): void {
  git('init', '--quiet');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.org');
  git('config', 'commit.gpgsign', 'false');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'start');
}

const tree = (): object => Object.fromEntries(readTree(project.folder));
const start = (): object => Object.fromEntries(project.input);

describe('outboxify rewrite', () => {
  it('prints a patch that git applies, and writes nothing', async () => {
    initRepository();
    const { code, out } = await run({});
    expect(code).toBe(0);
    expect(git('status', '--porcelain')).toBe('');
    writeFileSync(path.join(project.folder, 'change.patch'), out);
    git('apply', 'change.patch');
    expect(git('status', '--porcelain').split('\n').map((line) => line.slice(3)).filter(Boolean).sort()).toEqual(['change.patch', 'src/outbox/routes.ts', source]);
  });

  it('answers in JSON', async () => {
    const dry = JSON.parse((await run({ format: 'json' })).out) as Record<string, unknown>;
    expect(dry).toMatchObject({ outcome: 'dry-run', reasons: [], files: [{ change: 'modified' }, { change: 'modified' }] });
    expect(dry['patch']).toContain('integrationEvent');
  });

  it('undoes what it wrote, byte for byte', async () => {
    await run({ write: true });
    expect(readFileSync(path.join(project.folder, source), 'utf8')).toContain('await store(manager, parcelPacked');
    expect((await run({ undo: true, write: true, to: undefined })).code).toBe(0);
    expect(tree()).toEqual(start());
  });

  it('undoes the lines of the rewrite where others have changed', async () => {
    await run({ write: true });
    const file = path.join(project.folder, source);
    const edited = (text: string): string => `// Edited since.\n${text}`;
    writeFileSync(file, edited(readFileSync(file, 'utf8')));
    await run({ undo: true, write: true, to: undefined });
    expect(readFileSync(file, 'utf8')).toBe(edited(project.input.get(source) ?? ''));
  });

  it('does not undo lines that were edited since', async () => {
    await run({ write: true });
    const file = path.join(project.folder, source);
    writeFileSync(file, readFileSync(file, 'utf8').replace("aggregateType: 'Parcel'", "aggregateType: 'Box'"));
    const before = tree();
    await expect(run({ undo: true, write: true, to: undefined })).rejects.toMatchObject({ code: 'changed-since', file: source });
    expect(tree()).toEqual(before);
  });

  it('commits exactly the files of the rewrite', async () => {
    initRepository();
    await run({ commit: true });
    expect(git('log', '-1', '--format=%s').trim()).toBe('outbox: dual-publish ParcelsService.pack (parcel.packed)');
    expect(git('show', '--name-only', '--format=').trim().split('\n').sort()).toEqual([expect.stringMatching(/^\.outboxify\/undo\/ParcelsService\.pack-[0-9a-f]{8}\.dual-publish\.json$/), 'src/outbox/routes.ts', source]);
    expect(git('status', '--porcelain')).toBe('');
  });

  it('stops at a dirty work tree, unless told otherwise', async () => {
    initRepository();
    writeFileSync(path.join(project.folder, 'notes.txt'), 'mine');
    await expect(run({ commit: true })).rejects.toMatchObject({ code: 'dirty-work-tree' });
    expect(git('log', '--format=%s').trim()).toBe('start');
    expect((await run({ commit: true, allowDirty: true })).code).toBe(0);
    expect(git('status', '--porcelain').trim()).toBe('?? notes.txt');
  });

  it('commits on a new branch', async () => {
    initRepository();
    await run({ branch: 'outbox/parcels' });
    expect(git('branch', '--show-current').trim()).toBe('outbox/parcels');
    expect(git('log', '-1', '--format=%s').trim()).toBe('outbox: dual-publish ParcelsService.pack (parcel.packed)');
  });

  it('pushes the branch and opens a pull request with gh', async () => {
    initRepository();
    const outside = mkdtempSync(path.join(os.tmpdir(), 'outboxify-remote-'));
    try {
      git('init', '--quiet', '--bare', path.join(outside, 'remote.git'));
      git('remote', 'add', 'origin', path.join(outside, 'remote.git'));
      writeFileSync(path.join(outside, 'gh'), `#!/bin/sh\necho "$@" >> '${outside}/calls'\necho https://example.org/pull/1\n`, { mode: 0o755 });
      vi.stubEnv('PATH', `${outside}${path.delimiter}${process.env['PATH'] ?? ''}`);
      expect((await run({ branch: 'outbox/parcels', pr: true })).code).toBe(0);
      expect(readFileSync(path.join(outside, 'calls'), 'utf8')).toBe('--version\npr create --fill --head outbox/parcels\n');
      expect(git('--git-dir', path.join(outside, 'remote.git'), 'log', '-1', '--format=%s', 'outbox/parcels').trim()).toBe('outbox: dual-publish ParcelsService.pack (parcel.packed)');
      expect(noted.join('')).toContain('Pull request: https://example.org/pull/1');
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it('says how to open the pull request where there is no remote', async () => {
    initRepository();
    await run({ branch: 'outbox/parcels', pr: true });
    expect(noted.join('')).toContain('No pull request was opened: no remote can be told. Open it with: git push --set-upstream origin outbox/parcels && gh pr create --fill');
  });

  it('says why it refuses, and exits with 1', async () => {
    const { code, out } = await run({ to: 'outbox-only', format: 'json' });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ outcome: 'refused', reasons: [{ code: 'nothing-to-rewrite' }], files: [], patch: '' });
    expect(tree()).toEqual(start());
  });

  it('suggests names for a handler that is not there', async () => {
    await expect(run({ handler: 'ParcelService.pack' })).rejects.toMatchObject({ code: 'unknown-handler', hint: expect.stringContaining("'ParcelsService.pack'") as string });
  });

  it('takes the names that the user gives', async () => {
    await run({ write: true, event: 'parcel.ready', aggregateType: 'Box', aggregateId: 'orderNumber' });
    const text = readFileSync(path.join(project.folder, source), 'utf8');
    expect(text).toContain("type: 'parcel.ready',\n        aggregateType: 'Box',\n        aggregateId: orderNumber,");
    expect(readFileSync(path.join(project.folder, 'src/outbox/routes.ts'), 'utf8')).toContain("'parcel.ready': { transport: 'nest', client: 'LOGISTICS', pattern: 'parcel.packed' },");
  });
});
