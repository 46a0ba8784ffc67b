import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryProject } from '../project.js';
import { orderProject, subscriberSource } from './project.js';
import { outboxify } from './run.js';

/** Handlers without a name, two of which publish the same event. */
const routes = `import { Router } from 'express';
import { channel, orders } from './stack';

export const router = Router();
${['placed', 'cancelled', 'cancelled'].map((event, index) => `router.post('/${index}', async (request) => {
  await orders.save(request.body);
  channel.publish('shop', 'order.${event}', Buffer.from(JSON.stringify({ id: request.body.id })));
});
`).join('')}`;
const files: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'shop', dependencies: { typeorm: '^0.3.27', amqplib: '^0.10.9', express: '^5.0.0' } }),
  'src/stack.ts': `import type { Channel } from 'amqplib';
import { DataSource } from 'typeorm';

export declare const channel: Channel;
export const orders = new DataSource({ type: 'postgres' }).getRepository('Order');
`,
  'src/routes.ts': routes,
};

/** The commands that a text shows, as a shell would take them: words without a quote or a bracket. */
const commands = (text: string): readonly string[] => [...text.matchAll(/(?:rewrite|inbox) (?!of)(\S+) --(?:to|write)/g)].map(([, subject]) => subject ?? '');

test('handlers without a name are named by ids that rewrite and explain take, in scan, check, plan and explain', async () => {
  const root = temporaryProject(files);
  const { findings } = JSON.parse((await outboxify(['scan', '--format', 'json'], { cwd: root })).stdout) as { findings: { id: string }[] };
  const ids = findings.map(({ id }) => id);
  expect(ids).toHaveLength(3);
  expect(commands((await outboxify(['scan'], { cwd: root })).stdout)).toEqual(ids);
  expect(commands((await outboxify(['check'], { cwd: root })).stdout)).toEqual(ids);
  for (const run of [1, 2]) expect(await outboxify(['plan'], { cwd: root }), `run ${run}`).toMatchObject({ code: 0 });
  const plan = readFileSync(path.join(root, 'OUTBOX-MIGRATION.md'), 'utf8');
  expect(new Set(commands(plan))).toEqual(new Set(ids));
  expect(plan.match(/begin handler .*/g)).toEqual(['placed', 'cancelled', 'cancelled (2)'].map((event) => `begin handler src/routes.ts#(anonymous) order.${event} -->`));
  const explained = await outboxify(['explain', ids[1] ?? ''], { cwd: root });
  expect(commands(explained.stdout)).toEqual([ids[1]]);
  expect((await outboxify(['rewrite', ids[1] ?? '', '--to', 'dual-publish'], { cwd: root })).stdout).toMatch(/^Refused/);
  expect(await outboxify(['rewrite', '(anonymous)', '--to', 'dual-publish'], { cwd: root })).toMatchObject({ code: 2, stderr: expect.stringContaining(`Name one as '${ids[0]}'`) });
});

test('explain, rewrite and inbox take what reports print: a file with a name, and a file with a line', async () => {
  const root = temporaryProject({ ...orderProject, 'src/mail.controller.ts': subscriberSource });
  const explain = async (subject: string): Promise<string> => (await outboxify(['explain', subject], { cwd: root })).stdout;
  const finding = await explain('OrderService.place');
  expect(finding).toContain('lost-event');
  for (const subject of ['src/order.service.ts#OrderService.place', 'src/order.service.ts:10', 'src/order.service.ts:11', './src/order.service.ts:12']) expect(await explain(subject)).toBe(finding);
  expect(await explain('src/order.service.ts#OrderService.announce')).toContain('no-write');
  expect(await explain('src/order.service.ts:16')).toContain('no-write');
  expect(await explain('src/mail.controller.ts#MailController.onPlaced')).toContain('subscriber');
  const { line } = (JSON.parse((await outboxify(['scan', '--format', 'json'], { cwd: root })).stdout) as { subscribers: { line: number }[] }).subscribers[0] ?? { line: 0 };
  expect(await explain(`src/mail.controller.ts:${line}`)).toBe(await explain('MailController.onPlaced'));
  const whole = await outboxify(['rewrite', 'OrderService.place', '--to', 'dual-publish'], { cwd: root });
  expect(whole.stdout).toMatch(/^Refused/);
  expect(await outboxify(['rewrite', 'src/order.service.ts:11', '--to', 'dual-publish'], { cwd: root })).toEqual(whole);
  expect(await outboxify(['inbox', `src/mail.controller.ts:${line}`], { cwd: root })).toEqual(await outboxify(['inbox', 'MailController.onPlaced'], { cwd: root }));
  expect(await outboxify(['explain', 'src/order.service.ts:1'], { cwd: root })).toMatchObject({ code: 2 });
});
