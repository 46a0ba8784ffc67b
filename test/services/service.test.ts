import amqp from 'amqplib';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { freshDatabase, ownBroker, service } from './service.js';

const database = await freshDatabase();
const rabbitmq = await service('rabbitmq');

describe.skipIf(!database.available)('the PostgreSQL of the tests', () => {
  it('gives an empty database', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ name: string; tables: string }>("SELECT current_database() AS name, (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS tables");
    await client.end();
    expect(rows).toEqual([{ name: database.name, tables: '0' }]);
  });

  it('asks for the password', async () => {
    const url = new URL(database.url);
    url.password = 'another';
    await expect(new pg.Client({ connectionString: url.href }).connect()).rejects.toMatchObject({ code: '28P01' });
  });
});

describe.skipIf(!rabbitmq.available)('the RabbitMQ of the tests', () => {
  it('takes a message and gives it back', async () => {
    expect(await roundTrip(rabbitmq.url)).toBe('hello');
  });

  it('can be stopped, killed and started again with its data', async () => {
    const broker = await ownBroker();
    await store(broker.url, 'kept');
    await broker.stop();
    await expect(amqp.connect(broker.url)).rejects.toThrow(/ECONNREFUSED/);
    await broker.start();
    expect(await fetchOne(broker.url)).toBe('kept');
    await store(broker.url, 'kept again');
    await broker.kill();
    await broker.start();
    expect(await fetchOne(broker.url)).toBe('kept again');
    await broker.remove();
  }, 180_000);
});

async function store(url: string, text: string): Promise<void> {
  const connection = await amqp.connect(url);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue('kept', { durable: true });
  channel.sendToQueue('kept', Buffer.from(text), { persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

async function fetchOne(url: string): Promise<string | null> {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  const message = await channel.get('kept', { noAck: true });
  await connection.close();
  return message === false ? null : message.content.toString();
}

async function roundTrip(url: string): Promise<string | null> {
  const connection = await amqp.connect(url);
  const channel = await connection.createConfirmChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  channel.sendToQueue(queue, Buffer.from('hello'));
  await channel.waitForConfirms();
  const message = await channel.get(queue, { noAck: true });
  await connection.close();
  return message === false ? null : message.content.toString();
}
