import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { diskSink, dryRunSink, type Change } from '../../src/workspace/sink.js';
import { temporaryProject } from '../project.js';

const longText = Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n');

const cases: readonly { readonly name: string; readonly file?: string; readonly before: string | null; readonly after: string | null }[] = [
  { name: 'a new file', before: null, after: 'one\ntwo\n' },
  { name: 'a new file in a new folder', file: 'src/deep/er/file.ts', before: null, after: 'one\n' },
  { name: 'a new file without a line end', before: null, after: 'one' },
  { name: 'a new empty file', before: null, after: '' },
  { name: 'a deleted file', before: 'one\ntwo\n', after: null },
  { name: 'a deleted file without a line end', before: 'one\ntwo', after: null },
  { name: 'a deleted empty file', before: '', after: null },
  { name: 'CRLF', before: 'one\r\ntwo\r\nthree\r\n', after: 'one\r\n2\r\nthree\r\n' },
  { name: 'CRLF turned into LF', before: 'one\r\ntwo\r\n', after: 'one\ntwo\n' },
  { name: 'no line end before and after', before: 'one\ntwo', after: 'one\n2' },
  { name: 'a line end added at the end', before: 'one\ntwo', after: 'one\ntwo\n' },
  { name: 'a line end removed at the end', before: 'one\ntwo\n', after: 'one\ntwo' },
  { name: 'a change in the middle of a file without a line end', before: longText, after: longText.replace('line 30', 'changed') },
  { name: 'several hunks', before: longText, after: longText.replace('line 3\n', 'x\ny\n').replace('line 30\n', '').replace('line 59', 'end') },
  { name: 'emptied', before: 'one\n', after: '' },
  { name: 'filled', before: '', after: 'one\n' },
  { name: 'first line inserted', before: longText, after: `new\n${longText}` },
  { name: 'a byte order mark', before: '\ufeffone\ntwo\n', after: '\ufeffone\n2\n' },
  { name: 'a name with spaces', file: 'my files/a b.ts', before: 'one\n', after: 'two\n' },
  { name: 'a new name with spaces', file: 'my files/a b.ts', before: null, after: 'two\n' },
  { name: 'a name with a quote and letters beyond ASCII', file: 'it"s ä.ts', before: 'one\n', after: 'two\n' },
  { name: 'a name with a tab', file: 'a\tb.ts', before: 'one\n', after: 'two\n' },
  { name: 'lines that look like a patch', before: '--- a\n+++ b\n', after: '--- a\n+++ c\n@@ -1 +1 @@\n' },
];

describe('the patch of a dry run', () => {
  test.each(cases)('is taken by git apply and gives the same file: $name', ({ file = 'file.ts', before, after }) => {
    const root = temporaryProject(before === null ? {} : { [file]: before });
    execFileSync('git', ['init', '--quiet'], { cwd: root });
    const outcome = dryRunSink(root).apply([{ file, before, after }]);
    expect(outcome.outcome).toBe('dry-run');
    expect(content(root, file)).toBe(before);
    execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: root, input: outcome.patch });
    expect(content(root, file)).toBe(after);
  });

  test('carries several files, and the mode of an executable', () => {
    const root = temporaryProject({ 'a.sh': 'one\n', 'b.ts': 'two\n' });
    chmodSync(path.join(root, 'a.sh'), 0o755);
    execFileSync('git', ['init', '--quiet'], { cwd: root });
    const { patch } = dryRunSink(root).apply([
      { file: 'a.sh', before: 'one\n', after: null },
      { file: 'b.ts', before: 'two\n', after: '2\n' },
      { file: 'c.ts', before: null, after: 'three\n' },
    ]);
    execFileSync('git', ['apply', '-'], { cwd: root, input: patch });
    expect(patch).toContain('deleted file mode 100755');
    expect([content(root, 'a.sh'), content(root, 'b.ts'), content(root, 'c.ts')]).toEqual([null, '2\n', 'three\n']);
  });
});

describe('the disk', () => {
  test.each(cases)('becomes what was asked: $name', ({ file = 'file.ts', before, after }) => {
    const root = temporaryProject(before === null ? {} : { [file]: before });
    const change = { file, before, after };
    const dry = dryRunSink(root).apply([change]);
    const outcome = diskSink(root).apply([change]);
    expect(outcome).toEqual({ ...dry, outcome: 'written' });
    expect(content(root, file)).toBe(after);
    if (after !== null) expect(readdirSync(path.dirname(path.join(root, file)))).toEqual([path.basename(file)]);
  });

  test('answers nothing-to-do when nothing changes', () => {
    const root = temporaryProject({ 'a.ts': 'one\n' });
    const outcome = diskSink(root).apply([{ file: 'a.ts', before: 'one\n', after: 'one\n' }]);
    expect(outcome).toEqual({ outcome: 'nothing-to-do', reasons: [], files: [], patch: '' });
  });

  test('keeps the mode of a file', () => {
    const root = temporaryProject({ 'run.sh': 'one\n' });
    chmodSync(path.join(root, 'run.sh'), 0o750);
    diskSink(root).apply([{ file: 'run.sh', before: 'one\n', after: 'two\n' }]);
    expect(statSync(path.join(root, 'run.sh')).mode & 0o777).toBe(0o750);
  });

  const refusals: readonly { readonly name: string; readonly change: Change; readonly code: string }[] = [
    { name: 'a file in the way', change: { file: 'b.ts', before: null, after: 'x' }, code: 'file-exists' },
    { name: 'a file that changed meanwhile', change: { file: 'b.ts', before: 'other', after: 'x' }, code: 'file-changed' },
    { name: 'a file that is gone', change: { file: 'gone.ts', before: 'other', after: 'x' }, code: 'file-changed' },
    { name: 'a folder in the way', change: { file: 'folder', before: null, after: 'x' }, code: 'file-exists' },
    { name: 'a file where a folder is needed', change: { file: 'b.ts/c.ts', before: null, after: 'x' }, code: 'not-writable' },
    { name: 'a path out of the project', change: { file: '../x.ts', before: null, after: 'x' }, code: 'outside-project' },
    { name: 'a link out of the project', change: { file: 'link/x.ts', before: null, after: 'x' }, code: 'outside-project' },
  ];

  test.each(refusals)('changes no file because of $name, on disk and in a dry run', ({ change, code }) => {
    const root = temporaryProject({ 'a.ts': 'one\n', 'b.ts': 'two\n' });
    mkdirSync(path.join(root, 'folder'));
    symlinkSync(temporaryProject({}), path.join(root, 'link'));
    const changes = [{ file: 'a.ts', before: 'one\n', after: '1\n' }, change];
    expect(() => dryRunSink(root).apply(changes)).toThrow(expect.objectContaining({ code }));
    expect(() => diskSink(root).apply(changes)).toThrow(expect.objectContaining({ code }));
    expect([content(root, 'a.ts'), content(root, 'b.ts')]).toEqual(['one\n', 'two\n']);
  });

  test('takes back what it did when a later file fails', () => {
    const root = temporaryProject({ 'a.ts': 'one\n', 'd.ts': 'four\n' });
    // The name fits the checks but is too long for the file system.
    const tooLong = `new/${'x'.repeat(300)}.ts`;
    const changes = [
      { file: 'a.ts', before: 'one\n', after: '1\n' },
      { file: 'd.ts', before: 'four\n', after: null },
      { file: tooLong, before: null, after: 'x' },
    ];
    expect(() => diskSink(root).apply(changes)).toThrow(expect.objectContaining({ code: 'not-writable' }));
    expect(readdirSync(root).sort()).toEqual(['a.ts', 'd.ts']);
    expect([content(root, 'a.ts'), content(root, 'd.ts')]).toEqual(['one\n', 'four\n']);
  });

  test('writes through a link that stays in the project', () => {
    const root = temporaryProject({ 'a.ts': 'one\n' });
    symlinkSync('a.ts', path.join(root, 'link.ts'));
    diskSink(root).apply([{ file: 'link.ts', before: 'one\n', after: 'two\n' }]);
    expect(content(root, 'a.ts')).toBe('two\n');
    expect(readFileSync(path.join(root, 'link.ts'), 'utf8')).toBe('two\n');
    writeFileSync(path.join(root, 'a.ts'), 'three\n');
    expect(content(root, 'link.ts')).toBe('three\n');
  });
});

function content(root: string, file: string): string | null {
  const absolute = path.join(root, file);
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : null;
}
