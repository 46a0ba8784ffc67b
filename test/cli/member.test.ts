import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryProject } from '../project.js';
import { outboxify } from './run.js';

/** An application whose every write and publish is in a library: one by tsconfig paths, one by its package's name. */
const files: Readonly<Record<string, string>> = {
  'package.json': '{"private":true,"workspaces":["apps/*","libs/*"]}',
  'tsconfig.base.json': '{"compilerOptions":{"paths":{"@shop/store":["./libs/store/src/index.ts"]}}}',
  'apps/orders/package.json': '{"name":"orders","dependencies":{"@shop/messaging":"*","typeorm":"^0.3.27"}}',
  'apps/orders/tsconfig.json': '{"extends":"../../tsconfig.base.json"}',
  'apps/orders/src/orders.service.ts': `import { EventBus } from '@shop/messaging';
import { OrderStore } from '@shop/store';

export class OrdersService {
  constructor(private readonly store: OrderStore, private readonly bus: EventBus) {}

  async place(order: { id: string }): Promise<void> {
    await this.store.add(order);
    this.bus.send('order.placed', order);
  }
}
`,
  'libs/messaging/package.json': '{"name":"@shop/messaging","main":"dist/index.js","dependencies":{"@nestjs/microservices":"^11.0.0"}}',
  'libs/messaging/src/index.ts': "export * from './event-bus';\n",
  'libs/messaging/src/event-bus.ts': `import { ClientProxy } from '@nestjs/microservices';

export class EventBus {
  constructor(private readonly client: ClientProxy) {}

  send(topic: string, body: object): void {
    this.client.emit(topic, body);
  }
}
`,
  'libs/store/src/index.ts': `import { ClientProxy } from '@nestjs/microservices';
import { Repository } from 'typeorm';

export class OrderStore {
  constructor(private readonly orders: Repository<object>, private readonly client: ClientProxy) {}

  async add(order: object): Promise<void> {
    await this.orders.save(order);
  }

  async archive(order: object): Promise<void> {
    await this.orders.save(order);
    this.client.emit('order.archived', order);
  }
}
`,
  'apps/other/package.json': '{"name":"other"}',
  'apps/other/src/broken.ts': 'export class {{{',
};

const handlers = (stdout: string): readonly string[] => JSON.parse(stdout).findings.map(({ handler }: { handler: { file: string; name: string } }) => `${handler.file} ${handler.name}`);

test('a member of a workspace is scanned with the libraries that it uses, and reports its own', async () => {
  const root = temporaryProject(files);
  const cwd = path.join(root, 'apps/orders');
  const text = await outboxify(['scan'], { cwd });
  expect(text).toMatchObject({ code: 1, stderr: '' });
  expect(text.stdout).toContain("1 handler can lose an event.");
  expect(text.stdout).toContain("Read with it: 3 files beside this folder, in '../..'.");
  expect(text.stdout).toContain('1 dual write of code beside this folder, which it uses, is not shown here: outboxify scan --cwd ../..');
  expect(text.stdout).not.toContain('broken.ts');
  expect(handlers((await outboxify(['scan', '--format', 'json'], { cwd })).stdout)).toEqual(['src/orders.service.ts OrdersService.place']);
  expect(handlers((await outboxify(['scan', '--format', 'json'], { cwd: path.join(cwd, 'src') })).stdout)).toEqual(['orders.service.ts OrdersService.place']);
  expect(handlers((await outboxify(['scan', 'apps/orders', '--format', 'json'], { cwd: root })).stdout)).toEqual(['apps/orders/src/orders.service.ts OrdersService.place']);
  expect(await outboxify(['check'], { cwd })).toMatchObject({ code: 1, stdout: expect.stringContaining('new-dual-write') });
});

test('what is out of reach is said, with the line, and no result is called clean', async () => {
  const { 'package.json': _, ...alone } = files;
  const root = temporaryProject({ ...alone, 'apps/orders/src/near.ts': "import { x } from '../../../libs/store/src';\nimport data from '../../../data.json';\n\nexport const y = [x, data];\n" });
  const cwd = path.join(root, 'apps/orders');
  const { code, stdout } = await outboxify(['scan'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('In what could be read, no handler can lose an event');
  expect(stdout).toContain("src/near.ts:1: '../../../libs/store/src' was not read");
  expect(stdout).toContain("src/orders.service.ts:2: '@shop/store' was not read");
  expect(stdout).not.toMatch(/data\.json|typeorm' was/);
  const { unresolved } = JSON.parse((await outboxify(['scan', '--format', 'json'], { cwd })).stdout);
  expect(unresolved).toContainEqual({ file: 'src/near.ts', line: 1, text: "import '../../../libs/store/src'", hint: expect.stringContaining('Scan a folder that holds both.') });
});

test('the configuration of the workspace does not count for a member, which is said', async () => {
  const root = temporaryProject({ ...files, 'outboxify.json': '{"exclude":["apps/**"]}' });
  const cwd = path.join(root, 'apps/orders');
  const said = "The outboxify.json in '../..' does not count here: it is that of the whole workspace. To use it: outboxify scan apps/orders --cwd ../..";
  for (const command of ['scan', 'check']) expect(await outboxify([command], { cwd })).toMatchObject({ code: 1, stderr: expect.stringContaining(said) });
  expect((await outboxify(['scan'], { cwd: root })).stderr).toBe('');
});
