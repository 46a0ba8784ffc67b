import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadAll } from 'js-yaml';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import { defaultTables } from '../../src/schema/tables.js';
import { findAppModule } from '../../src/templates/app-module.js';
import { codeStyleOf, defaultCodeStyle } from '../../src/templates/code-style.js';
import { renderDeploymentFiles } from '../../src/templates/deployment.js';
import { renderRelayFiles } from '../../src/templates/place.js';
import { readRoutes } from '../../src/templates/routes.js';
import { RelayMetrics } from '../../templates/typeorm/outbox/relay/metrics.js';
import { memoryWorkspace } from '../../src/workspace/workspace.js';
import { renderAll, service } from './render.js';
import { hasTool } from '../tool.js';

function textOf(files: readonly { readonly file: string; readonly content: string }[], file: string): string {
  const found = files.find((entry) => entry.file === file);
  if (found === undefined) throw new Error(`no '${file}' among ${files.map((entry) => entry.file).join(', ')}`);
  return found.content;
}

function stringsOf(content: string): string[] {
  const source = ts.createSourceFile('x.ts', content, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) found.push(node.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const hasSystemd = hasTool('systemd-analyze', 'the test of the systemd unit');
const hasPython = hasTool('python3', 'the test of the supervisord program');

describe('placing templates', () => {
  it('puts the files into the outbox directory of the service', () => {
    const files = renderAll(defaultCodeStyle, ['nest', 'amqp']).map(({ file }) => file);
    expect(files).toEqual(expect.arrayContaining(['source/outbox/store.ts', 'source/outbox/integration-event.ts', 'source/outbox/routes.ts', 'source/outbox/inbox.ts', 'source/outbox/relay/main.ts', 'source/outbox/relay/publishers.ts']));
    expect(files.every((file) => file.startsWith('source/outbox/'))).toBe(true);
    expect(new Set(files).size).toBe(files.length);
  });

  it('fills in the names of tables and schema, quoted, in every statement', () => {
    const files = renderAll(defaultCodeStyle, ['nest'], { outbox: 'Sales_Outbox', inbox: 'sales_inbox', schema: 'sales' });
    expect(textOf(files, 'source/outbox/store.ts')).toContain(`const table = '"sales"."Sales_Outbox"';`);
    expect(textOf(files, 'source/outbox/inbox.ts')).toContain(`const table = '"sales"."sales_inbox"';`);
    expect(textOf(files, 'source/outbox/relay/rows.ts')).toContain(`const table = '"sales"."Sales_Outbox"';`);
    expect(files.some(({ content }) => /'"(?:outbox|inbox)"'/.test(content))).toBe(false);
  });

  it.each(["o'utbox", 'out"box', 'out;box', 'x'.repeat(64), '1st', ''])('refuses the table name %s', (outbox) => {
    expect(() => renderAll(defaultCodeStyle, ['nest'], { ...defaultTables, outbox })).toThrow(/can't be the name/);
  });

  it('takes over the extension of imports', () => {
    for (const { file, content } of renderAll({ importExtension: '.js', quotes: 'single' }, ['nest', 'amqp'])) {
      for (const [, specifier] of content.matchAll(/from '(\.[^']*)'/g)) expect(`${file} ${specifier ?? ''}`).toMatch(/\.js$/);
    }
    for (const { content } of renderAll(defaultCodeStyle, ['nest', 'amqp'])) expect(content).not.toMatch(/from '\.[^']*\.js'/);
  });

  it('takes over the quotes, where no escape is needed', () => {
    const files = renderAll({ importExtension: '', quotes: 'double' }, ['nest']);
    expect(textOf(files, 'source/outbox/store.ts')).toContain('import type { EntityManager } from "typeorm";');
    expect(textOf(files, 'source/outbox/store.ts')).toContain(`const table = '"outbox"';`);
    expect(files.flatMap(({ content }) => stringsOf(content)).filter((text) => text.startsWith("'") && !text.includes('"'))).toEqual([]);
  });

  it('imports the module of the application by its own name and place', () => {
    const plan = { style: { importExtension: '.js', quotes: 'double' }, transports: ['nest'], appModule: { file: 'source/ledger/root.module.ts', name: 'LedgerModule' } } as const;
    const main = textOf(renderRelayFiles(service, defaultTables, plan), 'source/outbox/relay/main.ts');
    expect(main).toContain('import { LedgerModule } from "../../ledger/root.module.js";');
    expect(main).toContain('createApplicationContext(LedgerModule, ');
  });

  it('leaves the client of RabbitMQ out where no route needs it', () => {
    const all = renderAll(defaultCodeStyle, ['nest']);
    expect(all.some(({ content }) => content.includes('amqplib'))).toBe(false);
    expect(renderAll(defaultCodeStyle, ['amqp']).some(({ content }) => content.includes('@nestjs/microservices'))).toBe(false);
  });
});

describe('codeStyleOf', () => {
  it.each([
    ['the majority of the imports', { 'src/a.ts': 'import x from "./b.js";\nimport { y } from "z";\n', 'src/b.ts': "import x from './c';\nimport {\n  y,\n} from \"./d.js\";\n" }, { importExtension: '.js', quotes: 'double' }],
    ['no extension', { 'src/a.ts': "import x from './b';\n", 'package.json': '{"type":"module"}' }, { importExtension: '', quotes: 'single' }],
    ['Node\'s ESM without sources', { 'package.json': '{"type": "module"}', 'tsconfig.json': '{"compilerOptions":{"module":"NodeNext"}}' }, { importExtension: '.js', quotes: 'single' }],
    ['a bundler', { 'package.json': '{"type": "module"}', 'tsconfig.json': '{"compilerOptions":{"module":"ESNext"}}' }, { importExtension: '', quotes: 'single' }],
  ])('follows %s', (_, files, expected) => {
    expect(codeStyleOf(memoryWorkspace(files), { root: '.' })).toEqual(expected);
  });

  it('looks at the sources of the service only', () => {
    const files = { 'services/a/src/x.ts': "import x from './b.js';\n", 'services/ab/src/x.ts': 'import x from "./b";\nimport y from "./c";\n' };
    expect(codeStyleOf(memoryWorkspace(files), { root: 'services/a' })).toEqual({ importExtension: '.js', quotes: 'single' });
  });
});

describe('readRoutes', () => {
  it('reads what rewrites record', () => {
    const text = `export const routes = {
      'order.placed': { transport: 'nest', client: 'ORDERS_CLIENT', pattern: 'order.placed' },
      "order.paid": { transport: 'amqp', exchange: 'orders', routingKey: 'paid' } as const,
      shipped: { transport: 'amqp', queue: ships },
      'order.lost': { transport: 'unresolved', note: 'x' },
    } as const satisfies Record<string, Route>;`;
    expect(readRoutes(text)).toEqual([
      { type: 'order.placed', transport: 'nest', destination: 'order.placed', address: 'pattern' },
      { type: 'order.paid', transport: 'amqp', destination: 'paid', address: 'routing-key' },
      { type: 'shipped', transport: 'amqp', destination: null, address: 'queue' },
      { type: 'order.lost', transport: 'unresolved', destination: null, address: null },
    ]);
  });

  it('reads the shipped file as an empty whitelist', () => {
    expect(readRoutes(textOf(renderAll(defaultCodeStyle, ['nest']), 'source/outbox/routes.ts'))).toEqual([]);
  });

  it('says when there is no whitelist', () => {
    expect(readRoutes('export const other = {};')).toBeNull();
    expect(readRoutes('export const routes = load();')).toBeNull();
  });
});

describe('findAppModule', () => {
  it('follows the import that is handed to NestFactory', () => {
    const files = { 'src/main.ts': "import { Root as LedgerRoot } from './ledger/root';\nconst app = await NestFactory.create<NestExpressApplication>(LedgerRoot);", 'src/ledger/root.ts': 'export class Root {}', 'src/app.module.ts': 'export class AppModule {}' };
    expect(findAppModule(memoryWorkspace(files), { root: '.' })).toEqual({ file: 'src/ledger/root.ts', name: 'Root' });
  });

  it('falls back to an exported AppModule', () => {
    expect(findAppModule(memoryWorkspace({ 'src/app.module.ts': '@Module({}) export class AppModule {}' }), { root: '.' })).toEqual({ file: 'src/app.module.ts', name: 'AppModule' });
    expect(findAppModule(memoryWorkspace({ 'src/index.ts': '' }), { root: '.' })).toBeNull();
  });
});

describe('deployment units', () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'outboxify-units-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const workspace = memoryWorkspace({ 'services/billing/tsconfig.json': '{ "compilerOptions": { "outDir": "./build", "rootDir": "src" } }' });
  const billing = { ...service, name: 'Acme_Billing.Service', root: 'services/billing', outbox: 'services/billing/src/outbox' };
  const files = renderDeploymentFiles(workspace, billing);
  const unit = (name: string): string => textOf(files, `services/billing/deploy/${name}`);

  it('names the service and where its compiled relay is', () => {
    expect(files.map(({ file }) => file)).toEqual(['services/billing/deploy/outbox-relay.service', 'services/billing/deploy/outbox-relay.supervisord.conf', 'services/billing/deploy/outbox-relay.yaml', 'services/billing/deploy/outbox-relay.alerts.yaml', 'services/billing/src/outbox/README.md']);
    for (const { content } of files) {
      expect(content).not.toContain('example-service');
      expect(content).not.toContain('dist/');
    }
    for (const { file, content } of files) if (!file.endsWith('.alerts.yaml')) expect(content).toContain('build/outbox/relay/main.js');
    expect(unit('outbox-relay.service')).toContain('Description=Outbox relay of acme-billing-service');
  });

  it('gives Kubernetes a Deployment with probes, resources and time to stop', () => {
    const documents = loadAll(unit('outbox-relay.yaml')) as { spec: { selector: unknown; template: { metadata: unknown; spec: { terminationGracePeriodSeconds: number; containers: Record<string, unknown>[] } } } }[];
    expect(documents).toMatchObject([{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'acme-billing-service-outbox-relay' } }]);
    const spec = documents[0]?.spec;
    expect(spec?.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(10);
    expect(spec?.template.metadata).toMatchObject({ labels: { 'app.kubernetes.io/name': 'acme-billing-service-outbox-relay' } });
    const [container] = spec?.template.spec.containers ?? [];
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) expect(container?.[probe]).toMatchObject({ httpGet: { path: '/healthz', port: 'monitoring' } });
    expect(container).toMatchObject({ command: ['node', 'build/outbox/relay/main.js'], resources: { requests: {}, limits: {} }, envFrom: [{ configMapRef: {} }, { secretRef: {} }] });
  });

  it('gives Prometheus rules over metrics that the relay has', () => {
    const [document] = loadAll(unit('outbox-relay.alerts.yaml')) as { groups: { name: string; rules: { alert: string; expr: string }[] }[] }[];
    const rules = document?.groups.flatMap((group) => group.rules) ?? [];
    expect(rules.length).toBeGreaterThan(3);
    const metrics = new RelayMetrics().text();
    for (const { expr } of rules) {
      expect(expr).toContain('job="acme-billing-service-outbox-relay"');
      expect(metrics).toContain(`# TYPE ${/\b(outbox_\w+)\{/.exec(expr)?.[1] ?? 'none'} `);
    }
  });

  it.skipIf(!hasSystemd)('gives systemd a unit that it accepts', () => {
    const file = path.join(directory, 'acme-billing-outbox-relay.service');
    writeFileSync(file, unit('outbox-relay.service').replace('WorkingDirectory=/opt/acme-billing-service', `WorkingDirectory=${directory}`));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes('acme-billing'))).toEqual([]);
    expect(status).toBe(0);
  });

  it.skipIf(!hasPython)('gives supervisord a program that Python\'s parser, which supervisord uses, reads', () => {
    const file = path.join(directory, 'relay.conf');
    writeFileSync(file, unit('outbox-relay.supervisord.conf'));
    const script = 'import configparser, json, sys; c = configparser.RawConfigParser(strict=True, inline_comment_prefixes=(";",)); c.read(sys.argv[1]); print(json.dumps({s: dict(c[s]) for s in c.sections()}))';
    expect(JSON.parse(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' }))).toEqual({
      'program:acme-billing-service-outbox-relay': expect.objectContaining({ command: 'node build/outbox/relay/main.js', stopsignal: 'TERM', autorestart: 'true' }) as object,
    });
  });

  it.each([['@acme/pay', 'acme-pay'], ['42', 'service'], ['x'.repeat(80), 'x'.repeat(50)]])('makes a name that Kubernetes takes of %s', (name, expected) => {
    expect(textOf(renderDeploymentFiles(memoryWorkspace({}), { ...service, name }), 'deploy/outbox-relay.yaml')).toContain(`name: ${expected}-outbox-relay\n`);
  });
});
