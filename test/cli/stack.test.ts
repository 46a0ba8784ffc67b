import { expect, test } from 'vitest';
import { temporaryProject } from '../project.js';
import { outboxify } from './run.js';

const service = (write: string): string => `import { ClientProxy } from '@nestjs/microservices';

export class OrderService {
  constructor(private readonly rows: any, private readonly client: ClientProxy) {}

  async place(order: { id: string }): Promise<void> {
    ${write}
    this.client.emit('order.placed', order);
  }
}
`;
const manifest = (dependencies: object): string => JSON.stringify({ name: 'orders', dependencies: { '@nestjs/microservices': '^11.0.0', ...dependencies } });

test('an ORM that is not supported is named, and no publish beside it is called safe', async () => {
  const root = temporaryProject({ 'package.json': manifest({ '@prisma/client': '^6.0.0', pg: '^8.0.0' }), 'src/order.service.ts': service('await this.rows.orders.book({ data: order });') });
  const said = "Prisma is not supported ('@prisma/client' in package.json); TypeORM is.";
  const scan = await outboxify(['scan'], { cwd: root });
  expect(scan).toMatchObject({ code: 0, stdout: expect.stringContaining(`No supported ORM was found. ${said}`) });
  expect(scan.stdout).toMatch(/^In what could be read, no handler can lose an event.*, 1 publish has no write that could be seen\./);
  const { unresolved } = JSON.parse((await outboxify(['scan', '--format', 'json'], { cwd: root })).stdout);
  expect(unresolved).toContainEqual({ file: 'package.json', line: 1, text: 'Prisma', hint: expect.stringContaining(said) });
  expect((await outboxify(['scan', '--format', 'html'], { cwd: root })).stdout).toContain('Prisma is not supported');
  const check = await outboxify(['check'], { cwd: root });
  expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('0 errors, 1 warning') });
  expect(check.stdout).toContain('warning  package.json:1  orm-not-supported');
  expect((await outboxify(['init'], { cwd: root })).stderr).toContain(said);
});

test('a project without any ORM is told that its writes are not seen', async () => {
  const root = temporaryProject({ 'package.json': manifest({}), 'src/order.service.ts': service('await this.rows.put(order);') });
  const { stdout } = await outboxify(['scan'], { cwd: root });
  expect(stdout).toContain('No ORM was found. Supported: TypeORM.');
  expect(stdout).not.toContain('is safe');
});
