import { describe, expect, it } from 'vitest';
import { migrationFileName, toWords } from '../../src/adapters/typeorm/migration-style.js';
import { planMigration, type MigrationPlan } from '../../src/cli/migration/plan.js';
import type { Config } from '../../src/core/config.js';
import { resolveServices } from '../../src/workspace/services.js';
import { memoryWorkspace } from '../../src/workspace/workspace.js';

const now = 1_750_000_000_000;
const config: Config = { schemaVersion: 1, exclude: [], publishers: [], writers: [], tables: { outbox: 'outbox', inbox: 'inbox', schema: null }, services: [] };
const manifest = JSON.stringify({ name: 'orders', dependencies: { typeorm: '^0.3.0', pg: '^8.0.0' } });
const dataSource = [
  "import { DataSource } from 'typeorm';",
  "export default new DataSource({ type: 'postgres', entities: [__dirname + '/**/*.entity{.ts,.js}'], migrations: [__dirname + '/migrations/*{.ts,.js}'] });",
].join('\n');

function plan(files: Record<string, string>, changed: { role?: 'outbox' | 'inbox'; name?: string; tables?: Partial<Config['tables']> } = {}): MigrationPlan {
  const workspace = memoryWorkspace({ 'package.json': manifest, 'src/data-source.ts': dataSource, ...files });
  const [service] = resolveServices(workspace, config);
  if (service === undefined) throw new Error('no service');
  return planMigration({
    workspace, service, role: changed.role ?? 'outbox', name: changed.name ?? null, twoColumns: false, now,
    config: { ...config, tables: { ...config.tables, ...changed.tables } },
  });
}

function migrationOf({ changes }: MigrationPlan): { file: string; text: string } {
  const change = changes.find(({ file }) => /migrations\//.test(file));
  if (change === undefined) throw new Error(`no migration among ${changes.map(({ file }) => file).join(', ')}`);
  return { file: change.file, text: change.after ?? '' };
}

describe('the migration of the outbox', () => {
  it('comes with the entity and the code of the step', () => {
    expect(plan({}).changes.map(({ file }) => file)).toEqual([
      'src/migrations/1750000000000-create-outbox.ts',
      'src/outbox/outbox-message.entity.ts',
      'src/outbox/integration-event.ts',
      'src/outbox/store.ts',
      'src/outbox/routes.ts',
    ]);
    expect(plan({}, { role: 'inbox' }).changes.map(({ file }) => file)).toEqual([
      'src/migrations/1750000000000-create-inbox.ts',
      'src/outbox/inbox-message.entity.ts',
      'src/outbox/inbox.ts',
    ]);
  });

  it('is a class as TypeORM writes it', () => {
    expect(migrationOf(plan({})).text).toMatchInlineSnapshot(`
      "import { MigrationInterface, QueryRunner } from 'typeorm';

      export class CreateOutbox1750000000000 implements MigrationInterface {
        name = 'CreateOutbox1750000000000';

        public async up(queryRunner: QueryRunner): Promise<void> {
          // The index serves the relay; vacuum has to keep up with rows that live for seconds.
          await queryRunner.query(\`
            CREATE TABLE "outbox" (
              "id" uuid NOT NULL,
              "aggregate_type" character varying(255) NOT NULL,
              "aggregate_id" character varying(255) NOT NULL,
              "message_type" character varying(255) NOT NULL,
              "payload" jsonb NOT NULL,
              "occurred_at" timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
              "available_at" timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
              "status" character varying(16) NOT NULL DEFAULT 'pending',
              "attempts" integer NOT NULL DEFAULT 0,
              "last_error" text,
              "sent_at" timestamp with time zone,
              CONSTRAINT "pk_outbox" PRIMARY KEY ("id")
            ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0)
          \`);
          await queryRunner.query(\`CREATE INDEX "idx_outbox_status_time" ON "outbox" ("status", "occurred_at", "available_at")\`);
        }

        public async down(queryRunner: QueryRunner): Promise<void> {
          // Events that were not published yet are lost with the table.
          await queryRunner.query(\`DROP TABLE "outbox"\`);
        }
      }
      "
    `);
  });

  it('takes over double quotes, four spaces, Pascal case and the import of the newest migration', () => {
    const existing = 'import type { MigrationInterface, QueryRunner } from "typeorm";\n\nexport class AddOrders1740000000000 implements MigrationInterface {\n    async up(queryRunner: QueryRunner): Promise<void> {}\n    async down(queryRunner: QueryRunner): Promise<void> {}\n}\n';
    const { file, text } = migrationOf(plan({ 'src/migrations/1740000000000-AddOrders.ts': existing }));
    expect(file).toBe('src/migrations/1750000000000-CreateOutbox.ts');
    expect(text.split('\n').slice(0, 6)).toEqual([
      'import type { MigrationInterface, QueryRunner } from "typeorm";',
      '',
      'export class CreateOutbox1750000000000 implements MigrationInterface {',
      '    async up(queryRunner: QueryRunner): Promise<void> {',
      '        // The index serves the relay; vacuum has to keep up with rows that live for seconds.',
      '        await queryRunner.query(`',
    ]);
  });

  it('is CommonJS where the migrations are', () => {
    const existing = "module.exports = class AddOrders1740000000000 {\n\tname = 'AddOrders1740000000000'\n\n\tasync up(queryRunner) {}\n\tasync down(queryRunner) {}\n}\n";
    const { file, text } = migrationOf(plan({ 'src/migrations/1740000000000_add_orders.js': existing }));
    expect(file).toBe('src/migrations/1750000000000_create_outbox.js');
    expect(text).toMatch(/^module\.exports = class CreateOutbox1750000000000 \{\n\tname = 'CreateOutbox1750000000000'/);
    expect(text).toContain('\tasync up(queryRunner) {\n');
  });

  it('comes after a migration from the future', () => {
    const existing = "import { MigrationInterface, QueryRunner } from 'typeorm';\nexport class Later1900000000000 implements MigrationInterface {\n  public async up(queryRunner: QueryRunner): Promise<void> {}\n}\n";
    expect(migrationOf(plan({ 'src/migrations/1900000000000-later.ts': existing })).file).toBe('src/migrations/1900000000001-create-outbox.ts');
  });

  it('has the names of the configuration, and those of keys and index with them', () => {
    const { text } = migrationOf(plan({}, { tables: { outbox: 'order_events', schema: 'messaging' } }));
    expect(text).toContain('CREATE TABLE "messaging"."order_events" (');
    expect(text).toContain('CREATE INDEX "idx_order_events_status_time" ON "messaging"."order_events" ("status", "occurred_at", "available_at")');
  });

  it('refuses a name that is no identifier', () => {
    expect(() => plan({}, { tables: { outbox: 'out"box' } })).toThrow(expect.objectContaining({ code: 'bad-table-name' }));
  });
});

describe('what is there already', () => {
  const withAll = Object.fromEntries(plan({}).changes.map(({ file, after }) => [file, after ?? '']));

  it('is left alone, with the edits of later steps', () => {
    const edited = { ...withAll, 'src/outbox/routes.ts': "export const routes = { 'order.placed': { transport: 'nest' } };\n" };
    expect(plan(edited)).toEqual({ refusals: [], changes: [], followUps: [] });
  });

  it.each([
    ['SQL', 'await queryRunner.query(`CREATE TABLE IF NOT EXISTS "public"."outbox" ("id" uuid)`)'],
    ['SQL in a double-quoted string', 'await queryRunner.query("CREATE TABLE \\"outbox\\" (id uuid)")'],
    ['the Table of TypeORM', "await queryRunner.createTable(new Table({ name: 'outbox', columns: [] }))"],
  ])('a migration by %s is found, and only the code is added', (_, body) => {
    const files = { 'src/migrations/1740000000000-own.ts': `export class Own1740000000000 { async up(queryRunner) { ${body} } }` };
    expect(plan(files).changes.map(({ file }) => file)).not.toContainEqual(expect.stringContaining('migrations/'));
    expect(plan(files).changes).toHaveLength(4);
  });

  it('a table whose name only begins the same is another one', () => {
    const files = { 'src/migrations/1740000000000-own.ts': 'export class Own1740000000000 { async up(q) { await q.query(`CREATE TABLE "outbox_archive" ()`) } }' };
    expect(migrationOf(plan(files)).file).toContain('create-outbox');
  });

  it('a file in the way is a refusal', () => {
    expect(plan({ 'src/outbox/store.ts': 'export const store = 1;\n' }).refusals).toEqual([
      { code: 'file-exists', message: expect.stringContaining("'src/outbox/store.ts' exists and is not what would be written") },
    ]);
  });

  it('an identical file is not', () => {
    const store = 'src/outbox/store.ts';
    const answer = plan({ [store]: withAll[store] ?? '' });
    expect(answer.refusals).toEqual([]);
    expect(answer.changes.map(({ file }) => file)).not.toContain(store);
  });
});

describe('the data source', () => {
  it.each([
    ['a pattern beside the file', "entities: [__dirname + '/**/*.entity{.ts,.js}']", []],
    ['a joined pattern', "entities: [join(__dirname, '**', '*.entity.{ts,js}')]", []],
    ['a pattern of compiled files', "entities: ['dist/**/*.entity.js']", []],
    ['a template literal', 'entities: [`${__dirname}/**/*.entity.ts`]', []],
    ['classes', 'entities: [Order, OrderLine]', ['register-entity']],
    ['a pattern of another folder', "entities: [__dirname + '/orders/*.entity.ts']", ['register-entity']],
    ['forFeature', 'autoLoadEntities: true', ['register-entity']],
    ['a list that is computed', 'entities: [__dirname + settings.entities], migrations: [__dirname + settings.migrations]', ['register-entity']],
    ['synchronize', "entities: ['src/**/*.entity.ts'], synchronize: true", ['synchronize']],
    ['listed migrations', "entities: ['src/**/*.entity.ts'], migrations: [AddOrders1740000000000]", ['register-migration']],
  ])('with %s', (_, options, codes) => {
    const text = `import { DataSource } from 'typeorm';\nexport default new DataSource({ type: 'postgres', ${options} });\n`;
    expect(plan({ 'src/data-source.ts': text }).followUps.map(({ code }) => code)).toEqual(codes);
  });
});

describe('what is not written for', () => {
  it('a service without TypeORM', () => {
    const files = { 'package.json': JSON.stringify({ name: 'orders', dependencies: { amqplib: '^0.10.0' } }) };
    expect(plan(files).refusals.map(({ code }) => code)).toEqual(['unsupported-orm']);
  });

  it('MySQL', () => {
    const text = "import { DataSource } from 'typeorm';\nexport default new DataSource({ type: 'mysql', entities: [] });\n";
    expect(plan({ 'src/data-source.ts': text }).refusals.map(({ code }) => code)).toEqual(['unsupported-database']);
  });
});

describe('names', () => {
  const style = { timeFirst: true, separator: '-', words: 'kebab', time: 'milliseconds' } as const;

  it.each([
    [style, '1750000000000-create-outbox.ts'],
    [{ ...style, separator: '_', words: 'snake' } as const, '1750000000000_create_outbox.ts'],
    [{ ...style, timeFirst: false, separator: '', words: 'pascal' } as const, 'CreateOutbox1750000000000.ts'],
    [{ ...style, words: 'camel', time: 'date' } as const, '20250615150640-createOutbox.ts'],
  ])('%j gives %s', (fileName, expected) => {
    expect(migrationFileName('create outbox', now, { fileName, extension: '.ts' })).toBe(expected);
  });

  it('are split where people split them', () => {
    expect(toWords('CreateOrder_outbox-table', 'kebab')).toBe('create-order-outbox-table');
  });
});
