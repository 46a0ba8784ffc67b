import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runRewrite } from '../../src/cli/rewrite/index.js';
import type { RewriteOptions } from '../../src/cli/options.js';
import { createProject, readCases, readTree } from './harness.js';

const fixture = readCases().find(({ codemod, name }) => codemod === 'dual-publish-direct' && name === 'save-then-emit');
let project: ReturnType<typeof createProject>;
let printed: string[];

const store = `import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Parcel } from './parcel.entity.js';

@Injectable()
export class ParcelStore {
  constructor(@InjectRepository(Parcel) private readonly parcels: Repository<Parcel>) {}

  async register(orderNumber: string): Promise<Parcel> {
    return this.parcels.save({ orderNumber, weight: 0 });
  }
}
`;

const service = (name: string, methods: readonly string[]): string => `import { Inject, Injectable } from '@nestjs/common';
import { ClientProxy } from '@nestjs/microservices';
import { ParcelStore } from './parcel.store.js';

@Injectable()
export class ${name} {
  constructor(
    private readonly parcels: ParcelStore,
    @Inject('LOGISTICS') private readonly client: ClientProxy,
  ) {}
${methods.map((method) => `
  async ${method}(orderNumber: string): Promise<void> {
    const parcel = await this.parcels.register(orderNumber);
    this.client.emit('parcel.registered', { parcelId: parcel.id });
  }
`).join('')}}
`;

function start(files: Readonly<Record<string, string>>, withTypes: boolean): void {
  if (fixture === undefined) throw new Error('the fixture save-then-emit is missing');
  project = createProject(fixture, 'plain', withTypes);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(project.folder, file)), { recursive: true });
    writeFileSync(path.join(project.folder, file), text);
  }
}

beforeEach(() => {
  printed = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => (printed.push(String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
});

afterEach(() => {
  vi.restoreAllMocks();
  project.remove();
});

async function run(handler: string, options: Partial<RewriteOptions> = {}): Promise<number> {
  printed = [];
  return runRewrite({ cwd: project.folder, color: false, handler, to: 'dual-publish', write: true, format: 'json', ...options });
}

const undo = (handler: string): Promise<number> => run(handler, { undo: true, to: undefined });
const answer = (): { outcome: string; reasons: { code: string; message: string }[] } => JSON.parse(printed.join('')) as { outcome: string; reasons: { code: string; message: string }[] };
const tree = (): object => Object.fromEntries([...readTree(project.folder)].filter(([file]) => !file.startsWith('node_modules')));

describe.each([['with types', true], ['without types', false]])('undo of one of several rewrites, %s', (_, withTypes) => {
  it('refuses while another handler uses what it added, and says which to undo first', async () => {
    start({ 'src/parcel.store.ts': store, 'src/desk.service.ts': service('DeskService', ['open', 'close']) }, withTypes);
    const before = tree();
    expect(await run('DeskService.open')).toBe(0);
    const one = tree();
    expect(await run('DeskService.close')).toBe(0);
    const two = tree();
    expect(await undo('DeskService.open')).toBe(1);
    expect(answer()).toMatchObject({ outcome: 'refused', reasons: [{ code: 'still-used' }] });
    expect(answer().reasons[0]?.message).toContain("Undo 'DeskService.close' first: 'outboxify rewrite DeskService.close --undo --to dual-publish --write'");
    expect(tree()).toEqual(two);
    expect(await undo('DeskService.close')).toBe(0);
    expect(tree()).toEqual(one);
    expect(await undo('DeskService.open')).toBe(0);
    expect(tree()).toEqual(before);
  }, 60_000);

  it('refuses while a handler of another file hands its transaction to the same helper', async () => {
    start({ 'src/parcel.store.ts': store, 'src/desk.service.ts': service('DeskService', ['open']), 'src/gate.service.ts': service('GateService', ['enter']).replaceAll('parcel.registered', 'parcel.entered') }, withTypes);
    expect(await run('DeskService.open')).toBe(0);
    expect(await run('GateService.enter')).toBe(0);
    const both = tree();
    expect(await undo('DeskService.open')).toBe(1);
    expect(answer().reasons[0]).toMatchObject({ code: 'still-used' });
    expect(answer().reasons[0]?.message).toContain("'ParcelStore.register' would no longer take its last parameter");
    expect(answer().reasons[0]?.message).toContain("Undo 'GateService.enter' first");
    expect(tree()).toEqual(both);
  }, 60_000);
});

describe('undo of a shared route', () => {
  it('refuses while another handler stores the event, and lets the later rewrite go', async () => {
    const direct = (name: string): string => service(name, ['open']).replace("import { ParcelStore } from './parcel.store.js';", "import { InjectRepository } from '@nestjs/typeorm';\nimport { Repository } from 'typeorm';\nimport { Parcel } from './parcel.entity.js';")
      .replace('private readonly parcels: ParcelStore', '@InjectRepository(Parcel) private readonly parcels: Repository<Parcel>').replace('register(orderNumber)', 'save({ orderNumber, weight: 0 })');
    start({ 'src/desk.service.ts': direct('DeskService'), 'src/gate.service.ts': direct('GateService') }, false);
    await run('DeskService.open');
    await run('GateService.open');
    expect(await undo('DeskService.open')).toBe(1);
    expect(answer().reasons[0]?.message).toContain("the route of 'parcel.registered' would be gone, and src/gate.service.ts:");
    expect(await undo('GateService.open')).toBe(0);
    expect(await undo('DeskService.open')).toBe(0);
    expect(readFileSync(path.join(project.folder, 'src/desk.service.ts'), 'utf8')).toBe(direct('DeskService'));
  }, 60_000);

  it('goes through where the rewrites have nothing in common but the file of routes', async () => {
    start({ 'src/parcel.store.ts': store, 'src/desk.service.ts': service('DeskService', ['open']) }, false);
    const before = tree();
    await run('DeskService.open');
    await run('ParcelsService.pack');
    expect(await undo('ParcelsService.pack')).toBe(0);
    await run('ParcelsService.pack');
    expect(await undo('DeskService.open')).toBe(0);
    expect(await undo('ParcelsService.pack')).toBe(0);
    expect(tree()).toEqual(before);
  }, 60_000);
});

describe('undo beside services that have files of the same names', () => {
  it('type-checks nothing under the tsconfig of another service', async () => {
    const tsconfig = '{ "compilerOptions": { "rootDir": "src", "module": "NodeNext", "target": "ES2022", "strict": true, "experimentalDecorators": true, "strictPropertyInitialization": false, "skipLibCheck": true, "types": ["node"] } }';
    const relay = (name: string): Record<string, string> => ({
      [`${name}/tsconfig.json`]: tsconfig,
      [`${name}/src/outbox/routes.ts`]: 'export const routes = {};\n',
      [`${name}/src/outbox/relay/publishers.ts`]: "export const publishers = ['nest', 'amqp'];\n",
      [`${name}/src/outbox/relay/relay.ts`]: "import { routes } from '../routes.js';\nimport { publishers } from './publishers.js';\n\nexport const relay = { routes, publishers };\n",
    });
    start({ 'tsconfig.json': tsconfig, 'src/parcel.store.ts': store, 'src/desk.service.ts': service('DeskService', ['open']), ...relay('gate'), ...relay('yard') }, true);
    const before = tree();
    expect(await run('DeskService.open')).toBe(0);
    expect(await undo('DeskService.open')).toBe(0);
    expect(tree()).toEqual(before);
  }, 60_000);
});

describe('undo of handlers that are called alike', () => {
  it('keeps a record for each, asks which one is meant, and takes the right one back', async () => {
    const second = service('DeskService', ['open']).replaceAll('parcel.registered', 'parcel.entered').replace('./parcel.store.js', '../parcel.store.js');
    start({ 'src/parcel.store.ts': store, 'src/desk.service.ts': service('DeskService', ['open']), 'src/gate/desk.service.ts': second }, false);
    const before = tree();
    expect(await run('src/desk.service.ts#DeskService.open')).toBe(0);
    const one = tree();
    expect(await run('src/gate/desk.service.ts#DeskService.open')).toBe(0);
    await expect(undo('DeskService.open')).rejects.toMatchObject({ code: 'ambiguous-rewrite', hint: "Name one as 'src/desk.service.ts#DeskService.open'." });
    expect(await undo('src/desk.service.ts#DeskService.open')).toBe(1);
    expect(answer().reasons[0]?.message).toContain("'outboxify rewrite src/gate/desk.service.ts#DeskService.open --undo --to dual-publish --write'");
    expect(await undo('src/gate/desk.service.ts#DeskService.open')).toBe(0);
    expect(tree()).toEqual(one);
    expect(await undo('open')).toBe(0);
    expect(tree()).toEqual(before);
  }, 60_000);

  it('suggests the nearest name when there is no such rewrite', async () => {
    start({}, false);
    expect(await run('ParcelsService.pack')).toBe(0);
    await expect(undo('ParcelService.pack')).rejects.toMatchObject({ code: 'nothing-to-undo', hint: expect.stringContaining("Did you mean 'ParcelsService.pack'?") as string });
  }, 60_000);
});
