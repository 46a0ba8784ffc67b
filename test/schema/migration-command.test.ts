import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runMigration } from '../../src/cli/migration/index.js';
import type { MigrationOptions } from '../../src/cli/options.js';
import type { ChangeOutcome } from '../../src/core/outcome.js';
import { temporaryProject } from '../project.js';

const clock = (): number => 1_750_000_000_000;
const printed: string[] = [];
const service = (name: string): string => JSON.stringify({ name, dependencies: { typeorm: '^0.3.0', pg: '^8.0.0' } });
const single = { 'package.json': service('orders'), 'src/main.ts': "import 'reflect-metadata';\n" };

beforeEach(() => {
  printed.length = 0;
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
});
afterEach(() => vi.restoreAllMocks());

async function migration(root: string, options: Partial<MigrationOptions> = {}): Promise<{ code: number; outcome: ChangeOutcome }> {
  printed.length = 0;
  const code = await runMigration({ cwd: root, table: 'outbox', format: 'json', quiet: true, ...options }, clock);
  return { code, outcome: JSON.parse(printed.join('')) as ChangeOutcome };
}

describe('outboxify migration', () => {
  it('writes nothing without --write, and prints a patch that git applies to the same effect', async () => {
    const root = temporaryProject(single);
    const { code, outcome } = await migration(root);
    expect([code, outcome.outcome]).toEqual([0, 'dry-run']);
    expect(readdirSync(path.join(root, 'src'))).toEqual(['main.ts']);
    execFileSync('git', ['init', '-q'], { cwd: root });
    execFileSync('git', ['apply', '-'], { cwd: root, input: outcome.patch });
    const applied = outcome.files.map((file) => readFileSync(path.join(root, file.path), 'utf8'));

    const other = temporaryProject(single);
    const written = await migration(other, { write: true });
    expect(written.outcome).toEqual({ ...outcome, outcome: 'written' });
    expect(written.outcome.files.map((file) => readFileSync(path.join(other, file.path), 'utf8'))).toEqual(applied);
    expect(await migration(other, { write: true })).toEqual({ code: 0, outcome: { outcome: 'nothing-to-do', reasons: [], files: [], patch: '' } });
  });

  it("formats what it writes with the project's Prettier, and ends lines as the project does", async () => {
    const prettier = {
      '.prettierrc': '{"semi": false, "singleQuote": true, "tabWidth": 4}',
      'node_modules/prettier/package.json': '{"name":"prettier","type":"module","exports":"./index.js"}',
      'node_modules/prettier/index.js': `export * from ${JSON.stringify(import.meta.resolve('prettier'))};`,
    };
    const root = temporaryProject({ ...single, ...prettier, 'src/main.ts': "import 'reflect-metadata'\r\n" });
    const { outcome } = await migration(root, { write: true });
    const { check } = await import('prettier');
    const files = outcome.files.map(({ path: file }) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));
    expect(files.length).toBeGreaterThan(4);
    for (const { file, text } of files) {
      expect([file, await check(text, { semi: false, singleQuote: true, tabWidth: 4, endOfLine: 'crlf', filepath: file })]).toEqual([file, true]);
    }
    expect((await migration(root, { write: true })).outcome.outcome).toBe('nothing-to-do');
  });

  it('refuses with exit code 1 where a file is in the way, and writes none of the others', async () => {
    const root = temporaryProject({ ...single, 'src/outbox/routes.ts': 'export const routes = [];\n' });
    const { code, outcome } = await migration(root, { write: true });
    expect([code, outcome.outcome, outcome.reasons.map((reason) => reason.code)]).toEqual([1, 'refused', ['file-exists']]);
    expect(existsSync(path.join(root, 'src/migrations'))).toBe(false);
    expect(readdirSync(path.join(root, 'src/outbox'))).toEqual(['routes.ts']);
  });

  it('asks for the service where there are several, and writes below the one that is named', async () => {
    const root = temporaryProject({
      'package.json': '{"name":"shop","private":true}',
      'services/orders/package.json': service('orders'),
      'services/orders/src/main.ts': 'export {};\n',
      'services/payments/package.json': service('payments'),
      'services/payments/src/main.ts': 'export {};\n',
    });
    await expect(migration(root)).rejects.toMatchObject({ code: 'service-needed', hint: expect.stringContaining("'orders', 'payments'") });
    await expect(migration(root, { service: 'shipping' })).rejects.toMatchObject({ code: 'unknown-service' });
    const { outcome } = await migration(root, { service: 'payments' });
    expect(outcome.files.every((file) => file.path.startsWith('services/payments/src/'))).toBe(true);
  });

  it('takes the name of the migration', async () => {
    const root = temporaryProject(single);
    expect((await migration(root, { name: 'AddMessageOutbox' })).outcome.files[0]?.path).toBe('src/migrations/1750000000000-add-message-outbox.ts');
    for (const name of ['', '../outside', '1st', 'a;b']) await expect(migration(root, { name })).rejects.toMatchObject({ code: 'bad-migration-name' });
  });

  it('puts nothing half-written where a directory can not be made', async () => {
    const root = temporaryProject(single);
    mkdirSync(path.join(root, 'src/migrations'));
    writeFileSync(path.join(root, 'src/outbox'), 'a file, not a directory');
    await expect(migration(root, { write: true })).rejects.toMatchObject({ name: 'ToolError' });
    expect(readdirSync(path.join(root, 'src/migrations'))).toEqual([]);
  });
});
