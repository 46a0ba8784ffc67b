import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { runMigration } from '../../src/cli/migration/index.js';
import { checkUrl } from '../../src/schema/check.js';
import { withConnection } from '../../src/schema/connection.js';
import { temporaryProject } from '../project.js';
import { freshDatabase } from './service.js';

const run = promisify(execFile);
const database = await freshDatabase();
const clock = (): number => 1_750_000_000_000;

const made: string[] = [];
afterAll(async () => {
  for (const name of made) await withConnection(database.url, (connection) => connection.execute(`DROP DATABASE ${name}`));
});
// The commands print what they did.
vi.spyOn(process.stdout, 'write').mockReturnValue(true);

interface Variant {
  readonly name: string;
  readonly schema: string | null;
  readonly outbox: string;
  readonly inbox: string;
  readonly twoColumns: boolean;
  /** Package of TypeORM: the current 0.3, or 1. */
  readonly typeorm: 'typeorm' | 'typeorm-1';
}

const variants: readonly Variant[] = [
  { name: 'usual names', schema: null, outbox: 'outbox', inbox: 'inbox', twoColumns: false, typeorm: 'typeorm' },
  { name: 'two columns', schema: null, outbox: 'outbox', inbox: 'inbox', twoColumns: true, typeorm: 'typeorm' },
  { name: 'a schema and other names', schema: 'messaging', outbox: 'order_outbox', inbox: 'order_inbox', twoColumns: false, typeorm: 'typeorm' },
  { name: 'TypeORM 1', schema: null, outbox: 'outbox', inbox: 'inbox', twoColumns: false, typeorm: 'typeorm-1' },
];

describe.skipIf(!database.available).each(variants)('generated migrations, with the real TypeORM: $name', (variant) => {
  it('go up, down and up again; TypeORM then finds nothing to do, and the check is clean', async () => {
    const url = await databaseOf(variant);
    const root = temporaryProject(projectFiles(variant));
    linkDependencies(root, variant);
    for (const table of ['outbox', 'inbox'] as const) {
      expect(await runMigration({ cwd: root, table, write: true, quiet: true, format: 'json', twoColumns: variant.twoColumns }, clock)).toBe(0);
    }
    await compile(root);
    const typeorm = (...args: string[]): Promise<string> => runTypeorm(root, url, args);

    await typeorm('migration:run');
    const tables = { outbox: variant.outbox, inbox: variant.inbox, schema: variant.schema };
    expect((await checkUrl(url, tables)).problems).toEqual([]);
    await typeorm('migration:revert');
    await typeorm('migration:revert');
    expect((await checkUrl(url, tables)).problems.map(({ rule }) => rule)).toEqual(['table-missing', 'table-missing']);
    await typeorm('migration:run');
    expect((await checkUrl(url, tables)).problems).toEqual([]);

    // The command that projects run after every change of an entity: it ends with 1 and prints the statements when there is something to do.
    expect(await typeorm('migration:generate', '--check', 'src/migrations/anything')).toContain('No changes in database schema were found');
    expect(await schemaLog(root, url)).toEqual({ up: [], down: [] });
  });
});

describe.skipIf(!database.available)('the proof itself', () => {
  it('notices what TypeORM would change', async () => {
    const variant: Variant = { name: 'proof', schema: null, outbox: 'outbox', inbox: 'inbox', twoColumns: false, typeorm: 'typeorm' };
    const url = await databaseOf(variant);
    const root = temporaryProject(projectFiles(variant));
    linkDependencies(root, variant);
    await runMigration({ cwd: root, table: 'outbox', write: true, quiet: true, format: 'json' }, clock);
    await compile(root);
    await runTypeorm(root, url, ['migration:run']);
    await withConnection(url, (connection) => connection.execute('CREATE INDEX by_hand ON outbox (message_type)'));
    await expect(runTypeorm(root, url, ['migration:generate', '--check', 'src/migrations/anything'])).rejects.toMatchObject({ stdout: expect.stringContaining('by_hand') });
  });
});

/** A database per variant: TypeORM keeps its own table of migrations in it. */
async function databaseOf({ name, schema }: Variant): Promise<string> {
  const own = `${database.name}_${name.replace(/\W/g, '').toLowerCase()}`;
  await withConnection(database.url, (connection) => connection.execute(`CREATE DATABASE ${own}`));
  made.push(own);
  const url = new URL(database.url);
  url.pathname = `/${own}`;
  if (schema !== null) await withConnection(url.href, (connection) => connection.execute(`CREATE SCHEMA ${schema}`));
  return url.href;
}

function projectFiles({ schema, outbox, inbox }: Variant): Record<string, string> {
  return {
    'package.json': JSON.stringify({ name: 'orders', dependencies: { typeorm: '^0.3.0', pg: '^8.0.0', '@nestjs/microservices': '^11.0.0' } }),
    'outboxify.json': JSON.stringify({ schemaVersion: 1, tables: { outbox, inbox, schema } }),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        target: 'ES2022', module: 'CommonJS', moduleResolution: 'Node', ignoreDeprecations: '5.0', outDir: 'dist', rootDir: 'src', strict: true,
        experimentalDecorators: true, emitDecoratorMetadata: true, esModuleInterop: true, skipLibCheck: true, types: ['node'],
      },
      include: ['src'],
    }),
    'src/data-source.ts': [
      "import { DataSource } from 'typeorm';",
      '',
      'export default new DataSource({',
      "  type: 'postgres',",
      '  url: process.env.DATABASE_URL,',
      "  entities: [__dirname + '/**/*.entity.{ts,js}'],",
      "  migrations: [__dirname + '/migrations/*.{ts,js}'],",
      '});',
      '',
    ].join('\n'),
  };
}

/** The project's own dependencies, with the TypeORM that it names. */
function linkDependencies(root: string, { typeorm }: Variant): void {
  mkdirSync(path.join(root, 'node_modules'));
  for (const [name, target] of [['typeorm', typeorm], ['pg', 'pg'], ['@types', '@types'], ['reflect-metadata', 'reflect-metadata']] as const) {
    symlinkSync(path.resolve('node_modules', target), path.join(root, 'node_modules', name));
  }
}

async function compile(root: string): Promise<void> {
  await run(process.execPath, [path.resolve('node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: root }).catch((error: { stdout?: string }) => {
    throw new Error(`the generated code does not compile: ${error.stdout ?? ''}`);
  });
}

async function runTypeorm(root: string, url: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [path.join(root, 'node_modules/typeorm/cli.js'), ...args, '-d', 'dist/data-source.js'], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: url },
  });
  return stdout;
}

/** What `synchronize` would run, both ways. */
async function schemaLog(root: string, url: string): Promise<unknown> {
  mkdirSync(path.join(root, 'check'));
  const script = path.join(root, 'check/log.cjs');
  writeFileSync(script, [
    "const dataSource = require('../dist/data-source.js').default;",
    '(async () => {',
    '  await dataSource.initialize();',
    '  const log = await dataSource.driver.createSchemaBuilder().log();',
    '  console.log(JSON.stringify({ up: log.upQueries.map(({ query }) => query), down: log.downQueries.map(({ query }) => query) }));',
    '  await dataSource.destroy();',
    '})();',
  ].join('\n'));
  const { stdout } = await run(process.execPath, [script], { cwd: root, env: { ...process.env, DATABASE_URL: url } });
  return JSON.parse(stdout);
}
