import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { reportError } from '../../src/cli/errors.js';
import { runOps } from '../../src/cli/ops/index.js';
import type { OpsOptions } from '../../src/cli/options.js';
import { createUi } from '../../src/cli/ui.js';
import { withConnection, type DatabaseConnection } from '../../src/schema/connection.js';
import { createStatements } from '../../src/schema/create.js';
import { readFigures } from '../../src/schema/operations/figures.js';
import { defaultTables, inboxTable, outboxTable } from '../../src/schema/tables.js';
import { temporaryProject } from '../project.js';
import { freshDatabase } from './service.js';

const database = await freshDatabase();
const printed: string[] = [];
let root = '';

describe.skipIf(!database.available)('ops', () => {
  beforeEach(async () => {
    root = temporaryProject({ 'package.json': JSON.stringify({ name: 'orders', dependencies: { typeorm: '^0.3.0' } }) });
    printed.length = 0;
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    await withConnection(database.url, async (connection) => {
      await connection.execute('DROP TABLE IF EXISTS outbox, inbox');
      for (const spec of [outboxTable, inboxTable]) for (const statement of createStatements(spec, { schema: null, name: spec.role })) await connection.execute(statement);
    });
  });
  afterEach(() => vi.restoreAllMocks());

  it('lag says how far the relay is behind, by type', async () => {
    await insert({ status: 'pending', age: '2 hours', count: 3 });
    await insert({ status: 'pending', age: '1 minute', type: 'order.paid' });
    await insert({ status: 'failed', age: '1 day', type: 'order.paid' });
    const [sent = ''] = await insert({ status: 'sent', age: '1 day' });
    await run("INSERT INTO inbox (event_id, consumer, duplicates) VALUES (gen_random_uuid(), 'billing', 2), (gen_random_uuid(), 'billing', 0)");
    const answer = await ops({ action: 'lag' });
    expect(answer).toMatchObject({
      outbox: {
        pending: { count: 4, isCapped: false }, failed: { count: 1 }, sent: { count: 1 }, cutOver: { count: 0 },
        lastSentAt: (await rows<{ at: Date }>(`SELECT sent_at AS at FROM outbox WHERE id = '${sent}'`))[0]?.at.toISOString(),
        types: [{ type: 'order.placed', pending: 3, failed: 0 }, { type: 'order.paid', pending: 1, failed: 1 }],
      },
      inbox: { consumers: [{ consumer: 'billing', messages: 2, duplicates: 2 }], isCapped: false },
    });
    expect(Math.round((answer as { outbox: { oldestPendingSeconds: number } }).outbox.oldestPendingSeconds / 60)).toBe(120);
    expect(await text({ action: 'lag' })).toContain('pending  4, the oldest for 2 h\n');
  });

  it('the figures of empty tables, and of missing ones', async () => {
    const empty = await withConnection(database.url, (connection) => readFigures(connection, defaultTables));
    expect(empty).toEqual({
      outbox: { pending: none, sent: none, failed: none, cutOver: none, oldestPendingSeconds: null, lastSentAt: null, types: [] },
      inbox: { consumers: [], isCapped: false },
    });
    await run('DROP TABLE outbox, inbox');
    expect(await withConnection(database.url, (connection) => readFigures(connection, defaultTables))).toEqual({ outbox: null, inbox: null });
  });

  it('failed lists, and retry makes pending what it is told, with all attempts', async () => {
    const [first = '', second = ''] = await insert({ status: 'failed', age: '1 hour', count: 2 });
    const [paid = ''] = await insert({ status: 'failed', age: '2 hours', type: 'order.paid' });
    expect(await ops({ action: 'failed' })).toMatchObject({ hasMore: false, messages: [{ id: paid, lastError: 'broker said no', attempts: 5 }, {}, {}] });
    expect(await ops({ action: 'failed', limit: 1, type: 'order.placed' })).toMatchObject({ hasMore: true, messages: [{ type: 'order.placed' }] });

    expect(await ops({ action: 'retry', ids: [first] })).toEqual({ action: 'retry', outcome: 'dry-run', rows: 1, unknownIds: [] });
    expect(await statuses()).toEqual({ failed: 3 });
    expect(await ops({ action: 'retry', ids: [first.toUpperCase()], write: true })).toMatchObject({ outcome: 'done', rows: 1, unknownIds: [] });
    expect(await rows(`SELECT status, attempts, last_error, available_at <= clock_timestamp() AS due FROM outbox WHERE id = '${first}'`)).toEqual([
      { status: 'pending', attempts: 0, last_error: null, due: true },
    ]);
    const unknown = randomUUID();
    expect(await ops({ action: 'retry', ids: [first, second, unknown], write: true }, 1)).toMatchObject({ rows: 1, unknownIds: [first, unknown] });
    expect(await ops({ action: 'retry', type: 'order.nothing', write: true })).toMatchObject({ rows: 0 });
    expect(await ops({ action: 'retry', all: true, batch: 1, write: true })).toMatchObject({ rows: 1 });
    expect(await statuses()).toEqual({ pending: 3 });
  });

  it.each([
    [{ action: 'retry' }, 'nothing-selected'],
    [{ action: 'retry', ids: ['42'] }, 'bad-id'],
    [{ action: 'retry', ids: [randomUUID()], all: true }, 'contradiction'],
    [{ action: 'purge', days: 6 }, 'outbox-retention-out-of-range'],
    [{ action: 'purge', days: 31 }, 'outbox-retention-out-of-range'],
    [{ action: 'purge', table: 'inbox' }, 'inbox-window-needed'],
    [{ action: 'purge', table: 'inbox', messageDays: 7, retryDays: 3, days: 9 }, 'inbox-retention-too-short'],
    [{ action: 'cut-over', before: '2999-01-01T00:00:00Z' }, 'cut-over-in-future'],
  ] as const)('%j is refused', async (options, code) => {
    await expect(runOps(complete(options))).rejects.toMatchObject({ code });
  });

  it('purge deletes sent rows of that age, in batches, and nothing else', async () => {
    await insert({ status: 'sent', age: '20 days', count: 5 });
    await insert({ status: 'sent', age: '10 days', count: 2 });
    await insert({ status: 'failed', age: '90 days' });
    await insert({ status: 'pending', age: '90 days' });
    expect(await ops({ action: 'purge' })).toEqual({ action: 'purge', outcome: 'dry-run', table: 'outbox', days: 14, rows: 5 });
    expect(await ops({ action: 'purge', write: true, batch: 2 })).toMatchObject({ outcome: 'done', rows: 5 });
    expect(await statuses()).toEqual({ failed: 1, pending: 1, sent: 2 });
    expect(await ops({ action: 'purge', days: 7, write: true })).toMatchObject({ rows: 2 });
  });

  it('purge of the inbox keeps a message whose copies still come', async () => {
    await run(`INSERT INTO inbox (event_id, consumer, processed_at) SELECT gen_random_uuid(), 'billing', now() - interval '20 days' FROM generate_series(1, 7)`);
    await run(`INSERT INTO inbox (event_id, consumer, processed_at) SELECT gen_random_uuid(), 'billing', now() - interval '5 days' FROM generate_series(1, 4)`);
    await run(`INSERT INTO inbox (event_id, consumer, processed_at, duplicates, last_duplicate_at) VALUES (gen_random_uuid(), 'billing', now() - interval '20 days', 1, now())`);
    const window = { table: 'inbox', messageDays: 7, retryDays: 3 } as const;
    expect(await ops({ action: 'purge', ...window })).toMatchObject({ days: 10, rows: 7 });
    expect(await ops({ action: 'purge', ...window, write: true, batch: 2 })).toMatchObject({ rows: 7 });
    expect(await rows('SELECT count(*)::int AS count FROM inbox')).toEqual([{ count: 5 }]);
  });

  it('cut-over marks rows from before the instant, in batches, and can be repeated', async () => {
    await insert({ status: 'pending', age: '3 hours', count: 5 });
    await insert({ status: 'pending', age: '1 hour', count: 2 });
    await insert({ status: 'failed', age: '3 hours' });
    const before = new Date(Date.now() - 2 * 3_600_000).toISOString();
    expect(await ops({ action: 'cut-over', before })).toEqual({ action: 'cut-over', outcome: 'dry-run', instant: before, rows: 5, left: 5 });
    expect(await statuses()).toEqual({ pending: 7, failed: 1 });
    expect(await ops({ action: 'cut-over', before, batch: 2, write: true })).toMatchObject({ outcome: 'done', instant: before, rows: 5, left: 0 });
    expect(await rows("SELECT DISTINCT last_error, sent_at IS NOT NULL AS stamped FROM outbox WHERE status = 'sent'")).toEqual([
      { last_error: `delivered by the legacy publish (cut-over ${before})`, stamped: true },
    ]);
    // Without an instant the recorded one is repeated, not now: rows stored since belong to the relay.
    expect(await ops({ action: 'cut-over', write: true })).toMatchObject({ instant: before, rows: 0, left: 0 });
    expect(await statuses()).toEqual({ pending: 2, failed: 1, sent: 5 });
    await expect(runOps(complete({ action: 'cut-over', before: new Date(Date.now() - 60_000).toISOString() }))).rejects.toMatchObject({ code: 'cut-over-done' });
    expect(await ops({ action: 'lag' })).toMatchObject({ outbox: { cutOver: { count: 5 }, lastSentAt: null } });
    // A checkout that has no evidence of it learns it from the marked rows.
    expect(await ops({ action: 'cut-over', cwd: temporaryProject({ 'package.json': '{}' }) })).toMatchObject({ instant: before, rows: 0 });
    const evidence = JSON.parse(readFileSync(path.join(root, '.outboxify/evidence.json'), 'utf8')) as { records: unknown[] };
    expect(evidence.records).toEqual([
      {
        kind: 'cut-over', service: 'orders', subject: 'outbox', recordedAt: expect.stringMatching(/^\d{4}-.*Z$/), by: expect.stringMatching(/./),
        details: { instant: before, rows: 5, database: expect.not.stringContaining('test-password') },
      },
    ]);
  });

  it('cut-over is now by default, by the clock of the database, and prints the setting of the relay', async () => {
    await insert({ status: 'pending', age: '1 second', count: 2 });
    const output = await text({ action: 'cut-over', write: true });
    const instant = /^OUTBOX_CUT_OVER_AT=(\S+)$/m.exec(output)?.[1] ?? '';
    expect(Math.abs(Date.parse(instant) - Date.now())).toBeLessThan(60_000);
    expect(output).toContain(`2 rows from before ${instant} are marked as delivered by the legacy publish.`);
    expect(await statuses()).toEqual({ sent: 2 });
  });

  it('cut-over needs to know the service, for the evidence', async () => {
    const shop = temporaryProject({
      'package.json': '{}',
      'services/orders/package.json': JSON.stringify({ name: 'orders', dependencies: { typeorm: '^0.3.0' } }),
      'services/payments/package.json': JSON.stringify({ name: 'payments', dependencies: { typeorm: '^0.3.0' } }),
    });
    await expect(runOps(complete({ action: 'cut-over', cwd: shop, write: true }))).rejects.toMatchObject({ code: 'service-needed' });
    await ops({ action: 'cut-over', cwd: shop, service: 'payments', write: true });
    expect(readFileSync(path.join(shop, '.outboxify/evidence.json'), 'utf8')).toContain('"service": "payments"');
  });

  it('cut-over of another database is another one', async () => {
    await ops({ action: 'cut-over', write: true });
    const own = `${database.name}_other`;
    await run(`CREATE DATABASE ${own}`);
    const url = database.url.replace(database.name, own);
    try {
      await withConnection(url, async (connection) => {
        for (const statement of createStatements(outboxTable, { schema: null, name: 'outbox' })) await connection.execute(statement);
      });
      const later = new Date(Date.now() - 1).toISOString();
      expect(await ops({ action: 'cut-over', db: url, before: later, write: true })).toMatchObject({ instant: later });
    } finally {
      await run(`DROP DATABASE ${own} WITH (FORCE)`);
    }
  });

  it('cut-over is refused where the relay has published', async () => {
    await insert({ status: 'sent', age: '1 hour' });
    await insert({ status: 'pending', age: '1 hour' });
    await expect(runOps(complete({ action: 'cut-over', write: true }))).rejects.toMatchObject({ code: 'relay-has-published' });
    expect(await statuses()).toEqual({ sent: 1, pending: 1 });
  });

  it('cut-over says what others hold locked, and takes it the next time', async () => {
    const [locked = ''] = await insert({ status: 'pending', age: '1 hour', count: 2 });
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM outbox WHERE id = $1 FOR UPDATE', [locked]);
    expect(await ops({ action: 'cut-over', write: true }, 1)).toMatchObject({ rows: 1, left: 1 });
    await other.query('COMMIT');
    await other.end();
    expect(await ops({ action: 'cut-over', write: true })).toMatchObject({ rows: 1, left: 0 });
  });
});

describe.skipIf(!database.available)('an address that does not work', () => {
  const secret = 'p@ss wörd/1';

  beforeEach(() => {
    root = temporaryProject({ 'package.json': '{"name":"orders"}' });
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    for (const method of ['log', 'warn', 'error'] as const) vi.spyOn(console, method).mockImplementation((text) => printed.push(String(text)) > 0);
    printed.length = 0;
  });
  afterEach(() => vi.restoreAllMocks());

  function changed(change: (url: URL) => void): string {
    const url = new URL(database.url);
    url.password = secret;
    change(url);
    return url.href;
  }

  it.each([
    ['a wrong password', () => changed(() => undefined), 'database-login-failed'],
    ['an unknown user', () => changed((url) => { url.username = 'nobody'; }), 'database-login-failed'],
    ['a refused connection', () => changed((url) => { url.port = '1'; }), 'database-unreachable'],
    ['an unknown host', () => changed((url) => { url.hostname = 'no-such-host.invalid'; }), 'database-unreachable'],
    ['another database', () => changed((url) => { url.protocol = 'mysql:'; }), 'unsupported-database'],
    ['no URL', () => `host=localhost password=${secret}`, 'bad-database-url'],
    ['a database that is not there', () => database.url.replace(database.name, 'not_there'), 'database-missing'],
    ['a database without the table', () => database.url.replace(database.name, 'postgres'), 'table-missing'],
  ])('%s is told in one line, with exit code 2 and without the password', async (_, address, code) => {
    const url = address();
    const error: unknown = await runOps(complete({ action: 'lag', db: url })).then(() => null, (failure: unknown) => failure);
    expect(error).toMatchObject({ code });
    for (const asJson of [true, false]) expect(reportError(error, { out: createUi(), asJson })).toBe(2);
    expect(printed).toHaveLength(2);
    const everything = printed.join('');
    expect(everything).toContain(code);
    for (const form of [secret, encodeURIComponent(secret), new URL(database.url).password]) expect(everything).not.toContain(form);
  });

  it('takes the password out of what the server says', async () => {
    const url = changed((address) => { address.password = 'topsecret'; });
    const failure = await withConnection(url, (connection) => connection.query('SELECT 1')).then(() => null, (error: unknown) => String(error));
    expect(failure).not.toContain('topsecret');
    const echoed = await withConnection(database.url, (connection) => connection.query(`SELECT 'test-password'::int`)).then(() => null, (error: unknown) => String(error));
    expect(echoed).toContain("invalid input syntax for type integer: \"***\"");
  });

  it('does not wait for ever for a server that does not answer', async () => {
    const silent = net.createServer(() => undefined);
    await new Promise<void>((resolve) => { silent.listen(0, '127.0.0.1', resolve); });
    const { port } = silent.address() as net.AddressInfo;
    await expect(runOps(complete({ action: 'lag', db: `postgres://u:${encodeURIComponent(secret)}@127.0.0.1:${port}/d` }))).rejects.toMatchObject({ code: 'database-unreachable' });
    silent.close();
  }, 30_000);

  it('needs an address', async () => {
    vi.stubEnv('DATABASE_URL', '');
    await expect(runOps(complete({ action: 'lag', db: undefined }))).rejects.toMatchObject({ code: 'no-database-url' });
    vi.stubEnv('DATABASE_URL', database.url.replace(database.name, 'postgres'));
    await expect(runOps(complete({ action: 'lag', db: undefined }))).rejects.toMatchObject({ code: 'table-missing' });
    vi.unstubAllEnvs();
  });
});

const none = { count: 0, isCapped: false };

type SomeOptions = Partial<OpsOptions> & Pick<OpsOptions, 'action'>;

function complete(options: SomeOptions): OpsOptions {
  return { cwd: root, ids: [], format: 'json', db: database.url, ...options };
}

async function ops(options: SomeOptions, code = 0): Promise<unknown> {
  printed.length = 0;
  expect(await runOps(complete(options))).toBe(code);
  return JSON.parse(printed.join(''));
}

async function text(options: SomeOptions): Promise<string> {
  printed.length = 0;
  expect(await runOps(complete({ ...options, format: 'pretty' }))).toBe(0);
  return printed.join('');
}

async function insert({ status, age, count = 1, type = 'order.placed' }: { readonly status: string; readonly age: string; readonly count?: number; readonly type?: string }): Promise<string[]> {
  const inserted = await rows<{ id: string }>(`INSERT INTO outbox (id, aggregate_type, aggregate_id, message_type, payload, occurred_at, status, attempts, last_error, sent_at)
    SELECT gen_random_uuid(), 'Order', '1', '${type}', '{}', clock_timestamp() - interval '${age}', '${status}',
      CASE '${status}' WHEN 'failed' THEN 5 ELSE 0 END, CASE '${status}' WHEN 'failed' THEN 'broker said no' END,
      CASE '${status}' WHEN 'sent' THEN clock_timestamp() - interval '${age}' END FROM generate_series(1, ${count}) RETURNING id`);
  return inserted.map(({ id }) => id);
}

async function statuses(): Promise<Record<string, number>> {
  const counts = await rows<{ status: string; count: number }>('SELECT status, count(*)::int AS count FROM outbox GROUP BY status');
  return Object.fromEntries(counts.map(({ status, count }) => [status, count]));
}

function rows<Row>(sql: string): Promise<readonly Row[]> {
  return withConnection(database.url, (connection: DatabaseConnection) => connection.query<Row>(sql));
}

async function run(sql: string): Promise<void> {
  await rows(sql);
}
