import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderProject, subscriberSource } from '../cli/project.js';
import { outboxify } from '../cli/run.js';
import { temporaryProject } from '../project.js';
import { connectWithTables } from './generated-tables.js';
import { freshDatabase } from './service.js';

const database = await freshDatabase();
const reader = `reader_${database.name}`;
const secret = 'read-only-pa55word';

describe.skipIf(!database.available)('status, check and the gate on a database', () => {
  let root = '';
  let readOnlyUrl = '';
  const query = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };

  beforeAll(async () => {
    root = temporaryProject({ ...orderProject, 'src/mail.controller.ts': subscriberSource });
    for (const args of [['migration', 'outbox'], ['rewrite', 'OrderService.place', '--to', 'dual-publish'], ['migration', 'inbox'], ['inbox', 'MailController.onPlaced']]) {
      expect(await outboxify([...args, '--write'], { cwd: root })).toMatchObject({ code: 0 });
    }
    await (await connectWithTables(database.url)).destroy();
    await query(`CREATE ROLE ${reader} LOGIN PASSWORD '${secret}'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${reader}`);
    const url = new URL(database.url);
    [url.username, url.password] = [reader, secret];
    readOnlyUrl = url.href;
  });

  afterAll(async () => {
    if (readOnlyUrl !== '') await query(`DROP OWNED BY ${reader}; DROP ROLE ${reader}`);
  });

  test('check --db needs no project, and no right but reading', async () => {
    const result = await outboxify(['check', '--db', readOnlyUrl, '--format', 'json'], { cwd: temporaryProject({}) });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const { problems, checked } = JSON.parse(result.stdout);
    expect(problems).toEqual([]);
    expect(checked).toContain('outbox-index');
    expect(checked).not.toContain('new-dual-write');
    await query('DROP INDEX idx_outbox_status_time');
    const broken = await outboxify(['check', '--db', readOnlyUrl], { cwd: temporaryProject({}) });
    expect(broken).toMatchObject({ code: 1, stdout: expect.stringMatching(/error {2}public\.outbox {2}outbox-index\n[\s\S]*fix {2}CREATE INDEX/) });
    expect(`${broken.stdout}${broken.stderr}`).not.toContain(secret);
    await query('CREATE INDEX idx_outbox_status_time ON outbox (status, occurred_at, available_at)');
  });

  test('in a project, check --db looks at code and tables, and only at the tables that the code uses', async () => {
    await query('ALTER TABLE inbox RENAME TO inbox_elsewhere');
    const both = JSON.parse((await outboxify(['check', '--db', readOnlyUrl, '--format', 'json'], { cwd: root })).stdout);
    expect(both.checked).toEqual(expect.arrayContaining(['new-dual-write', 'table-missing']));
    expect(both.problems).toEqual([expect.objectContaining({ rule: 'table-missing', subject: 'inbox' })]);
    const publisher = temporaryProject(orderProject);
    await outboxify(['migration', 'outbox', '--write'], { cwd: publisher });
    await outboxify(['check', '--update-baseline'], { cwd: publisher });
    expect(await outboxify(['check', '--db', readOnlyUrl], { cwd: publisher })).toMatchObject({ code: 0 });
    await query('ALTER TABLE inbox_elsewhere RENAME TO inbox');
  });

  test('status shows live figures with a read-only user, prints no secret and writes nothing', async () => {
    await query("INSERT INTO outbox (id, aggregate_type, aggregate_id, message_type, payload) VALUES (gen_random_uuid(), 'Order', '1', 'order.placed', '{}')");
    const text = await outboxify(['status'], { cwd: root, env: { DATABASE_URL: readOnlyUrl } });
    expect(text).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/rows +1 pending, the oldest for \d+ s, 0 failed, 0 sent/) });
    const json = await outboxify(['status', '--db', readOnlyUrl, '--format', 'json'], { cwd: root });
    expect(JSON.parse(json.stdout).services[0].figures.outbox.pending.count).toBe(1);
    expect(`${text.stdout}${json.stdout}`).not.toContain(secret);
    expect(() => readFileSync(path.join(root, '.outboxify/evidence.json'))).toThrow();
  });

  test('outbox-only waits for what the database says, and --record keeps it', async () => {
    const args = ['rewrite', 'OrderService.place', '--to', 'outbox-only', '--format', 'json'];
    const reasons = async (env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> =>
      JSON.parse((await outboxify(args, { cwd: root, env })).stdout).reasons.map(({ code }: { code: string }) => code);
    expect(await outboxify(['ops', 'cut-over', '--db', database.url, '--write'], { cwd: root })).toMatchObject({ code: 0 });
    expect(await outboxify(['relay', '--write', '--module', 'src/app.module.ts#AppModule'], { cwd: root })).toMatchObject({ code: 2 });
    expect(await reasons({ DATABASE_URL: readOnlyUrl })).toEqual(['no-relay', 'no-figures', 'gate-not-met']);
    const app = "import { Module } from '@nestjs/common';\n\n@Module({})\nexport class AppModule {}\n";
    const { writeFileSync } = await import('node:fs');
    writeFileSync(path.join(root, 'src/app.module.ts'), app);
    expect(await outboxify(['relay', '--write'], { cwd: root })).toMatchObject({ code: 0 });
    expect(await reasons({ DATABASE_URL: readOnlyUrl })).toEqual(['relay-silent', 'no-figures', 'gate-not-met']);
    await query("INSERT INTO outbox (id, aggregate_type, aggregate_id, message_type, payload, status, sent_at) VALUES (gen_random_uuid(), 'Order', '2', 'order.placed', '{}', 'sent', now())");
    await query("INSERT INTO inbox (event_id, consumer, duplicates) VALUES (gen_random_uuid(), 'orders.MailController.onPlaced', 0)");
    expect(await reasons({ DATABASE_URL: readOnlyUrl })).toEqual(['no-duplicates', 'gate-not-met']);
    await query('UPDATE inbox SET duplicates = 1');
    expect(await reasons()).toEqual(['no-figures', 'no-figures', 'gate-not-met']);
    expect(await outboxify(['status', '--db', readOnlyUrl, '--record'], { cwd: root })).toMatchObject({ code: 0 });
    const evidence = readFileSync(path.join(root, '.outboxify/evidence.json'), 'utf8');
    expect(evidence).toContain('"inbox-figures"');
    expect(evidence).not.toContain(secret);
    expect(JSON.parse((await outboxify(args, { cwd: root })).stdout)).toMatchObject({ outcome: 'dry-run', reasons: [] });
    expect(JSON.parse((await outboxify([...args, '--db', readOnlyUrl], { cwd: root })).stdout)).toMatchObject({ outcome: 'dry-run', reasons: [] });
  });
});
