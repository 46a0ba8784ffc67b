import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { temporaryProject } from '../project.js';
import { orderProject, safeProject, subscriberSource } from './project.js';
import { outboxify } from './run.js';

const isRoot = process.getuid?.() === 0;
/** A user that may write nowhere; only root can become it. */
const nobody = isRoot ? 65534 : undefined;

describe('bad input is exit code 2 with a clear error, and writes nothing', () => {
  test.each([
    { name: 'an empty folder', files: {}, args: ['scan'], code: 'not-a-project' },
    { name: 'a folder without code', files: { 'notes.md': '' }, args: ['scan'], code: 'not-a-project' },
    { name: 'an empty folder', files: {}, args: ['init'], code: 'not-a-project' },
    { name: 'an empty folder', files: {}, args: ['explain', 'x.y'], code: 'not-a-project' },
    { name: 'an unparsable configuration', files: { ...orderProject, 'outboxify.json': '{\n  "exclude": [\n' }, args: ['scan'], code: 'config-not-json', file: 'outboxify.json', line: 2 },
    { name: 'a wrong field', files: { ...orderProject, 'outboxify.json': '{"exlude": []}' }, args: ['scan'], code: 'config-unknown-field', file: 'outboxify.json' },
    { name: 'a configuration that is not there', files: orderProject, args: ['scan', '--config', 'no.json'], code: 'config-missing', file: 'no.json' },
    { name: 'an unknown command', files: orderProject, args: ['scna'], code: 'unknown-command' },
    { name: 'an unknown flag', files: orderProject, args: ['scan', '--frmat', 'x'], code: 'unknown-option' },
    { name: 'an unknown format', files: orderProject, args: ['plan', '--format', 'xml'], code: 'invalid-argument' },
    { name: 'a missing argument', files: orderProject, args: ['explain'], code: 'missing-argument' },
    { name: 'a missing folder', files: orderProject, args: ['scan', '--cwd', 'nowhere'], code: 'no-such-directory' },
    { name: 'a file in place of the folder', files: orderProject, args: ['scan', '--cwd', 'package.json'], code: 'no-such-directory' },
    { name: 'a path that matches nothing', files: orderProject, args: ['scan', 'src/order.service.ts', 'srv'], code: 'no-such-path' },
    { name: 'a path outside', files: orderProject, args: ['scan', '..'], code: 'no-such-path' },
    { name: 'an unknown handler', files: orderProject, args: ['explain', 'OrderService.plce'], code: 'unknown-subject' },
    { name: 'an existing configuration', files: { ...orderProject, 'outboxify.json': '{}' }, args: ['init'], code: 'file-exists', file: 'outboxify.json' },
    ...['scan', 'check', 'plan', 'status', 'explain x', 'migration outbox', 'relay', 'rewrite x --to dual-publish', 'inbox x'].map((line) => ({
      name: 'a service that is nowhere', files: { ...orderProject, 'outboxify.json': '{"services":[{"name":"here","root":"src"},{"name":"gone","root":"services/gone"}]}' },
      args: line.split(' '), code: 'service-root-missing', file: 'outboxify.json', line: null,
    })),
    { name: 'a manifest that is no JSON', files: { ...orderProject, 'package.json': '{\n  "name": "orders",\n<<<<<<< HEAD\n}\n' }, args: ['init'], code: 'manifest-not-json', file: 'package.json', line: 3 },
    { name: 'a manifest that is a list', files: { ...orderProject, 'package.json': '[]' }, args: ['init'], code: 'manifest-not-json', file: 'package.json', line: 1 },
    { name: 'a report where a folder is', files: orderProject, args: ['scan', '--output', 'src'], code: 'file-exists', file: 'src' },
    { name: 'a plan outside', files: orderProject, args: ['plan', '--output', '../PLAN.md'], code: 'outside-project', file: '../PLAN.md' },
  ])('$name: outboxify $args', async ({ files, args, code, file = null, line = null }) => {
    const root = temporaryProject(files);
    const text = await outboxify(args, { cwd: root });
    expect(text).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^error [A-Z'].*\n {2}\S/) });
    expect(text.stderr).not.toMatch(/\bat .*:\d+:\d+|This is a bug/);
    const wantsJson = !args.includes('--format');
    if (wantsJson) {
      const json = await outboxify([...args, '--format=json'], { cwd: root });
      expect({ ...json, stdout: JSON.parse(json.stdout) }).toEqual({
        code: 2, stderr: '', stdout: { code, message: expect.stringMatching(/\.$/), hint: expect.stringMatching(/\.$/), file, line },
      });
    }
    for (const [name, content] of Object.entries(files)) expect(readFileSync(path.join(root, name), 'utf8')).toBe(content);
    expect(existsSync(path.join(root, 'outboxify.json'))).toBe('outboxify.json' in files);
  });

  test('nearest names are suggested', async () => {
    const root = temporaryProject(orderProject);
    expect((await outboxify(['explain', 'OrderService.plce'], { cwd: root })).stderr).toContain("Did you mean 'OrderService.place'?");
    expect((await outboxify(['explain', 'lost-evnt'], { cwd: root })).stderr).toContain("Did you mean 'lost-event'?");
    expect((await outboxify(['rewrit'], { cwd: root })).stderr).toContain("Did you mean 'rewrite'?");
    expect((await outboxify(['scan', '--frmat', 'json'], { cwd: root })).stderr).toContain('Did you mean --format?');
  });

  test('what a command does not take is explained by the help of that command', async () => {
    for (const [line, help] of [['scan --frmat json', 'outboxify scan --help'], ['rewrite x --to done', 'outboxify rewrite --help'], ['ops', 'outboxify ops --help'], ['--frmat json', 'outboxify --help']] as const) {
      expect((await outboxify(line.split(' '))).stderr).toContain(`Run '${help}' for`);
    }
  });

  test('a read-only folder: init says so and leaves nothing behind', async () => {
    const root = temporaryProject(orderProject);
    chmodSync(root, 0o555);
    const result = await outboxify(['init'], { cwd: root, uid: nobody });
    chmodSync(root, 0o755);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining("Cannot write 'outboxify.json' (EACCES); no file was changed.") });
    expect(existsSync(path.join(root, 'outboxify.json'))).toBe(false);
  });

  test('an unreadable file is passed over and reported', async () => {
    const root = temporaryProject({ ...orderProject, 'src/secret.ts': 'export {};' });
    chmodSync(root, 0o755);
    chmodSync(path.join(root, 'src/secret.ts'), 0o000);
    const result = await outboxify(['scan'], { cwd: root, uid: nobody });
    expect(result).toMatchObject({ code: 1, stdout: expect.stringContaining('Passed over: src/secret.ts (EACCES).') });
  });
});

describe('what could not be read is no clean result', () => {
  const conflict = '<<<<<<< HEAD\nexport const a = 1;\n=======\nexport const a = 2;\n>>>>>>> other\n';
  const broken = { ...safeProject, 'src/broken.ts': conflict };

  test('check fails, names the file and its line, in every format; scan says it and exits by its findings', async () => {
    const root = temporaryProject(broken);
    const text = await outboxify(['check'], { cwd: root });
    expect(text.code).toBe(1);
    expect(text.stdout).toContain('error  src/broken.ts:1  file-not-read');
    expect(text.stdout).toContain('1 error, 0 warnings');
    const json = await outboxify(['check', '--format', 'json'], { cwd: root });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout).problems).toMatchObject([{ rule: 'file-not-read', severity: 'error', file: 'src/broken.ts', line: 1 }]);
    expect((await outboxify(['check', '--format', 'github'], { cwd: root })).stdout).toContain('::error file=src/broken.ts,line=1');
    expect(await outboxify(['scan'], { cwd: root })).toMatchObject({ code: 0, stdout: expect.stringMatching(/^In what could be read, no handler can lose an event[\s\S]*Passed over: src\/broken\.ts/) });
    expect((await outboxify(['status'], { cwd: root })).stderr).toContain('Not read: src/broken.ts:1');
    expect((await outboxify(['plan', '--dry-run'], { cwd: root })).stderr).toContain('Not read: src/broken.ts:1');
  });

  test('a manifest that is no JSON fails the check; one of a template does not', async () => {
    const root = temporaryProject({ ...safeProject, 'parts/package.json': '{{name}}' });
    expect(await outboxify(['check'], { cwd: root })).toMatchObject({ code: 0, stdout: expect.stringContaining('warning  parts/package.json:1  file-not-read') });
    writeFileSync(path.join(root, 'package.json'), '{ "dependencies": ');
    expect(await outboxify(['check'], { cwd: root })).toMatchObject({ code: 1, stdout: expect.stringContaining('error  package.json:1  file-not-read') });
  });

  test('the configuration can leave the file out', async () => {
    const root = temporaryProject({ ...broken, 'outboxify.json': '{"exclude":["src/broken.ts"]}' });
    expect(await outboxify(['check'], { cwd: root })).toMatchObject({ code: 0, stdout: expect.stringContaining('No problem') });
  });

  test('a link to nothing is named, and so is a folder that can not be opened', async () => {
    const root = temporaryProject({ ...safeProject, 'src/locked/a.ts': '' });
    symlinkSync('nowhere.ts', path.join(root, 'src/gone.ts'));
    chmodSync(root, 0o755);
    chmodSync(path.join(root, 'src/locked'), 0o000);
    const { code, stdout } = await outboxify(['check'], { cwd: root, uid: nobody });
    chmodSync(path.join(root, 'src/locked'), 0o755);
    expect(code).toBe(1);
    expect(stdout).toContain('src/gone.ts:1  file-not-read');
    expect(stdout).toContain("src/locked:1  file-not-read\n  The file was passed over: the folder can't be read: EACCES");
  });

  test('a baseline is not written without the file, and does not call gone what the file held', async () => {
    const root = temporaryProject(orderProject);
    expect((await outboxify(['check', '--update-baseline'], { cwd: root })).stderr).toContain('Wrote .outboxify/baseline.json: 1 dual write is accepted.');
    const baseline = readFileSync(path.join(root, '.outboxify/baseline.json'), 'utf8');
    writeFileSync(path.join(root, 'src/order.service.ts'), conflict);
    const { stdout } = await outboxify(['check'], { cwd: root });
    expect(stdout).toContain('file-not-read');
    expect(stdout).not.toContain('stale-baseline');
    expect(await outboxify(['check', '--update-baseline'], { cwd: root })).toMatchObject({ code: 2, stderr: expect.stringContaining("The baseline can't be written: 'src/order.service.ts' was not read.") });
    expect(readFileSync(path.join(root, '.outboxify/baseline.json'), 'utf8')).toBe(baseline);
  });

  test('check names an import that is out of reach, and does not fail for it', async () => {
    const root = temporaryProject({ ...safeProject, 'src/far.ts': "export { far } from '../../elsewhere/far';\n" });
    expect(await outboxify(['check'], { cwd: root })).toMatchObject({ code: 0, stdout: expect.stringMatching(/^warning {2}src\/far\.ts:1 {2}import-not-read[\s\S]*0 errors, 1 warning/) });
  });
});

describe('scan', () => {
  test('shows the finding with its crash line and exits with 1; scanning again gives the same', async () => {
    const root = temporaryProject(orderProject);
    const result = await outboxify(['scan'], { cwd: root });
    expect(result).toMatchObject({ code: 1, stderr: '' });
    for (const part of ['src/order.service.ts', 'OrderService.place', 'lost-event', 'await this.orders.save(order)', '✗  a crash here loses order.placed', 'Next: outboxify plan']) {
      expect(result.stdout).toContain(part);
    }
    expect(result.stdout).not.toContain('\u001b');
    const withoutTime = (text: string): string => text.replace(/\d+\.\d s\./, '');
    expect(withoutTime((await outboxify(['scan', '--cwd', root])).stdout)).toBe(withoutTime(result.stdout));
  });

  test('exits with 0 when nothing can be lost', async () => {
    const result = await outboxify(['scan'], { cwd: temporaryProject(safeProject) });
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining('No handler can lose an event') });
  });

  test('without a tsconfig, without installed dependencies, in JSON that fits the schema', async () => {
    const root = temporaryProject(orderProject);
    const { code, stdout } = await outboxify(['scan', '--format', 'json'], { cwd: root });
    const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync('schemas/scan.schema.json', 'utf8')));
    const report = JSON.parse(stdout);
    validate(report);
    expect(validate.errors).toBeNull();
    expect(code).toBe(1);
    expect(report.root).toBe(root);
    expect(report.findings).toHaveLength(1);
    expect(report.safe).toEqual([{ file: 'src/order.service.ts', line: 16, bus: expect.any(String), reason: 'no-write' }]);
  });

  test('keeps to the paths given', async () => {
    const root = temporaryProject({ ...orderProject, 'lib/a.ts': 'export const a = 1;\n' });
    expect((await outboxify(['scan', 'lib'], { cwd: root })).code).toBe(0);
    expect((await outboxify(['scan', 'src/order.service.ts'], { cwd: root })).code).toBe(1);
    expect((await outboxify(['scan', path.join(root, 'src')], { cwd: root })).code).toBe(1);
  });

  test('passes over a generated file of 5 MB and a file that can not be parsed, and says so', async () => {
    const root = temporaryProject({ ...orderProject, 'src/generated.ts': `export const x = '${'x'.repeat(5 * 1024 * 1024)}';\n`, 'src/broken.ts': 'export class {{{ \n' });
    const result = await outboxify(['scan'], { cwd: root });
    expect(result.code).toBe(1);
    expect(result.stdout).toContain('Passed over: src/generated.ts (5.0 MB; files over 2 MB are passed over).');
    expect(result.stdout).toContain('src/broken.ts');
    const { unresolved } = JSON.parse((await outboxify(['scan', '--format', 'json'], { cwd: root })).stdout);
    expect(unresolved).toContainEqual(expect.objectContaining({ file: 'src/generated.ts', text: 'too-large' }));
  });

  test.each(['sarif', 'markdown', 'html', 'github', 'gitlab'])('writes %s to a file, twice', async (format) => {
    const root = temporaryProject(orderProject);
    for (let run = 0; run < 2; run++) {
      expect(await outboxify(['scan', '--format', format, '--output', 'out/report.txt', '--quiet'], { cwd: root })).toEqual({ code: 1, stdout: '', stderr: '' });
    }
    expect(readFileSync(path.join(root, 'out/report.txt'), 'utf8')).toContain('OrderService.place');
  });
});

test('a report goes where the user says, in the project or out of it', async () => {
  const outside = temporaryProject({ 'old.sarif': 'old' });
  const cwd = temporaryProject(orderProject);
  for (const file of [path.join(outside, 'old.sarif'), path.join(outside, 'new/deep.sarif'), path.join('..', path.basename(outside), 'near.sarif')]) {
    expect(await outboxify(['scan', '--format', 'sarif', '--output', file], { cwd })).toEqual({ code: 1, stdout: '', stderr: `Wrote ${file}.\n` });
    expect(readFileSync(path.resolve(cwd, file), 'utf8')).toContain('OrderService.place');
  }
  expect(await outboxify(['scan', '--output', outside], { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining('is there and is no file') });
});

describe('an output that ends early', () => {
  test.each([[orderProject, 1], [safeProject, 0]])('a reader that has gone away changes no exit code', async (files, code) => {
    for (const args of [['scan', '--format', 'json'], ['scan'], ['check']]) expect(await outboxify(args, { cwd: temporaryProject(files), output: 'closed' })).toEqual({ code, stdout: '', stderr: '' });
  });

  test.skipIf(!existsSync('/dev/full'))('a full disk is an error, not a finding', async () => {
    const full = openSync('/dev/full', 'w');
    const result = await outboxify(['scan'], { cwd: temporaryProject(orderProject), output: full });
    closeSync(full);
    expect(result).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(/^error The output can't be written \(ENOSPC\)\.\n {2}\S[^\n]*\n$/) });
  });
});

describe('explain', () => {
  test('shows the path, why it hurts and what the rewrite would do', async () => {
    const root = temporaryProject(orderProject);
    const result = await outboxify(['explain', 'OrderService.place'], { cwd: root });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    for (const part of ['The path', 'Why it hurts', 'What the rewrite would do', "Run 'outboxify migration outbox --service orders --write' first.", '+    await store(']) {
      expect(result.stdout.replace(/^\+ +/gm, '+    ')).toContain(part);
    }
    const { findings } = JSON.parse((await outboxify(['scan', '--format', 'json'], { cwd: root })).stdout);
    const { stdout } = await outboxify(['explain', findings[0].id.slice(0, 6), '--format', 'json'], { cwd: root });
    expect(JSON.parse(stdout).findings).toEqual(findings);
    expect((await outboxify(['explain', 'place'], { cwd: root })).stdout).toBe(result.stdout);
  });

  test('shows why a publish is safe, and whether a subscriber has its inbox', async () => {
    const root = temporaryProject({ ...orderProject, 'src/mail.controller.ts': subscriberSource });
    expect(await outboxify(['explain', 'announce'], { cwd: root })).toMatchObject({ code: 0, stdout: expect.stringContaining('no-write: No write is reached') });
    expect(await outboxify(['explain', 'MailController.onPlaced'], { cwd: root })).toMatchObject({
      code: 0, stdout: expect.stringContaining("'outboxify inbox MailController.onPlaced --write' gives it one."),
    });
    const { stdout } = await outboxify(['explain', 'MailController.onPlaced', '--format', 'json'], { cwd: root });
    expect(JSON.parse(stdout)).toMatchObject({ findings: [], safe: [], subscribers: [{ name: 'MailController.onPlaced', destination: 'order.placed', inbox: false, writes: true }] });
  });

  test('knows rules, reasons and stages, even without a project', async () => {
    const root = temporaryProject({});
    for (const id of ['lost-event', 'phantom-event', 'request-reply', 'dual-publish', 'publish-in-loop']) {
      expect(await outboxify(['explain', id], { cwd: root })).toMatchObject({ code: 0, stdout: expect.stringContaining(id) });
    }
  });
});

describe('init', () => {
  test('writes a configuration that fits the schema and that scan takes', async () => {
    const root = temporaryProject(orderProject);
    expect(await outboxify(['init'], { cwd: root })).toMatchObject({ code: 0, stdout: expect.stringContaining('Wrote outboxify.json.') });
    const config = JSON.parse(readFileSync(path.join(root, 'outboxify.json'), 'utf8'));
    const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync('schemas/config.schema.json', 'utf8')));
    validate(config);
    expect(validate.errors).toBeNull();
    expect(config.services).toMatchObject([{ name: 'orders', root: '.', orm: 'typeorm', buses: ['nest-microservices'], database: 'postgresql', outbox: 'src/outbox' }]);
    expect((await outboxify(['scan'], { cwd: root })).code).toBe(1);
  });

  test('--force detects anew and keeps the rest', async () => {
    const root = temporaryProject({ ...orderProject, 'outboxify.json': JSON.stringify({ exclude: ['legacy/**'], tables: { outbox: 'events_out' } }) });
    expect((await outboxify(['init', '--force'], { cwd: root })).code).toBe(0);
    expect(JSON.parse(readFileSync(path.join(root, 'outboxify.json'), 'utf8'))).toMatchObject({
      exclude: ['legacy/**'], tables: { outbox: 'events_out', inbox: 'inbox' }, services: [{ name: 'orders' }],
    });
  });
});

describe('help', () => {
  test.each(['scan', 'explain', 'init', 'plan', 'migration', 'rewrite', 'inbox', 'relay', 'status', 'check', 'ops'])('%s --help has usage, flags and examples', async (command) => {
    const { code, stdout, stderr } = await outboxify([command, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: outboxify ${command}\\b[\\s\\S]*\\nFlags\\n[\\s\\S]*--format[\\s\\S]*\\nExamples\\n {2}\\$ npx outboxify ${command}`));
  });

  test('the first page names every command', async () => {
    const { code, stdout } = await outboxify(['--help']);
    expect(code).toBe(0);
    for (const command of ['scan', 'explain', 'init', 'plan', 'migration', 'rewrite', 'inbox', 'relay', 'status', 'check', 'ops']) expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
    expect(await outboxify(['help'])).toMatchObject({ code: 0, stdout });
  });

  test('--version is the one of package.json', async () => {
    expect((await outboxify(['--version'])).stdout.trim()).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });
});

test('scan starts without the libraries that it does not need', async () => {
  const root = temporaryProject(orderProject);
  const log = path.join(root, 'loaded.txt');
  mkdirSync(path.join(root, 'hook'));
  writeFileSync(path.join(root, 'hook/hook.mjs'), `import { appendFileSync } from 'node:fs';
export async function load(url, context, next) { appendFileSync(${JSON.stringify(log)}, url + '\\n'); return next(url, context); }
`);
  writeFileSync(path.join(root, 'hook/register.mjs'), "import { register } from 'node:module';\nregister('./hook.mjs', import.meta.url);\n");
  const result = await outboxify(['scan', 'src'], { cwd: root, env: { NODE_OPTIONS: `--import=${path.join(root, 'hook/register.mjs')}` } });
  expect(result.code).toBe(1);
  const loaded = readFileSync(log, 'utf8');
  expect(loaded).toContain('/dist/src/cli/main.js');
  expect(loaded).not.toMatch(/node_modules\/(?:knex|pg|mysql2|inquirer|@inquirer|jscodeshift|recast|diff)\//);
});
