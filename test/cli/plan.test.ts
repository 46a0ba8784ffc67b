import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryProject } from '../project.js';
import { orderProject, safeProject, subscriberSource } from './project.js';
import { outboxify } from './run.js';

const project = { ...orderProject, 'src/mail.controller.ts': subscriberSource };
const read = (root: string, file: string): string => readFileSync(path.join(root, file), 'utf8');

async function run(root: string, args: readonly string[], code = 0): Promise<string> {
  const result = await outboxify(args, { cwd: root });
  expect({ args, code: result.code, stderr: code === 2 ? '' : result.stderr }).toEqual({ args, code, stderr: code === 2 ? '' : expect.any(String) });
  return result.stdout;
}

describe('plan', () => {
  test('writes the checklist, changes nothing when nothing changed, and ticks what the code shows', async () => {
    const root = temporaryProject(project);
    expect(await run(root, ['plan'])).toMatch(/^Wrote OUTBOX-MIGRATION\.md: 0 of \d+ steps are done\.$/m);
    const before = read(root, 'OUTBOX-MIGRATION.md');
    expect(before).toContain('- [ ] outbox table: `npx outboxify migration outbox --service orders --write`');
    expect(before).toContain('- [ ] dual-publish: `npx outboxify rewrite OrderService.place --to dual-publish --commit`\n  Gate, not met: outbox table.');
    expect(before).toContain('- [ ] inbox of `MailController.onPlaced`: `npx outboxify inbox MailController.onPlaced --commit`');
    expect(await run(root, ['plan'])).toMatch(/^OUTBOX-MIGRATION\.md is current: 0 of/);
    expect(read(root, 'OUTBOX-MIGRATION.md')).toBe(before);
    writeFileSync(path.join(root, 'OUTBOX-MIGRATION.md'), `${before}\nAsk Kim about the broker.\n`);
    await run(root, ['migration', 'outbox', '--write']);
    await run(root, ['rewrite', 'OrderService.place', '--to', 'dual-publish', '--write']);
    await run(root, ['plan']);
    const after = read(root, 'OUTBOX-MIGRATION.md');
    expect(after).toContain('- [x] outbox table:');
    expect(after).toContain('- [x] dual-publish: `npx outboxify rewrite OrderService.place');
    expect(after).toContain('- [ ] outbox-only: `npx outboxify rewrite OrderService.place --to outbox-only --commit`\n  Gate, not met: inbox of every subscriber, cut-over, relay stable.');
    expect(after.endsWith('\nAsk Kim about the broker.\n')).toBe(true);
  });

  test('what no command can do is left to people, and says why', async () => {
    const inLoop = (orderProject['src/order.service.ts'] ?? '').replace("this.client.emit('order.placed', { orderId: order.id });", "for (const copy of [1, 2]) this.client.emit('order.placed', { orderId: order.id, copy });");
    const own = subscriberSource.replace('await this.orders.update(event.orderId, {});', 'await this.mark(event);').replace(/\}\n$/, `
  private async mark(event: { orderId: string }): Promise<void> {
    await this.orders.manager.transaction(async (manager) => {
      await manager.update(Order, event.orderId, {});
    });
  }
}
`);
    const root = temporaryProject({ ...project, 'src/order.service.ts': inLoop, 'src/mail.controller.ts': own });
    await run(root, ['plan']);
    const plan = read(root, 'OUTBOX-MIGRATION.md');
    expect(plan).toContain('- [ ] dual-publish: by hand, since no rewrite of it can be proved\n  The publish');
    expect(plan).toContain('- [ ] outbox-only: once dual-publish is done by hand, this plan says how\n');
    expect(plan).toContain("- [ ] inbox of `MailController.onPlaced`: by hand, since no rewrite of it can be proved\n  'this.mark(event)'");
    expect(plan).toContain("hand 'event' down to 'MailController.mark', await 'isFirstDelivery' as the first statement of the transaction, with the consumer 'orders.MailController.onPlaced'");
  });

  test('--dry-run prints a patch and writes nothing; --output names another file; JSON says what changed', async () => {
    const root = temporaryProject(project);
    expect(await run(root, ['plan', '--dry-run'])).toContain('+# Outbox migration');
    expect(existsSync(path.join(root, 'OUTBOX-MIGRATION.md'))).toBe(false);
    expect(JSON.parse(await run(root, ['plan', '--output', 'docs/outbox.md', '--format', 'json']))).toMatchObject({ outcome: 'written', files: [{ path: 'docs/outbox.md', change: 'created' }] });
    expect(JSON.parse(await run(root, ['plan', '--output', 'docs/outbox.md', '--format', 'json']))).toMatchObject({ outcome: 'nothing-to-do', files: [], patch: '' });
  });

  test("a file of that name that is someone else's is left alone", async () => {
    const root = temporaryProject({ ...project, 'OUTBOX-MIGRATION.md': '# Mine\n' });
    const { code, stderr } = await outboxify(['plan'], { cwd: root });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("'OUTBOX-MIGRATION.md' is not a plan of outboxify") });
    expect(read(root, 'OUTBOX-MIGRATION.md')).toBe('# Mine\n');
    await run(root, ['plan', '--output', 'src/order.ts'], 2);
  });
});

describe('status', () => {
  test('stage, gates and the next command, as text and as JSON', async () => {
    const root = temporaryProject(project);
    expect(await run(root, ['status'])).toMatch(/legacy +OrderService\.place +order\.placed +gate: outbox table/);
    await run(root, ['migration', 'outbox', '--write']);
    await run(root, ['rewrite', 'OrderService.place', '--to', 'dual-publish', '--write']);
    const status = JSON.parse(await run(root, ['status', '--format', 'json']));
    expect(status).toMatchObject({
      schemaVersion: 1,
      services: [{ name: 'orders', relay: false, cutOver: null, figures: null, outbox: { hasCode: true } }],
      handlers: [{ name: 'OrderService.place', stage: 'dual-publish', gates: [{ id: 'inboxes', met: false }, { id: 'cut-over', met: false }, { id: 'relay-stable', met: false }] }],
    });
    expect(status.next.map(({ step }: { step: string }) => step)).toEqual(['init', 'plan', 'baseline', 'inbox-table']);
  });

  test('an address that does not answer is an error; one of the environment is a note', async () => {
    const root = temporaryProject(project);
    const url = 'postgres://shop:pa55word@127.0.0.1:1/shop';
    const asked = await outboxify(['status', '--db', url], { cwd: root });
    expect(asked.code).toBe(2);
    const hinted = await outboxify(['status'], { cwd: root, env: { DATABASE_URL: url } });
    expect({ code: hinted.code, stderr: hinted.stderr }).toEqual({ code: 0, stderr: expect.stringContaining('No live figures: The database') });
    expect(`${asked.stdout}${asked.stderr}${hinted.stdout}${hinted.stderr}`).not.toContain('pa55word');
  });
});

describe('check', () => {
  test('ratchets: a first run complains, a recorded one does not, a new dual write and a step back do', async () => {
    const root = temporaryProject(project);
    expect(await run(root, ['check'], 1)).toContain("There is no baseline yet: 'outboxify check --update-baseline' accepts");
    await run(root, ['check', '--update-baseline']);
    const baseline = read(root, '.outboxify/baseline.json');
    expect(await run(root, ['check'])).toBe('No problem; 6 rules checked.\n');
    await run(root, ['check', '--update-baseline']);
    expect(read(root, '.outboxify/baseline.json')).toBe(baseline);
    const legacy = read(root, 'src/order.service.ts');
    writeFileSync(path.join(root, 'src/order.service.ts'), legacy.replace('async announce(): Promise<void> {', 'async announce(): Promise<void> {\n    await this.orders.delete({});'));
    expect(await run(root, ['check'], 1)).toMatch(/error {2}src\/order\.service\.ts:17 {2}new-dual-write\n {2}'OrderService\.announce'/);
    writeFileSync(path.join(root, 'src/order.service.ts'), legacy);
    await run(root, ['migration', 'outbox', '--write']);
    await run(root, ['rewrite', 'OrderService.place', '--to', 'dual-publish', '--write']);
    expect(await run(root, ['check'])).toMatch(/warning .* stale-baseline/);
    await run(root, ['check', '--update-baseline']);
    writeFileSync(path.join(root, 'src/order.service.ts'), legacy);
    const { problems } = JSON.parse(await run(root, ['check', '--format', 'json'], 1));
    expect(problems).toEqual([expect.objectContaining({ rule: 'stage-regression', severity: 'error', subject: 'code', object: 'src/order.service.ts', file: 'src/order.service.ts', line: 12 })]);
    expect(Object.keys(problems[0])).toEqual(['rule', 'severity', 'subject', 'object', 'file', 'line', 'message', 'fix']);
    expect(await run(root, ['check', '--format', 'github'], 1)).toMatch(/^::error file=src\/order\.service\.ts,line=12,title=stage-regression/);
    expect(JSON.parse(await run(root, ['check', '--format', 'gitlab'], 1))).toMatchObject([{ check_name: 'stage-regression', location: { path: 'src/order.service.ts' } }]);
  });

  test('--base takes the baseline of another revision, so that a branch can not accept its own', async () => {
    const { execFileSync } = await import('node:child_process');
    const root = temporaryProject(safeProject);
    const git = (...args: readonly string[]): void => void execFileSync('git', ['-c', 'user.name=Kim', '-c', 'user.email=kim@shop.example', ...args], { cwd: root, stdio: 'ignore' });
    git('init', '--initial-branch=main');
    await run(root, ['check', '--update-baseline']);
    git('add', '.');
    git('commit', '--message=base');
    writeFileSync(path.join(root, 'src/order.service.ts'), orderProject['src/order.service.ts'] ?? '');
    await run(root, ['check', '--update-baseline']);
    expect(await run(root, ['check'])).toBe('No problem; 6 rules checked.\n');
    expect(await run(root, ['check', '--base', 'main'], 1)).toContain('new-dual-write');
    await run(root, ['check', '--base', 'no-such-branch'], 2);
    await run(root, ['check', '--base', 'main', '--update-baseline'], 2);
  });

  test('a baseline that can not be read is an error', async () => {
    const root = temporaryProject({ ...project, '.outboxify/baseline.json': '{"handlers": 1}' });
    expect((await outboxify(['check'], { cwd: root })).stderr).toContain("'.outboxify/baseline.json' is not a baseline that this version can read.");
    await run(root, ['check'], 2);
  });
});

test('outbox-only is refused until its gate is met; --force says why, and the commit repeats it', async () => {
  const root = temporaryProject(project);
  const { execFileSync } = await import('node:child_process');
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  await run(root, ['migration', 'outbox', '--write']);
  await run(root, ['rewrite', 'OrderService.place', '--to', 'dual-publish', '--write']);
  git('init', '--quiet');
  git('config', 'user.name', 'Kim');
  git('config', 'user.email', 'kim@shop.example');
  git('add', '.');
  git('commit', '--quiet', '--message=dual-publish');
  const args = ['rewrite', 'OrderService.place', '--to', 'outbox-only', '--commit'];
  const { outcome, reasons } = JSON.parse(await run(root, [...args, '--format', 'json'], 1));
  expect(outcome).toBe('refused');
  expect(reasons.map(({ code }: { code: string }) => code)).toEqual(['subscriber-without-inbox', 'no-cut-over', 'no-relay', 'gate-not-met']);
  expect(git('status', '--porcelain')).toBe('');
  await run(root, [...args, '--force', 'the queue is drained by hand']);
  expect(git('log', '-1', '--format=%B')).toContain('Gate passed by hand: the queue is drained by hand');
  const { handlers } = JSON.parse(await run(root, ['status', '--format', 'json']));
  expect(handlers).toMatchObject([{ name: 'OrderService.place', stage: 'outbox-only', kind: null, gates: [] }]);
});
