import { expect, test } from 'vitest';
import { findStacks } from '../../src/workspace/stacks.js';
import { memoryWorkspace } from '../../src/workspace/workspace.js';

const manifest = (...names: readonly string[]): Record<string, string> => ({ 'package.json': JSON.stringify({ dependencies: Object.fromEntries(names.map((name) => [name, '1'])) }) });
const seen = (files: Readonly<Record<string, string>>, imported: readonly string[] = [], writers: readonly { module: string; export: string }[] = []) =>
  findStacks(memoryWorkspace(files), { writers }, new Map(imported.map((name) => [name, 'src/a.ts'])));

test.each([
  ['@prisma/client', 'Prisma'], ['@nestjs/mongoose', 'Mongoose'], ['@mikro-orm/postgresql', 'MikroORM'], ['drizzle-orm', 'Drizzle'], ['sequelize-typescript', 'Sequelize'],
  ['knex', 'Knex'], ['pg', 'node-postgres'],
])('%s is %s, which is not supported', (name, title) => {
  expect(seen(manifest(name, 'express'))).toMatchObject({ hasOrm: false, unsupported: [{ title, package: name, file: 'package.json' }] });
  expect(seen({}, [name])).toMatchObject({ hasOrm: false, unsupported: [{ title, file: 'src/a.ts' }] });
});

test('an ORM is named, not the driver below it', () => {
  expect(seen(manifest('pg', 'drizzle-orm')).unsupported.map(({ title }) => title)).toEqual(['Drizzle']);
});

test('beside TypeORM only an ORM that is imported counts, and no driver does', () => {
  expect(seen(manifest('typeorm', 'pg', 'mongoose'), ['typeorm', 'pg'])).toMatchObject({ hasOrm: true, unsupported: [] });
  expect(seen(manifest('typeorm', 'mongoose'), ['mongoose']).unsupported.map(({ title }) => title)).toEqual(['Mongoose']);
  expect(seen(manifest('express'), ['typeorm'])).toMatchObject({ hasOrm: true, unsupported: [] });
});

test('nothing is said of a project without a database, nor of one whose writers are named', () => {
  expect(seen(manifest('express'))).toMatchObject({ hasOrm: false, unsupported: [] });
  expect(seen(manifest('@prisma/client'), [], [{ module: 'src/orders', export: 'Orders' }])).toMatchObject({ hasOrm: true, unsupported: [] });
});
