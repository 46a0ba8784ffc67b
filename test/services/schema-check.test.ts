import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/core/problem.js';
import { checkDatabase, checkUrl } from '../../src/schema/check.js';
import { withConnection, type DatabaseConnection } from '../../src/schema/connection.js';
import { createStatements } from '../../src/schema/create.js';
import { inboxTable, outboxTable } from '../../src/schema/tables.js';
import { freshDatabase } from './service.js';

const database = await freshDatabase();
const directory = path.resolve('fixtures/schema/postgresql');
const cases = readdirSync(directory).filter((file) => file.endsWith('.sql')).map((file) => path.basename(file, '.sql'));
const tables = { outbox: 'outbox', inbox: 'inbox', schema: null };

describe.skipIf(!database.available)('the schema check, on each fixture', () => {
  it.each(cases)('%s', async (name) => {
    const schema = name.replaceAll('-', '_');
    await inSchema(schema, async (connection) => {
      const { expected, statements } = readFixture(name);
      for (const { sql, fails } of statements) {
        const failure = await connection.execute(sql).then(() => null, (error: unknown) => error);
        expect(failure === null ? null : String(failure), sql).toEqual(fails ? expect.stringContaining('answered with an error') : null);
      }
      const problems = await checkDatabase(connection, tables);
      expect(problems.map(({ rule }) => rule)).toEqual(expected);
      await mend(connection, problems);
    });
  });
});

/** Runs what the problems say; the check is clean afterwards. */
async function mend(connection: DatabaseConnection, problems: readonly Problem[]): Promise<void> {
  for (const { fix, rule, message, object } of problems) {
    expect(message, rule).toMatch(/\.$/);
    expect(object, rule).not.toBe('');
    if (fix.startsWith('outboxify ')) return;
    for (const statement of fix.split(/;\n?/).filter((text) => text !== '')) await connection.execute(statement);
  }
  if (problems.length > 0) expect(await checkDatabase(connection, tables)).toEqual([]);
}

describe.skipIf(!database.available)('where the tables are', () => {
  it('resolves names as the connection does, and says where else a table of that name is', async () => {
    await inSchema('tenant_a', async () => undefined);
    await run('CREATE SCHEMA tenant_b');
    const problems = await withConnection(urlWith('tenant_b'), (connection) => checkDatabase(connection, tables));
    expect(problems.map(({ rule, object }) => [rule, object])).toEqual([['table-missing', 'outbox'], ['table-missing', 'inbox']]);
    expect(problems[0]?.message).toContain("'tenant_a'");
  });

  it('looks at the first table on the search_path, not at a better one behind it', async () => {
    await run('CREATE SCHEMA first_hit');
    await run('CREATE TABLE first_hit.outbox (LIKE tenant_a.outbox)');
    const problems = await withConnection(urlWith('first_hit,tenant_a'), (connection) => checkDatabase(connection, tables));
    expect(problems.map(({ rule, object }) => [rule, object])).toEqual([['outbox-primary-key', 'first_hit.outbox'], ['outbox-index', 'first_hit.outbox']]);
  });

  it('takes schema and names from the configuration', async () => {
    await run('CREATE SCHEMA "Messaging"');
    for (const statement of createStatements(outboxTable, { schema: 'Messaging', name: 'Ausgang' })) await run(statement);
    for (const statement of createStatements(inboxTable, { schema: 'Messaging', name: 'Eingang' })) await run(statement);
    expect((await checkUrl(database.url, { schema: 'Messaging', outbox: 'Ausgang', inbox: 'Eingang' })).problems).toEqual([]);
  });

  it('needs no more than a login', async () => {
    await run("CREATE ROLE watcher LOGIN PASSWORD 'watcher'");
    await run('GRANT USAGE ON SCHEMA tenant_a TO watcher');
    const url = new URL(urlWith('tenant_a'));
    url.username = 'watcher';
    url.password = 'watcher';
    expect((await checkUrl(url.href)).problems).toEqual([]);
    await run('DROP OWNED BY watcher');
    await run('DROP ROLE watcher');
  });

  it('of two equal indexes, keeps the one that the entity declares', async () => {
    await inSchema('equal_indexes', async (connection) => {
      await connection.execute('CREATE INDEX a_first ON outbox (status, occurred_at, available_at)');
      expect((await checkDatabase(connection, tables)).map(({ fix }) => fix)).toEqual(['DROP INDEX CONCURRENTLY "equal_indexes"."a_first";']);
    });
  });

  it('sees an index whose CREATE INDEX CONCURRENTLY was cancelled', async () => {
    await inSchema('cancelled', async (connection) => {
      await connection.execute('DROP INDEX idx_outbox_status_time');
      const writer = new pg.Client({ connectionString: urlWith('cancelled') });
      await writer.connect();
      await writer.query('BEGIN');
      await writer.query("INSERT INTO outbox VALUES (gen_random_uuid(), 'a', '1', 't', '{}')");
      await connection.execute("SET lock_timeout = '200ms'");
      await expect(connection.execute('CREATE INDEX CONCURRENTLY idx_outbox_status_time ON outbox (status, occurred_at)')).rejects.toThrow(/lock timeout/);
      await writer.query('COMMIT');
      await writer.end();
      await connection.execute('CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_outbox_status_time ON outbox (status, occurred_at)');
      const problems = await checkDatabase(connection, tables);
      expect(problems.map(({ rule }) => rule)).toEqual(['outbox-index-unusable']);
      await mend(connection, problems);
    });
  });
});

interface Fixture {
  readonly expected: readonly string[];
  readonly statements: readonly { readonly sql: string; readonly fails: boolean }[];
}

/** First line: `-- expect:` and the rules, or `none`. A statement below `-- fails` must fail. */
function readFixture(name: string): Fixture {
  const text = readFileSync(path.join(directory, `${name}.sql`), 'utf8');
  const rules = /^-- expect: (.+)\n/.exec(text)?.[1]?.split(' ') ?? [];
  expect(rules, `${name}.sql begins with '-- expect: <rules>'`).not.toEqual([]);
  const statements = text.split(/;\n/).map((part) => ({ sql: part.replace(/^--.*\n?/gm, '').trim(), fails: /^-- fails$/m.test(part) }));
  return { expected: rules[0] === 'none' ? [] : rules, statements: statements.filter(({ sql }) => sql !== '') };
}

/** A schema of its own with both tables as generated, first on the search_path. */
async function inSchema(schema: string, use: (connection: DatabaseConnection) => Promise<void>): Promise<void> {
  await run(`CREATE SCHEMA ${schema}`);
  await withConnection(urlWith(`${schema},public`), async (connection) => {
    for (const statement of createStatements(outboxTable, { schema: null, name: 'outbox' })) await connection.execute(statement);
    for (const statement of createStatements(inboxTable, { schema: null, name: 'inbox' })) await connection.execute(statement);
    await use(connection);
  });
}

function urlWith(searchPath: string): string {
  const url = new URL(database.url);
  url.searchParams.set('options', `-c search_path=${searchPath}`);
  return url.href;
}

async function run(statement: string): Promise<void> {
  await withConnection(database.url, (connection) => connection.execute(statement));
}
