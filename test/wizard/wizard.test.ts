import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { outboxify } from '../cli/run.js';
import { orderProject } from '../cli/project.js';
import { temporaryProject } from '../project.js';
import { hasTerminal, keys, onTerminal } from './terminal.js';

if (!hasTerminal && process.env['CI'] === 'true') throw new Error("the wizard's tests need 'script' of util-linux");
if (!hasTerminal) console.warn("\nSKIPPED: the wizard on a terminal; these tests need 'script' of util-linux.\n");

const filesOf = (root: string): readonly string[] => readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();

describe.skipIf(!hasTerminal)('the wizard on a terminal', () => {
  test('leads from init to the first rewrite; each command is printed before it runs', async () => {
    const root = temporaryProject(orderProject);
    const terminal = onTerminal([], root);
    await terminal.until('1 handler can lose an event');
    await terminal.until('❯ Detect services');
    terminal.type(keys.enter);
    await terminal.until("Run 'npx outboxify init'?");
    terminal.type(keys.enter);
    await terminal.until('$ npx outboxify init\n');
    await terminal.until('Wrote outboxify.json.');
    await terminal.until('❯ Show every handler');
    terminal.type(keys.enter);
    await terminal.until('$ npx outboxify scan\n');
    await terminal.until('✗  a crash here loses order.placed');
    await terminal.until('❯ Write the plan');
    terminal.type(keys.enter);
    await terminal.until("Run 'npx outboxify plan'?");
    terminal.type(keys.enter);
    await terminal.until('Wrote OUTBOX-MIGRATION.md');
    await terminal.until('❯ Record the dual writes');
    terminal.type(keys.down);
    await terminal.until('❯ Add the outbox table');
    terminal.type(keys.enter);
    await terminal.until("Run 'npx outboxify migration outbox --service orders --write'?");
    terminal.type(keys.enter);
    await terminal.until('$ npx outboxify migration outbox --service orders --write\n');
    await terminal.until('❯ Record the dual writes');
    terminal.type(keys.down);
    await terminal.until('❯ Bring a handler to dual-publish');
    terminal.type(keys.enter);
    await terminal.until("Run 'npx outboxify rewrite OrderService.place --to dual-publish --write'?");
    terminal.type(keys.down);
    await terminal.until('❯ Show first');
    terminal.type(keys.enter);
    await terminal.until('$ npx outboxify rewrite OrderService.place --to dual-publish\n');
    await terminal.until('+++ b/src/order.service.ts');
    await terminal.until('❯ Run it');
    expect(readFileSync(path.join(root, 'src/order.service.ts'), 'utf8')).toBe(orderProject['src/order.service.ts']);
    terminal.type(keys.enter);
    await terminal.until('$ npx outboxify rewrite OrderService.place --to dual-publish --write\n');
    await terminal.until('❯ Record the dual writes');
    terminal.type(keys.up);
    terminal.type(keys.down.repeat(9));
    await terminal.until('❯ Stop here');
    terminal.type(keys.enter);
    expect(await terminal.done).toBe(0);
    expect(readFileSync(path.join(root, 'src/order.service.ts'), 'utf8')).toContain('await store(');
  });

  test.each([
    { where: 'the first question', keysBefore: [] as readonly string[], shown: 'What next?' },
    { where: 'the question before a command', keysBefore: [keys.enter], shown: 'Run it' },
  ])('Ctrl-C at $where: exit code 130 and nothing is written', async ({ keysBefore, shown }) => {
    const root = temporaryProject(orderProject);
    const before = filesOf(root);
    const terminal = onTerminal([], root);
    await terminal.until('❯ Detect services');
    for (const key of keysBefore) terminal.type(key);
    await terminal.until(shown === 'What next?' ? 'Stop here' : shown);
    terminal.type(keys.interrupt);
    expect(await terminal.done).toBe(130);
    expect(terminal.shown()).toContain('Cancelled; nothing more was done.');
    expect(filesOf(root)).toEqual(before);
  });

  test('Ctrl-C where a connection string is asked for', async () => {
    const root = temporaryProject({
      ...orderProject,
      'outboxify.json': '{}', 'OUTBOX-MIGRATION.md': '', '.outboxify/baseline.json': '{"schemaVersion":1,"handlers":[]}',
    });
    for (const args of [['migration', 'outbox', '--write'], ['rewrite', 'OrderService.place', '--to', 'dual-publish', '--write']]) expect(await outboxify(args, { cwd: root })).toMatchObject({ code: 0 });
    const before = filesOf(root);
    const terminal = onTerminal([], root);
    await terminal.until('❯ Show every handler');
    terminal.type(keys.down);
    await terminal.until('❯ Cut over');
    terminal.type(keys.enter);
    await terminal.until("Connection string of the database of 'orders' ($DATABASE_URL is not set");
    terminal.type('postgres://shop:pa55word@');
    await terminal.until('***');
    terminal.type(keys.interrupt);
    expect(await terminal.done).toBe(130);
    expect(terminal.shown()).not.toContain('pa55word');
    expect(filesOf(root)).toEqual(before);
  });

  test('a command that fails says so, and the wizard goes on', async () => {
    const root = temporaryProject({ ...orderProject, 'OUTBOX-MIGRATION.md': '', 'outboxify.json': '{}', '.outboxify/baseline.json': '{"schemaVersion":1,"handlers":[]}', 'src/outbox/store.ts': '// mine\n' });
    const terminal = onTerminal(['--cwd', '.'], root);
    await terminal.until('❯ Show every handler');
    terminal.type(keys.down);
    await terminal.until('❯ Add the outbox table');
    terminal.type(keys.enter);
    await terminal.until("Run 'npx outboxify migration outbox --service orders --write --cwd .'?");
    terminal.type(keys.enter);
    await terminal.until('file-exists');
    await terminal.until('What next?');
    terminal.type(keys.interrupt);
    expect(await terminal.done).toBe(130);
  });
});

describe('without a terminal nothing is asked', () => {
  test('outboxify alone says what is next', async () => {
    const root = temporaryProject(orderProject);
    expect(await outboxify([], { cwd: root })).toEqual({ code: 0, stdout: 'Next: Detect services, ORM, buses and databases.\n  npx outboxify init\n', stderr: expect.stringContaining('Nothing is asked without a terminal.') });
    expect(JSON.parse((await outboxify(['--format', 'json'], { cwd: root })).stdout)).toMatchObject({ next: [{ step: 'init', commands: ['npx outboxify init'] }, { step: 'plan' }, { step: 'baseline' }, { step: 'outbox-table' }] });
    expect(existsSync(path.join(root, 'outboxify.json'))).toBe(false);
  });

  test('outside a project it is an error', async () => {
    expect(await outboxify([], { cwd: temporaryProject({}) })).toMatchObject({ code: 2, stdout: '' });
  });

  test.each([
    { args: ['init'], code: 0 }, { args: ['scan'], code: 1 }, { args: ['explain', 'OrderService.place'], code: 0 }, { args: ['plan'], code: 0 }, { args: ['status'], code: 0 }, { args: ['check'], code: 1 },
    { args: ['migration', 'outbox'], code: 0 }, { args: ['rewrite', 'OrderService.place', '--to', 'dual-publish'], code: 1 }, { args: ['inbox', 'Nobody.onPlaced'], code: 2 }, { args: ['relay'], code: 2 },
    { args: ['ops', 'lag'], code: 2 }, { args: ['ops', 'cut-over'], code: 2 },
  ])('$args ends by itself with standard input closed', async ({ args, code }) => {
    const result = await outboxify(args, { cwd: temporaryProject(orderProject) });
    expect({ code: result.code, isBug: result.stderr.includes('This is a bug') }).toEqual({ code, isBug: false });
  });
});
