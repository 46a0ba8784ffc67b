import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProject, fixtures, readCases, root } from '../codemods/harness.js';
import { freshDatabase } from './service.js';

const database = await freshDatabase();
const name = 'typeorm-transactional-in-the-project';

/** Calls the rewritten handler with the library active and no outbox table, so that storing the event fails; prints how many parcels stayed. */
const script = `
require('reflect-metadata');
const { DataSource } = require('typeorm');
const { addTransactionalDataSource, initializeTransactionalContext } = require('typeorm-transactional');
const { Parcel } = require('./dist/parcel.entity.js');
const { ParcelsService } = require('./dist/parcels.service.js');
(async () => {
  if (process.argv[2] === 'active') initializeTransactionalContext();
  const dataSource = new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, entities: [Parcel], synchronize: true, dropSchema: true });
  if (process.argv[2] === 'active') addTransactionalDataSource(dataSource);
  await dataSource.initialize();
  const published = [];
  const service = new ParcelsService(dataSource.getRepository(Parcel), { emit: (pattern) => published.push(pattern) });
  const error = await service.pack('A-1', 3).then(() => null, (reason) => reason.message);
  console.log(JSON.stringify({ error, published, parcels: await dataSource.getRepository(Parcel).count() }));
  await dataSource.destroy();
})();
`;

describe.skipIf(!database.available)('a rewritten handler where typeorm-transactional is at work', () => {
  const fixture = readCases().find((each) => each.name === name);
  if (fixture === undefined) throw new Error(`the fixture ${name} is missing`);
  const project = createProject(fixture, 'plain', true);

  beforeAll(() => {
    cpSync(path.join(fixtures, 'dual-publish-direct', name, 'expected'), project.folder, { recursive: true });
    for (const file of ['store.ts', 'integration-event.ts']) cpSync(path.join(root, 'templates/typeorm/outbox', file), path.join(project.folder, 'src/outbox', file));
    execFileSync(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', project.folder, '--outDir', path.join(project.folder, 'dist')]);
    writeFileSync(path.join(project.folder, 'run.cjs'), script);
  }, 60_000);
  afterAll(() => project.remove());

  it.each(['active', 'idle'])('takes the write back when the event can not be stored (%s)', (mode) => {
    const output = execFileSync(process.execPath, ['run.cjs', mode], { cwd: project.folder, encoding: 'utf8', env: { ...process.env, DATABASE_URL: database.url } });
    expect(JSON.parse(output)).toEqual({ error: expect.stringContaining('outbox') as string, published: [], parcels: 0 });
  });
});
