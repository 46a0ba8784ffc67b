import { describe, expect, test } from 'vitest';
import type { ServiceConfig } from '../../src/core/config.js';
import { detectServices, serviceOf } from '../../src/workspace/services.js';
import { memoryWorkspace } from '../../src/workspace/workspace.js';

const json = JSON.stringify;
const typeorm = json({ name: '@shop/orders', dependencies: { '@nestjs/typeorm': '11', '@nestjs/microservices': '11', pg: '8' } });

interface Case {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly services: readonly Partial<ServiceConfig>[];
}

const cases: readonly Case[] = [
  {
    name: 'one service',
    files: { 'package.json': typeorm, 'src/main.ts': '' },
    services: [{
      name: 'orders', root: '.', orm: 'typeorm', buses: ['nest-microservices'], database: 'postgresql',
      migrations: { tool: 'typeorm', directory: 'src/migrations' }, outbox: 'src/outbox', databaseUrlEnv: 'DATABASE_URL',
    }],
  },
  {
    name: 'every package with an ORM or a bus, of its own or through a shared package',
    files: {
      'package.json': json({ name: 'shop', workspaces: ['services/*'] }),
      'services/orders/package.json': typeorm, 'services/orders/src/main.ts': '',
      'services/mail/package.json': json({ dependencies: { amqplib: '1' } }), 'services/mail/index.js': '',
      'packages/bus/package.json': json({ name: '@shop/bus', dependencies: { amqplib: '1' } }),
      'services/mail/node.txt': '',
      'services/web/package.json': json({ dependencies: { '@shop/bus': '*' } }),
      'packages/ui/package.json': json({ dependencies: { react: '19' } }),
    },
    services: [
      { name: 'mail', root: 'services/mail', orm: null, buses: ['amqplib'], database: null, migrations: null, outbox: 'services/mail/outbox' },
      { name: 'orders', root: 'services/orders', outbox: 'services/orders/src/outbox' },
      { name: 'web', root: 'services/web', orm: null, buses: ['amqplib'] },
    ],
  },
  {
    name: 'applications of nest-cli.json, without its libraries',
    files: {
      'package.json': typeorm,
      'nest-cli.json': `{ // comment\n "monorepo": true, "projects": ${json({
        orders: { type: 'application', root: 'apps/orders', sourceRoot: 'apps/orders/source' },
        common: { type: 'library', root: 'libs/common', sourceRoot: 'libs/common/src' },
      })},}`,
      'apps/orders/source/main.ts': '', 'libs/common/src/index.ts': '',
    },
    services: [{ name: 'orders', root: 'apps/orders', outbox: 'apps/orders/source/outbox' }],
  },
  {
    name: 'folders with a tsconfig under one manifest',
    files: { 'package.json': typeorm, 'apps/orders/tsconfig.app.json': '{}', 'apps/orders/src/a.ts': '', 'services/mail/tsconfig.json': '{}', 'services/mail/src/a.ts': '' },
    services: [{ name: 'orders', root: 'apps/orders' }, { name: 'mail', root: 'services/mail', outbox: 'services/mail/src/outbox' }],
  },
  {
    name: 'two packages of one name',
    files: { 'a/package.json': typeorm, 'b/package.json': typeorm },
    services: [{ name: 'a', root: 'a' }, { name: 'b', root: 'b' }],
  },
  {
    name: 'nothing known: the root itself',
    files: { 'index.ts': '' },
    services: [{ name: 'app', root: '.', orm: null, buses: [], database: null, migrations: null, outbox: 'outbox' }],
  },
  {
    name: 'an unreadable manifest',
    files: { 'package.json': '{', 'src/a.ts': '' },
    services: [{ name: 'app', root: '.', orm: null }],
  },
  {
    name: 'the source folder of the tsconfig',
    files: { 'package.json': typeorm, 'tsconfig.json': '{ "compilerOptions": { "rootDir": "./server", /* no */ }, }', 'server/a.ts': '', 'src/web.ts': '' },
    services: [{ outbox: 'server/outbox' }],
  },
  {
    name: 'migrations that are there',
    files: { 'package.json': typeorm, 'src/db/migrations/1700000000000-Init.ts': '', 'src/a.ts': '' },
    services: [{ migrations: { tool: 'typeorm', directory: 'src/db/migrations' } }],
  },
  {
    name: 'migrations beside the data source',
    files: { 'package.json': typeorm, 'src/db/data-source.ts': "new DataSource({ type: 'mariadb', migrations: [__dirname + '/versions/*{.ts,.js}'] })" },
    services: [{ database: 'mariadb', migrations: { tool: 'typeorm', directory: 'src/db/versions' } }],
  },
  {
    name: 'migrations in a template literal, and from the root',
    files: { 'package.json': typeorm, 'src/app.module.ts': "TypeOrmModule.forRoot({ type: 'mysql', migrations: [`${__dirname}/changes/**/*.ts`] })" },
    services: [{ database: 'mysql', migrations: { tool: 'typeorm', directory: 'src/changes' } }],
  },
  {
    name: 'migrations of the compiled code',
    files: { 'package.json': typeorm, 'ormconfig.ts': "export default new DataSource({ type: 'postgres', migrations: ['dist/db/steps/*.js'] })", 'src/a.ts': '' },
    services: [{ database: 'postgresql', migrations: { tool: 'typeorm', directory: 'src/db/steps' } }],
  },
  {
    name: 'a type that is no database',
    files: { 'package.json': json({ dependencies: { typeorm: '1', mysql2: '3' } }), 'src/app.module.ts': "TypeOrmModule.forRoot({ type: config.type, x: { type: 'string' } })" },
    services: [{ database: 'mysql' }],
  },
];

test.each(cases)('$name', ({ files, services }) => {
  const found = detectServices(memoryWorkspace(files));
  expect(found).toHaveLength(services.length);
  for (const [index, service] of services.entries()) expect(found[index]).toMatchObject(service);
});

describe('the service of a file', () => {
  const services = detectServices(memoryWorkspace({ 'package.json': typeorm, 'src/a.ts': '', 'src/orders/package.json': typeorm, 'src/orders-old/x.ts': '' }));

  test.each([
    ['src/orders/a.ts', 'src/orders'], ['src/orders-old/x.ts', '.'], ['src/a.ts', '.'],
  ])('%s is %s', (file, root) => {
    expect(serviceOf(services, file)?.root).toBe(root);
  });

  test('is none outside all', () => {
    expect(serviceOf(services.filter(({ root }) => root !== '.'), 'src/a.ts')).toBeNull();
  });
});
