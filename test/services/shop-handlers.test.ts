import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshDatabase } from './service.js';

/** What this test uses of the demo's modules. */
interface Demo {
  copyApp(directory: string): string;
  compile(app: string): Promise<void>;
  migrate(app: string, urlOf: (service: string) => string): Promise<string[]>;
  createShop(options: { app: string; urlOf: (service: string) => string; brokerUrl: string }): Shop;
  startBroker(): Promise<{ readonly url: string; readonly counts: ReadonlyMap<string, number> }>;
  outboxify(app: string, args: readonly string[]): Promise<string>;
  outboxifyJson(app: string, args: readonly string[], options?: { readonly accept: readonly number[] }): Promise<unknown>;
  query(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  until<T>(what: string, probe: () => Promise<T>): Promise<T>;
  clear(): Promise<void>;
}

interface Shop {
  startAll(): Promise<void>;
  stopAll(): Promise<void>;
  addressOf(service: string): string;
}

/** One request, and the event that it stores and publishes. */
interface Case {
  readonly handler: string;
  readonly event: string;
  readonly service: 'orders' | 'payments' | 'notifications';
  readonly request: readonly [method: string, route: string, body?: object];
}

const demo = await loadDemo();
const databases = { orders: await freshDatabase(), payments: await freshDatabase(), notifications: await freshDatabase() };
const urlOf = (name: string): string => databases[name as keyof typeof databases].url;
const anOrder = '7d0a4f0e-3f0b-4bb5-9a55-0c5d9f6f0a11';
const aPaidOrder = '1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed';

const cases: readonly Case[] = [
  { handler: 'CancelOrderHandler.execute', event: 'order.cancelled', service: 'orders', request: ['POST', `/orders/${anOrder}/cancel`, { reason: 'changed my mind' }] },
  { handler: 'ReturnsService.register', event: 'order.returned', service: 'orders', request: ['POST', '/returns', { orderId: anOrder, refundCents: 500 }] },
  { handler: 'StockService.reserve', event: 'stock.reserved', service: 'orders', request: ['POST', '/stock/reservations', { orderId: anOrder, sku: 'TEAPOT', quantity: 2 }] },
  { handler: 'CouponsService.redeem', event: 'coupon.redeemed', service: 'orders', request: ['POST', '/coupons/ten/redemptions', { orderId: anOrder }] },
  { handler: 'PricesService.change', event: 'price.changed', service: 'orders', request: ['PUT', '/catalogue/products/TEAPOT/price', { priceCents: 200 }] },
  { handler: 'CustomersService.register', event: 'customer.registered', service: 'orders', request: ['POST', '/customers', { email: 'kim@shop.example', fullName: 'Kim' }] },
  { handler: 'RefundsService.refundOrder', event: 'payment.refunded', service: 'payments', request: ['POST', '/refunds', { orderId: aPaidOrder, reason: 'broken' }] },
  { handler: 'DeclinesService.record', event: 'payment.declined', service: 'payments', request: ['POST', '/payments/declines', { orderId: anOrder, amountCents: 300, currency: 'EUR', reason: 'limit' }] },
  { handler: 'PreferencesService.optOut', event: 'customer.opted-out', service: 'notifications', request: ['DELETE', '/promotions/recipients/kim@shop.example'] },
];

describe.skipIf(!databases.orders.available)('the handlers of the shop, rewritten one by one', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'outboxify-handlers-'));
  const rewritten = new Set<string>();
  let shop: Shop;
  let counts: ReadonlyMap<string, number>;

  beforeAll(async () => {
    const app = demo.copyApp(directory);
    await demo.outboxify(app, ['init']);
    for (const service of Object.keys(databases)) await demo.outboxify(app, ['migration', 'outbox', '--service', service, '--write']);
    for (const { handler } of cases) {
      const outcome = await demo.outboxifyJson(app, ['rewrite', handler, '--to', 'dual-publish', '--write'], { accept: [0, 1] });
      if ((outcome as { readonly outcome: string }).outcome === 'written') rewritten.add(handler);
    }
    await demo.compile(app);
    await demo.migrate(app, urlOf);
    await seed();
    const broker = await demo.startBroker();
    counts = broker.counts;
    shop = demo.createShop({ app, urlOf, brokerUrl: broker.url });
    await shop.startAll();
  }, 400_000);

  afterAll(async () => {
    await shop?.stopAll();
    await demo.clear();
    rmSync(directory, { recursive: true, force: true });
  });

  test.each(cases)('$handler stores $event with what it saves, and publishes the same event', async ({ handler, event, service, request }) => {
    expect([...rewritten]).toContain(handler);
    const [method, route, body] = request;
    const init = { method, headers: { 'content-type': 'application/json' }, body: body === undefined ? null : JSON.stringify(body) };
    const response = await fetch(shop.addressOf(service) + route, init);
    expect(response.status, await response.text()).toBeLessThan(300);
    await demo.until(`${event} at the broker`, () => Promise.resolve(counts.get(event) === 1));
    const rows = await demo.query(urlOf(service), "SELECT id, payload->>'eventId' AS event, status FROM outbox WHERE message_type = $1", [event]);
    expect(rows).toEqual([{ id: rows[0]?.['event'], event: expect.any(String) as string, status: 'pending' }]);
  });

  test('a handler that fails stores no event and publishes none', async () => {
    const body = JSON.stringify({ orderId: anOrder, sku: 'TEAPOT', quantity: 99 });
    const response = await fetch(`${shop.addressOf('orders')}/stock/reservations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(response.status).toBe(409);
    expect(await demo.query(urlOf('orders'), "SELECT count(*)::int AS count FROM outbox WHERE message_type = 'stock.reserved'")).toEqual([{ count: 1 }]);
    expect(counts.get('stock.reserved')).toBe(1);
  });
});

async function seed(): Promise<void> {
  await demo.query(urlOf('orders'), "INSERT INTO stock_items (sku, available) VALUES ('TEAPOT', 5)");
  await demo.query(urlOf('orders'), "INSERT INTO products (sku, title, price_cents) VALUES ('TEAPOT', 'Teapot', 100)");
  await demo.query(urlOf('orders'), "INSERT INTO orders (id, customer_email, total_cents, status) VALUES ($1, 'kim@shop.example', 1000, 'placed')", [anOrder]);
  await demo.query(urlOf('payments'), "INSERT INTO payments (order_id, amount_cents, currency, status) VALUES ($1, 1000, 'EUR', 'captured')", [aPaidOrder]);
}

/** The demo is plain JavaScript outside the build; its modules are typed here, where they are used. */
async function loadDemo(): Promise<Demo> {
  const load = (file: string): Promise<object> => import(new URL(`../../fixtures/apps/shop/demo/${file}`, import.meta.url).href) as Promise<object>;
  const modules = await Promise.all(['app.mjs', 'shop.mjs', 'postgres.mjs', 'children.mjs', 'broker.mjs', 'outboxify.mjs', 'stage.mjs'].map(load));
  return Object.assign({}, ...modules) as Demo;
}
