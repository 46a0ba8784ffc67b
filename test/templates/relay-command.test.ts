import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runRelay } from '../../src/cli/relay/index.js';
import type { ChangeOutcome } from '../../src/core/outcome.js';
import { temporaryProject } from '../project.js';

const route = "'parcel.sent': { transport: 'nest', client: 'PARCELS_CLIENT', pattern: 'parcel.sent' }";
const routesFile = (entries: string): string => `export type Route = object;\nexport const routes = { ${entries} } satisfies Record<string, Route>;\n`;
const subscriber = (guard: string): string => `import { Controller } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import type { DataSource } from 'typeorm';
import { isFirstDelivery } from './outbox/inbox';
@Controller()
export class LabelsController {
  constructor(private readonly dataSource: DataSource) {}
  @EventPattern('parcel.sent')
  async onSent(data: object): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      ${guard}
      await manager.query('INSERT INTO labels DEFAULT VALUES');
    });
  }
}
`;
const inbox = "import type { EntityManager } from 'typeorm';\nexport async function isFirstDelivery(manager: EntityManager, message: unknown, consumer: string): Promise<boolean> { return true; }\n";
const guard = "if (!(await isFirstDelivery(manager, data, 'labels'))) return;";

const files = {
  'package.json': JSON.stringify({ name: '@acme/parcels', dependencies: { typeorm: '^0.3.27', pg: '^8', '@nestjs/core': '^11', '@nestjs/microservices': '^11' } }),
  'tsconfig.json': JSON.stringify({ compilerOptions: { outDir: 'dist', module: 'commonjs', experimentalDecorators: true } }),
  'src/main.ts': "import { NestFactory } from '@nestjs/core';\nimport { ParcelsModule } from './parcels.module';\nvoid NestFactory.create(ParcelsModule);\n",
  'src/parcels.module.ts': 'export class ParcelsModule {}\n',
  'src/outbox/routes.ts': routesFile(route),
  'src/outbox/inbox.ts': inbox,
  'src/labels.controller.ts': subscriber(guard),
};

/** Runs the command; answers its exit code and what it printed to standard output. */
async function relay(cwd: string, options: object = {}): Promise<{ code: number; text: string }> {
  let text = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    return { code: await runRelay({ cwd, color: false, quiet: true, ...options }), text };
  } finally {
    write.mockRestore();
  }
}

async function relayJson(cwd: string, options: object = {}): Promise<ChangeOutcome & { code: number }> {
  const { code, text } = await relay(cwd, { format: 'json', ...options });
  return { ...(JSON.parse(text) as ChangeOutcome), code };
}

describe('outboxify relay', () => {
  afterEach(() => vi.restoreAllMocks());

  it('writes nothing without --write, and prints a patch that git applies', async () => {
    const cwd = temporaryProject(files);
    const outcome = await relayJson(cwd);
    expect(outcome).toMatchObject({ code: 0, outcome: 'dry-run', reasons: [] });
    expect(existsSync(path.join(cwd, 'src/outbox/relay'))).toBe(false);
    writeFileSync(path.join(cwd, 'relay.patch'), outcome.patch);
    execFileSync('git', ['apply', 'relay.patch'], { cwd });
    for (const file of outcome.files) expect(existsSync(path.join(cwd, file.path))).toBe(true);
    expect(await relayJson(cwd, { write: true })).toMatchObject({ outcome: 'nothing-to-do' });
  });

  it('writes the relay for the application that is there, and units that carry its name', async () => {
    const cwd = temporaryProject(files);
    const { code, text } = await relay(cwd, { write: true });
    expect(code).toBe(0);
    expect(text).toContain('created  src/outbox/relay/relay.ts');
    const read = (file: string): string => readFileSync(path.join(cwd, file), 'utf8');
    expect(read('src/outbox/relay/main.ts')).toContain("import { ParcelsModule } from '../../parcels.module';");
    expect(read('src/outbox/relay/publishers.ts')).not.toContain('amqp');
    expect(read('deploy/outbox-relay.yaml')).toContain('command: ["node", "dist/outbox/relay/main.js"]');
    expect(read('deploy/outbox-relay.service')).toContain('parcels-outbox-relay');
  });

  it('refuses to replace a file that was changed, naming it, and leaves all as they are', async () => {
    const cwd = temporaryProject(files);
    await relay(cwd, { write: true });
    const own = path.join(cwd, 'src/outbox/relay/log.ts');
    writeFileSync(own, '// ours\n');
    expect(await relayJson(cwd, { write: true })).toMatchObject({ code: 1, outcome: 'refused', files: [], reasons: [{ code: 'file-exists', message: expect.stringContaining("'src/outbox/relay/log.ts'") as string }] });
    expect(readFileSync(own, 'utf8')).toBe('// ours\n');
  });

  it('refuses while a subscriber of a recorded event has no inbox, unless forced with a reason', async () => {
    const cwd = temporaryProject({ ...files, 'src/labels.controller.ts': subscriber('') });
    const refused = await relayJson(cwd, { write: true });
    expect(refused).toMatchObject({ code: 1, outcome: 'refused', reasons: [{ code: 'subscriber-without-inbox', message: expect.stringContaining("'LabelsController.onSent' (src/labels.controller.ts:") as string }] });
    expect(existsSync(path.join(cwd, 'src/outbox/relay'))).toBe(false);
    const forced = await relayJson(cwd, { write: true, force: 'labels are idempotent by parcel' });
    expect(forced).toMatchObject({ code: 0, outcome: 'written', reasons: [{ code: 'subscriber-without-inbox' }] });
  });

  it('formats with the project\'s own Prettier', async () => {
    const cwd = temporaryProject({ ...files, '.prettierrc': '{"semi": false, "singleQuote": true, "printWidth": 80}', 'node_modules/prettier/package.json': '{"name":"prettier","type":"module","exports":"./index.js"}', 'node_modules/prettier/index.js': `export * from ${JSON.stringify(import.meta.resolve('prettier'))};` });
    await relay(cwd, { write: true });
    expect(readFileSync(path.join(cwd, 'src/outbox/relay/breaker.ts'), 'utf8')).not.toMatch(/;$/m);
    expect(await relayJson(cwd, { write: true })).toMatchObject({ outcome: 'nothing-to-do' });
  });

  it.each([
    ['an outbox that is not there', { 'src/outbox/routes.ts': '' }, {}, 'routes-unreadable'],
    ['a service that is not there', {}, { service: 'labels' }, 'unknown-service'],
    ['an application without a root module', { 'src/main.ts': '', 'src/parcels.module.ts': '' }, {}, 'app-module-missing'],
    ['a module file that is not there', {}, { module: 'src/nowhere.ts#App' }, 'app-module-missing'],
    ['an ORM that it does not know', { 'package.json': '{"name":"x","dependencies":{"@nestjs/microservices":"^11"}}' }, {}, 'unsupported-stack'],
  ])('says what to do about %s', async (_, changed, options, code) => {
    const cwd = temporaryProject({ ...files, ...changed });
    await expect(relay(cwd, options)).rejects.toMatchObject({ code, hint: expect.any(String) as string });
  });

  it('says what to do when there is no outbox yet', async () => {
    const { 'src/outbox/routes.ts': _, ...without } = files;
    await expect(relay(temporaryProject(without))).rejects.toMatchObject({ code: 'outbox-missing' });
  });

  it('refuses an empty whitelist', async () => {
    expect(await relayJson(temporaryProject({ ...files, 'src/outbox/routes.ts': routesFile('') }))).toMatchObject({ code: 1, outcome: 'refused', reasons: [{ code: 'no-routes' }] });
  });
});
