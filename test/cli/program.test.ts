import { describe, expect, test } from 'vitest';
import type { Commands } from '../../src/cli/commands.js';
import { createProgram } from '../../src/cli/program.js';
import { exitCode } from '../../src/core/exit-code.js';

interface Call {
  readonly command: string;
  readonly options: object;
}

/** Parses a command line with every command replaced by a recorder. */
async function parse(...args: readonly string[]): Promise<Call> {
  const calls: Call[] = [];
  const record = (command: string) => async (options: object) => {
    calls.push({ command, options });
    return exitCode.findings;
  };
  const names = ['scan', 'explain', 'init', 'plan', 'migration', 'rewrite', 'inbox', 'relay', 'status', 'check', 'ops', 'wizard'] as const;
  const commands = Object.fromEntries(names.map((name) => [name, record(name)])) as unknown as Commands;
  let code: number | null = null;
  await createProgram((answer) => { code = answer; }, commands).parseAsync(['node', 'outboxify', ...args]);
  expect(code).toBe(exitCode.findings);
  const [call, second] = calls;
  if (!call || second) throw new Error(`${calls.length} commands ran`);
  return call;
}

const usual = { format: 'pretty', color: true };

describe('a command line and the options it becomes', () => {
  const table: readonly (readonly [line: string, command: string, options: object])[] = [
    ['', 'wizard', usual],
    ['--cwd shop --quiet', 'wizard', { ...usual, cwd: 'shop', quiet: true }],
    ['scan', 'scan', { ...usual, paths: [] }],
    ['scan src lib/a.ts', 'scan', { ...usual, paths: ['src', 'lib/a.ts'] }],
    ['scan --format sarif --output x.sarif --no-color', 'scan', { format: 'sarif', output: 'x.sarif', color: false, paths: [] }],
    ['scan --cwd shop --config conf/o.json', 'scan', { ...usual, cwd: 'shop', config: 'conf/o.json', paths: [] }],
    ['--cwd shop scan', 'scan', { ...usual, cwd: 'shop', paths: [] }],
    ['--cwd shop --format json scan --cwd other', 'scan', { ...usual, format: 'json', cwd: 'other', paths: [] }],
    ['explain OrderService.place', 'explain', { ...usual, subject: 'OrderService.place' }],
    ['init', 'init', usual],
    ['init --force --format json', 'init', { ...usual, format: 'json', force: true }],
    ['plan', 'plan', usual],
    ['plan --dry-run --output PLAN.md', 'plan', { ...usual, dryRun: true, output: 'PLAN.md' }],
    ['migration outbox', 'migration', { ...usual, table: 'outbox' }],
    ['migration inbox --write --name AddInbox --two-columns --service mail', 'migration', { ...usual, table: 'inbox', write: true, name: 'AddInbox', twoColumns: true, service: 'mail' }],
    ['rewrite OrderService.place --to dual-publish', 'rewrite', { ...usual, handler: 'OrderService.place', to: 'dual-publish' }],
    ['rewrite a --to outbox-only --write --commit --branch b --pr --force because --allow-dirty', 'rewrite',
      { ...usual, handler: 'a', to: 'outbox-only', write: true, commit: true, branch: 'b', pr: true, force: 'because', allowDirty: true }],
    ['rewrite a --to outbox-only --db postgres://x --aggregate-id order.id', 'rewrite', { ...usual, handler: 'a', to: 'outbox-only', db: 'postgres://x', aggregateId: 'order.id' }],
    ['rewrite a --undo', 'rewrite', { ...usual, handler: 'a', undo: true }],
    ['rewrite a --to dual-publish --event order.placed --aggregate-type Order', 'rewrite', { ...usual, handler: 'a', to: 'dual-publish', event: 'order.placed', aggregateType: 'Order' }],
    ['inbox Mail.onPlaced --write --commit', 'inbox', { ...usual, subscriber: 'Mail.onPlaced', write: true, commit: true }],
    ['inbox Mail.onPlaced --branch b --pr --allow-dirty', 'inbox', { ...usual, subscriber: 'Mail.onPlaced', branch: 'b', pr: true, allowDirty: true }],
    ['inbox Mail.onPlaced --undo', 'inbox', { ...usual, subscriber: 'Mail.onPlaced', undo: true }],
    ['relay --service orders --write', 'relay', { ...usual, service: 'orders', write: true }],
    ['relay --module src/app.module.ts#AppModule --force tested', 'relay', { ...usual, module: 'src/app.module.ts#AppModule', force: 'tested' }],
    ['status --db postgres://x', 'status', { ...usual, db: 'postgres://x' }],
    ['status --record --service mail', 'status', { ...usual, record: true, service: 'mail' }],
    ['check --db postgres://x --service a --base main --format github', 'check', { ...usual, db: 'postgres://x', service: 'a', base: 'main', format: 'github' }],
    ['check --update-baseline', 'check', { ...usual, updateBaseline: true }],
    ['ops lag --service orders', 'ops', { ...usual, action: 'lag', ids: [], service: 'orders' }],
    ['ops failed --limit 5 --type order.placed', 'ops', { ...usual, action: 'failed', ids: [], limit: 5, type: 'order.placed' }],
    ['ops retry a b --write', 'ops', { ...usual, action: 'retry', ids: ['a', 'b'], write: true }],
    ['ops retry --all', 'ops', { ...usual, action: 'retry', ids: [], all: true }],
    ['ops purge --days 7 --batch 100 --table inbox', 'ops', { ...usual, action: 'purge', ids: [], days: 7, batch: 100, table: 'inbox' }],
    ['ops purge --message-days 3 --retry-days 2', 'ops', { ...usual, action: 'purge', ids: [], messageDays: 3, retryDays: 2 }],
    ['ops cut-over --before 2026-03-01T12:00:00Z --db x', 'ops', { ...usual, action: 'cut-over', ids: [], before: '2026-03-01T12:00:00Z', db: 'x' }],
  ];

  test.each(table)('outboxify %s', async (line, command, options) => {
    expect(await parse(...line.split(' ').filter(Boolean))).toEqual({ command, options });
  });

  test('every flag of every command is in the table', () => {
    const lines = table.map(([line]) => line);
    const untested = createProgram(() => undefined).commands.flatMap((command) =>
      command.options
        .filter(({ long }) => !['--cwd', '--config', '--format', '--quiet', '--no-color'].includes(long ?? ''))
        .filter(({ long }) => !lines.some((line) => line.includes(command.name()) && line.split(' ').includes(long ?? '')))
        .map(({ long }) => `${command.name()} ${long}`),
    );
    expect(untested).toEqual([]);
  });
});

describe('a command line that is refused', () => {
  test.each([
    ['scna', 'unknown-command'],
    ['scan --nope', 'commander.unknownOption'],
    ['scan --no-cache', 'commander.unknownOption'],
    ['scan --format xml', 'commander.invalidArgument'],
    ['plan --format sarif', 'commander.invalidArgument'],
    ['explain', 'commander.missingArgument'],
    ['rewrite a --to done', 'commander.invalidArgument'],
    ['rewrite a b --to dual-publish', 'commander.excessArguments'],
    ['migration orders', 'commander.invalidArgument'],
    ['migration', 'commander.missingArgument'],
    ['ops', 'commander.missingArgument'],
    ['ops destroy', 'commander.invalidArgument'],
    ['ops purge --days 0', 'commander.invalidArgument'],
    ['ops purge --days 1.5', 'commander.invalidArgument'],
    ['ops failed --limit ten', 'commander.invalidArgument'],
    ['ops cut-over --before yesterday', 'commander.invalidArgument'],
    ['ops cut-over --before 2026-03-01T12:00:00', 'commander.invalidArgument'],
    ['ops cut-over --before 2026-13-01T12:00:00Z', 'commander.invalidArgument'],
  ])('outboxify %s', async (line, code) => {
    await expect(parse(...line.split(' '))).rejects.toMatchObject({ code });
  });
});
