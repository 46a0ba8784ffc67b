import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import amqp from 'amqplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshDatabase, service } from './service.js';

/** What this test uses of the demo's modules. */
interface Demo {
  copyApp(directory: string): string;
  compile(app: string): Promise<void>;
  migrate(app: string, urlOf: (service: string) => string): Promise<string[]>;
  createShop(options: { app: string; urlOf: (service: string) => string; brokerUrl: string }): Shop;
  query(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  outboxOf(app: string, service: string): string;
  toDualPublish(context: Context): Promise<void>;
  runDualPublish(context: Context): Promise<void>;
  toInboxAndRelay(context: Context): Promise<void>;
  cutOver(context: Context): Promise<void>;
  startMigratedShop(context: Context): Promise<void>;
  crash(context: Context): Promise<{ readonly name: string }[]>;
  judge(context: Context, orders: readonly object[], lost: string): Promise<string[]>;
  until<T>(what: string, probe: () => Promise<T>, limitMs?: number): Promise<T>;
}

interface Context {
  readonly app: string;
  readonly shop: Shop;
  readonly urlOf: (service: string) => string;
  readonly outboxOf: (service: string) => string;
  readonly broker: { readonly counts: ReadonlyMap<string, number> };
}

type Databases = Record<'orders' | 'payments' | 'notifications', Awaited<ReturnType<typeof freshDatabase>>>;

interface Shop {
  startAll(): Promise<void>;
  startService(service: string): Promise<void>;
  stopOne(service: string): Promise<void>;
  stopAll(): Promise<void>;
  addressOf(service: string): string;
}

const demo = await loadDemo();
const rabbitmq = await service('rabbitmq');
const databases = await freshDatabases();
const migratedDatabases = await freshDatabases();
const available = rabbitmq.available && databases.orders.available;

describe.skipIf(!available)('the example shop on RabbitMQ', () => {
  const urlOf = urlsOf(databases);
  const directory = mkdtempSync(path.join(tmpdir(), 'outboxify-shop-'));
  let shop: Shop;

  beforeAll(async () => {
    const app = demo.copyApp(directory);
    await demo.compile(app);
    await demo.migrate(app, urlOf);
    shop = demo.createShop({ app, urlOf, brokerUrl: rabbitmq.url });
    await shop.startAll();
  });

  afterAll(async () => {
    await shop.stopAll();
    await removeQueues(rabbitmq.url);
    rmSync(directory, { recursive: true, force: true });
  });

  test('an order is paid and the customer gets both mails', async () => {
    const id = await placeOrder('ada@shop.example', 4200);
    await mailsOf(id, ['order-confirmation', 'payment-receipt']);
    expect(await demo.query(urlOf('payments'), 'SELECT amount_cents, status FROM payments WHERE order_id = $1', [id])).toEqual([{ amount_cents: 4200, status: 'captured' }]);
    expect(await statusOf(id)).toBe('paid');
  });

  test('a paid order is shipped, another one cancelled and refunded', async () => {
    const [shipped, cancelled] = await Promise.all([placeOrder('eve@shop.example', 1000), placeOrder('max@shop.example', 2000)]);
    await mailsOf(shipped, ['order-confirmation', 'payment-receipt']);
    await mailsOf(cancelled, ['order-confirmation', 'payment-receipt']);
    expect((await post('orders', `/orders/${shipped}/ship`, { trackingCode: 'PKG-12345' })).status).toBe(204);
    expect((await post('orders', `/orders/${cancelled}/cancel`, { reason: 'changed my mind' })).status).toBe(204);
    await mailsOf(shipped, ['order-confirmation', 'parcel-on-its-way', 'payment-receipt']);
    await mailsOf(cancelled, ['order-confirmation', 'payment-receipt', 'refund-notice']);
    expect(await demo.query(urlOf('payments'), 'SELECT status FROM payments WHERE order_id = $1', [cancelled])).toEqual([{ status: 'refunded' }]);
  });

  test('an event waits in its queue for a subscriber that is down', async () => {
    await shop.stopOne('payments');
    const id = await placeOrder('bob@shop.example', 5100);
    await mailsOf(id, ['order-confirmation']);
    await shop.startService('payments');
    await mailsOf(id, ['order-confirmation', 'payment-receipt']);
  });

  test('a request gets its reply', async () => {
    const id = await placeOrder('kim@shop.example', 10_000);
    const quote = await fetch(`${shop.addressOf('orders')}/orders/${id}/payment-quote`);
    expect(await quote.json()).toEqual({ feeCents: 165, methods: ['card', 'sepa'] });
  });

  async function placeOrder(customerEmail: string, unitPriceCents: number): Promise<string> {
    const response = await post('orders', '/orders', { customerEmail, lines: [{ sku: 'TEAPOT', quantity: 1, unitPriceCents }] });
    expect(response.status).toBe(201);
    return ((await response.json()) as { id: string }).id;
  }

  function post(name: string, route: string, body: object): Promise<Response> {
    return fetch(shop.addressOf(name) + route, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  }

  async function mailsOf(orderId: string, expected: readonly string[]): Promise<void> {
    const read = async (): Promise<unknown[]> => (await demo.query(urlOf('notifications'), 'SELECT template FROM sent_mails WHERE order_id = $1 ORDER BY template', [orderId])).map((row) => row['template']);
    await demo.until(`mails of ${orderId}`, async () => (await read()).length >= expected.length);
    expect(await read()).toEqual(expected);
  }

  async function statusOf(orderId: string): Promise<unknown> {
    return (await demo.query(urlOf('orders'), 'SELECT status FROM orders WHERE id = $1', [orderId]))[0]?.['status'];
  }
});

describe.skipIf(!available)('the shop that outboxify has moved to the outbox, on RabbitMQ', () => {
  const urlOf = urlsOf(migratedDatabases);
  const directory = mkdtempSync(path.join(tmpdir(), 'outboxify-shop-'));
  let shop: Shop | undefined;

  afterAll(async () => {
    await shop?.stopAll();
    await removeQueues(rabbitmq.url);
    rmSync(directory, { recursive: true, force: true });
  });

  test('every event arrives and has every effect once, through a kill -9 at every place', async () => {
    const app = demo.copyApp(directory);
    await demo.compile(app);
    await demo.migrate(app, urlOf);
    shop = demo.createShop({ app, urlOf, brokerUrl: rabbitmq.url });
    const context = { app, shop, urlOf, outboxOf: (name: string) => demo.outboxOf(app, name), broker: { counts: new Map<string, number>() } };
    await demo.toDualPublish(context);
    await demo.runDualPublish(context);
    await demo.toInboxAndRelay(context);
    await demo.cutOver(context);
    await demo.startMigratedShop(context);
    const orders = await demo.crash(context);
    expect(orders.map((order) => order.name)).toEqual(['cleo', 'dora', 'emil', 'fred', 'gina', 'hugo']);
    expect(await demo.judge(context, orders, '')).toEqual([]);
  }, 400_000);
});

function freshDatabases(): Promise<Databases> {
  const one = (): ReturnType<typeof freshDatabase> => freshDatabase();
  return Promise.all([one(), one(), one()]).then(([orders, payments, notifications]) => ({ orders, payments, notifications }));
}

function urlsOf(all: Databases): (service: string) => string {
  return (name) => all[name as keyof Databases].url;
}

async function removeQueues(url: string): Promise<void> {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  for (const name of ['orders', 'payments', 'notifications']) await channel.deleteQueue(`shop.${name}`);
  await channel.deleteExchange('shop');
  await connection.close();
}

/** The demo is plain JavaScript outside the build; its modules are typed here, where they are used. */
async function loadDemo(): Promise<Demo> {
  const load = (file: string): Promise<object> => import(new URL(`../../fixtures/apps/shop/demo/${file}`, import.meta.url).href) as Promise<object>;
  const modules = await Promise.all(['app.mjs', 'shop.mjs', 'postgres.mjs', 'children.mjs', 'move.mjs', 'crashes.mjs', 'verdict.mjs'].map(load));
  return Object.assign({}, ...modules) as Demo;
}
