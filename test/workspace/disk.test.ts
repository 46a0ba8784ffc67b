import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openWorkspace, toProjectPath } from '../../src/workspace/disk.js';
import { temporaryProject } from '../project.js';

const everything = { exclude: [] };

describe('files', () => {
  test('leaves out dependencies, build output, declarations, bundles and what the configuration says', () => {
    const root = temporaryProject({
      'src/a.ts': '', 'src/b/c.js': '', 'package.json': '{}', 'distance/x.ts': '',
      'node_modules/x/index.js': '', 'apps/a/node_modules/y/index.js': '', 'dist/a.js': '', 'apps/a/package.json': '{}', 'apps/a/build/a.js': '', 'apps/b/project.json': '{}', 'apps/b/coverage/a.js': '', 'coverage/a.js': '',
      'src/types.d.ts': '', 'src/types.d.mts': '', 'public/app.min.js': '', 'legacy/old.ts': '', '.hidden/x.ts': '',
    });
    expect(openWorkspace(root, { exclude: ['legacy/**'] }).files()).toEqual(['apps/a/package.json', 'apps/b/project.json', 'distance/x.ts', 'package.json', 'src/a.ts', 'src/b/c.js']);
  });

  test('leaves out what the compiler writes, and nothing that only has the name of build output', () => {
    const root = temporaryProject({
      'package.json': '{}', 'src/dist/a.ts': '', 'src/build/b.ts': '', 'src/coverage/c.ts': '', 'src/.private/d.ts': '', 'src/.next/e.js': '', '.cache/f.ts': '', 'src/.eslintrc.cjs': '',
      'tsconfig.json': '{"compilerOptions":{"outDir":"./out/js"}}', 'out/js/a.js': '', 'out/a.ts': '',
      'parts/a/package.json': '{}', 'parts/a/tsconfig.build.json': '// built\n{"compilerOptions":{"outDir":"."}}', 'parts/a/x.ts': '',
    });
    expect(openWorkspace(root, everything).files().filter((file) => !file.endsWith('.json'))).toEqual(['out/a.ts', 'parts/a/x.ts', 'src/.private/d.ts', 'src/build/b.ts', 'src/coverage/c.ts', 'src/dist/a.ts']);
  });

  test('leaves out what git ignores, at every level, as git itself says', () => {
    const root = temporaryProject({
      '.gitignore': 'generated/\n*.log.ts\n/only-root.ts\n!keep.log.ts\nvendor/*\n!vendor/ours\n# a comment\nspace\\ .ts\n',
      'src/.gitignore': 'secret.ts\n!important.log.ts\n',
      'src/deep/.gitignore': '!secret.ts\n',
      'generated/a.ts': '', 'src/generated/b.ts': '', 'a.log.ts': '', 'keep.log.ts': '', 'only-root.ts': '', 'src/only-root.ts': '',
      'vendor/theirs/a.ts': '', 'vendor/ours/a.ts': '', 'src/secret.ts': '', 'src/important.log.ts': '', 'src/deep/secret.ts': '', 'src/a.ts': '',
      'generated/.gitignore': '!a.ts\n',
    });
    execFileSync('git', ['init', '--quiet'], { cwd: root });
    const listed = execFileSync('git', ['ls-files', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
    const expected = listed.split('\n').filter((file) => file !== '' && !file.endsWith('.gitignore')).sort();
    expect(expected).toContain('src/deep/secret.ts');
    expect(openWorkspace(root, everything).files()).toEqual(expected);
  });

  test('obeys the .gitignore above the project, up to the top of its repository', () => {
    const root = temporaryProject({ '.gitignore': '*.gen.ts\n/services/orders/tmp/\n', 'services/orders/a.ts': '', 'services/orders/b.gen.ts': '', 'services/orders/tmp/c.ts': '' });
    mkdirSync(path.join(root, '.git'));
    expect(openWorkspace(path.join(root, 'services/orders'), everything).files()).toEqual(['a.ts']);
  });

  test('does not follow links', () => {
    const outside = temporaryProject({ 'stolen.ts': 'x' });
    const root = temporaryProject({ 'a.ts': '' });
    symlinkSync(outside, path.join(root, 'linked'));
    symlinkSync('.', path.join(root, 'loop'));
    expect(openWorkspace(root, everything).files()).toEqual(['a.ts']);
  });

  test('notes links that code may be behind and that are not followed, and no others', () => {
    const outside = temporaryProject({ 'stolen.ts': 'x' });
    const root = temporaryProject({ 'a.ts': '', 'deep/b.ts': '', 'x.ts/c.ts': '', '.gitignore': 'ignored.ts\n' });
    const links = { 'linked': outside, 'stolen.ts': path.join(outside, 'stolen.ts'), 'gone.ts': 'nowhere.ts', 'gone': 'nowhere', 'loop': '.', 'b.ts': 'deep/b.ts', 'ignored.ts': 'nowhere.ts', 'legacy.ts': 'nowhere.ts' };
    for (const [link, target] of Object.entries(links)) symlinkSync(target, path.join(root, link));
    const workspace = openWorkspace(root, { exclude: ['legacy.ts'] });
    expect(workspace.files()).toEqual(['a.ts', 'deep/b.ts', 'x.ts/c.ts']);
    expect([...workspace.links()].sort()).toEqual([['b.ts', 'deep/b.ts'], ['loop', '.']]);
    expect(workspace.skipped().map(({ file, reason }) => `${file} ${reason}`)).toEqual(['gone.ts unreadable', 'linked link', 'stolen.ts link']);
  });

  test('takes names with brackets, spaces and letters beyond ASCII', () => {
    const names = ['[id]/page (1).ts', 'größe.ts', 'it\'s!.ts'];
    const root = temporaryProject(Object.fromEntries(names.map((name) => [name, ''])));
    expect([...openWorkspace(root, everything).files()].sort()).toEqual([...names].sort());
  });
});

describe('read', () => {
  test('gives the text as it is: byte order mark, CRLF and all', () => {
    const root = temporaryProject({ 'a.ts': '\ufeffone\r\ntwo' });
    expect(openWorkspace(root, everything).read('a.ts')).toBe('\ufeffone\r\ntwo');
  });

  test('refuses and notes what is too large or no text, and is silent about what is not there', () => {
    const root = temporaryProject({ 'big.ts': 'x'.repeat(5 * 1024 * 1024), 'limit.ts': 'x'.repeat(2 * 1024 * 1024), 'latin.ts': Buffer.from([0x63, 0xe4, 0x0a]), 'folder/a.ts': '' });
    const workspace = openWorkspace(root, everything);
    expect(['big.ts', 'latin.ts', 'missing.ts', 'folder', 'a.ts/b'].map((file) => workspace.read(file))).toEqual([null, null, null, null, null]);
    expect(workspace.read('limit.ts')).toHaveLength(2 * 1024 * 1024);
    expect(workspace.skipped()).toEqual([
      { file: 'big.ts', reason: 'too-large', message: '5.0 MB; files over 2 MB are passed over' },
      { file: 'latin.ts', reason: 'not-utf8', message: 'not UTF-8 text' },
    ]);
  });

  test('does not leave the project', () => {
    const outside = temporaryProject({ 'secret.ts': 'secret' });
    const root = temporaryProject({ 'a.ts': 'a' });
    symlinkSync(path.join(outside, 'secret.ts'), path.join(root, 'link.ts'));
    symlinkSync('a.ts', path.join(root, 'inside.ts'));
    const workspace = openWorkspace(root, everything);
    expect(['link.ts', `../${path.basename(outside)}/secret.ts`, path.join(outside, 'secret.ts')].map((file) => workspace.read(file))).toEqual([null, null, null]);
    expect(workspace.read('inside.ts')).toBe('a');
  });
});

test.each(['missing', 'file.ts'])('the root %s is no project', (name) => {
  const root = temporaryProject({ 'file.ts': '' });
  expect(() => openWorkspace(path.join(root, name), everything)).toThrow(expect.objectContaining({ code: 'no-such-directory' }));
});

test.each([
  ['src', 'src'], ['./src/', 'src'], ['.', '.'], ['', '.'], ['src/../lib', 'lib'], ['../x', '../x'],
])('the path %s of the command line is %s', (given, expected) => {
  expect(toProjectPath(temporaryProject({ 'src/a.ts': '', 'lib/b.ts': '' }), given)).toBe(expected);
});
