import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { ClientsModule, Transport, type ClientProxy } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import aedes from 'aedes';
import amqp, { type GetMessage } from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { integrationEvent } from '../../templates/typeorm/outbox/integration-event.js';
import { AmqpPublisher } from '../../templates/typeorm/outbox/relay/amqp-publisher.js';
import { NestPublisher } from '../../templates/typeorm/outbox/relay/nest-publisher.js';
import { BrokerFault, type OutboxMessage, type Publisher } from '../../templates/typeorm/outbox/relay/publisher.js';
import type { Route } from '../../templates/typeorm/outbox/routes.js';
import { service } from './service.js';

const rabbitmq = await service('rabbitmq');
const nowhere = '127.0.0.1:9'; // the port of the discard protocol: nobody listens

function messageOf(fields: object): OutboxMessage {
  const event = integrationEvent(fields);
  return { id: event.eventId, type: 'order.placed', payload: JSON.stringify(event) };
}

/** Publishes as the relay does: the publisher has seen the route first. */
async function publish(publisher: Publisher, route: Route, message: OutboxMessage): Promise<void> {
  expect(publisher.brokerOf(route)).not.toBeNull();
  await publisher.publish(route, message);
}

async function nestPublisher(transport: Transport.RMQ | Transport.MQTT, options: object) {
  const module = await Test.createTestingModule({ imports: [ClientsModule.register([{ name: 'EVENTS', transport, options }])] }).setLogger({ log: () => undefined, warn: () => undefined, error: () => undefined }).compile();
  return { publisher: new NestPublisher((token) => module.get<ClientProxy>(token, { strict: false })), close: () => module.close() };
}

describe.skipIf(!rabbitmq.available)('on RabbitMQ', () => {
  let connection: Awaited<ReturnType<typeof amqp.connect>>;
  let channel: Awaited<ReturnType<typeof connection.createChannel>>;
  const take = async (queue: string): Promise<GetMessage> => {
    const message = await channel.get(queue, { noAck: true });
    if (message === false) throw new Error(`nothing in '${queue}'`);
    return message;
  };

  beforeAll(async () => {
    connection = await amqp.connect(rabbitmq.url);
    channel = await connection.createChannel();
    await channel.assertExchange('orders', 'topic', { durable: true });
    await channel.assertQueue('placed', { durable: true });
    await channel.bindQueue('placed', 'orders', 'order.placed');
  });
  afterAll(() => connection.close());

  describe('AmqpPublisher', () => {
    const publisher = new AmqpPublisher(rabbitmq.url);
    const placed: Route = { transport: 'amqp', exchange: 'orders', routingKey: 'order.placed', options: { contentType: 'application/json', headers: { tenant: 'north' } } };
    afterAll(() => publisher.close());

    it('sends what the legacy publish sent, persistent, with the id in message id and headers', async () => {
      const message = messageOf({ orderId: 1 });
      await publish(publisher, placed, message);
      const { content, fields, properties } = await take('placed');
      expect(JSON.parse(content.toString())).toEqual(JSON.parse(message.payload));
      expect(fields).toMatchObject({ exchange: 'orders', routingKey: 'order.placed' });
      expect(properties).toMatchObject({ messageId: message.id, deliveryMode: 2, contentType: 'application/json', headers: { tenant: 'north', eventId: message.id } });
    });

    it('sends to a queue', async () => {
      const message = messageOf({ orderId: 2 });
      await publish(publisher, { transport: 'amqp', queue: 'placed' }, message);
      expect((await take('placed')).properties.messageId).toBe(message.id);
    });

    it('takes a message that no queue takes for one that fails, and the next one passes', async () => {
      const lost: Route = { transport: 'amqp', exchange: 'orders', routingKey: 'order.nobody' };
      const answers = await Promise.allSettled([publish(publisher, lost, messageOf({})), publish(publisher, placed, messageOf({})), publish(publisher, lost, messageOf({}))]);
      expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
      const error: unknown = await publish(publisher, lost, messageOf({})).catch((reason: unknown) => reason);
      expect(error).not.toBeInstanceOf(BrokerFault);
      expect(error).toMatchObject({ message: "no queue takes it (exchange 'orders', routing key 'order.nobody')" });
      await publish(publisher, { ...lost, options: { mandatory: false } }, messageOf({}));
      await channel.purgeQueue('placed');
    });

    it('takes a missing exchange for the message\'s fault, and goes on with the others', async () => {
      const missing: Route = { transport: 'amqp', exchange: 'missing', routingKey: 'x' };
      const answers = await Promise.allSettled([publish(publisher, missing, messageOf({})), publish(publisher, placed, messageOf({}))]);
      expect(answers[0]).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining("no exchange 'missing'") as string } });
      expect(answers[0]?.status === 'rejected' && answers[0].reason instanceof BrokerFault).toBe(false);
      expect(answers[1]?.status).toBe('fulfilled');
      await expect(publish(publisher, missing, messageOf({}))).rejects.toThrow("no exchange 'missing'");
      await channel.purgeQueue('placed');
    });

    it('takes options that can not be encoded for the message\'s fault', async () => {
      const bad: Route = { transport: 'amqp', exchange: 'orders', routingKey: 'x'.repeat(300) };
      const error: unknown = await publish(publisher, bad, messageOf({})).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(BrokerFault);
    });

    it('takes a broker that is not there for a broker that is down, each time', async () => {
      const other = new AmqpPublisher(`amqp://guest:guest@${nowhere}`);
      await expect(publish(other, placed, messageOf({}))).rejects.toBeInstanceOf(BrokerFault);
      await other.reset();
      await expect(publish(other, placed, messageOf({}))).rejects.toBeInstanceOf(BrokerFault);
      await other.close();
    });
  });

  describe('NestPublisher', () => {
    const route: Route = { transport: 'nest', client: 'EVENTS', pattern: 'order.placed' };

    it('sends what ClientProxy.emit sends, with the id in message id and headers', async () => {
      const { publisher, close } = await nestPublisher(Transport.RMQ, { urls: [rabbitmq.url], queue: 'nest-placed', queueOptions: { durable: true }, headers: { tenant: 'north' } });
      const message = messageOf({ orderId: 3, options: { gift: true } });
      await publish(publisher, route, message);
      const { content, properties } = await take('nest-placed');
      expect(JSON.parse(content.toString())).toEqual({ pattern: 'order.placed', data: JSON.parse(message.payload) });
      expect(properties).toMatchObject({ messageId: message.id, deliveryMode: 2, headers: { tenant: 'north', eventId: message.id } });
      await close();
    });

    it('leaves the body alone when the client has a serializer of its own', async () => {
      const serializer = { serialize: (packet: { pattern: string; data: unknown }) => ({ kind: packet.pattern, body: packet.data }) };
      const { publisher, close } = await nestPublisher(Transport.RMQ, { urls: [rabbitmq.url], queue: 'nest-own', serializer });
      const message = messageOf({ orderId: 4 });
      await publish(publisher, route, message);
      expect(JSON.parse((await take('nest-own')).content.toString())).toEqual({ kind: 'order.placed', body: JSON.parse(message.payload) });
      await close();
    });

    it('takes a broker that is not there for a broker that is down, each time', async () => {
      const { publisher, close } = await nestPublisher(Transport.RMQ, { urls: [`amqp://${nowhere}`], queue: 'nest-placed' });
      await expect(publish(publisher, route, messageOf({}))).rejects.toBeInstanceOf(BrokerFault);
      await expect(publish(publisher, route, messageOf({}))).rejects.toBeInstanceOf(BrokerFault);
      await close();
    });

    it('refuses a token that is not a client', () => {
      const publisher = new NestPublisher(() => ({ emit: () => undefined }));
      expect(() => publisher.brokerOf(route)).toThrow("the provider 'EVENTS' is not a ClientProxy");
    });
  });
});

describe('NestPublisher on MQTT', () => {
  const route: Route = { transport: 'nest', client: 'EVENTS', pattern: 'order.placed' };
  let broker: ReturnType<typeof aedes.createBroker>;
  let server: Server;
  let port = 0;

  const listen = async (at: number): Promise<void> => {
    broker = aedes.createBroker();
    server = createServer(broker.handle);
    server.listen(at);
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    port = address.port;
  };
  const end = async (): Promise<void> => {
    await new Promise<void>((resolve) => broker.close(() => server.close(() => resolve())));
  };

  it('asks for an acknowledgement, tells when the broker is gone, and goes on when it is back', async () => {
    await listen(0);
    const seen: { readonly topic: string; readonly qos: number; readonly payload: unknown }[] = [];
    const listenFor = (): void => {
      broker.on('publish', (packet, client) => {
        if (client) seen.push(packet);
      });
    };
    listenFor();
    const { publisher, close } = await nestPublisher(Transport.MQTT, { url: `mqtt://127.0.0.1:${port}`, reconnectPeriod: 50 });
    const first = messageOf({ orderId: 1, options: { gift: true } });
    await publish(publisher, route, first);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ topic: 'order.placed', qos: 1 });
    expect(JSON.parse(String(seen[0]?.payload))).toEqual({ pattern: 'order.placed', data: JSON.parse(first.payload) });

    await end();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await expect(publish(publisher, route, messageOf({ orderId: 2 }))).rejects.toBeInstanceOf(BrokerFault);

    await listen(port);
    listenFor();
    const last = messageOf({ orderId: 3 });
    for (let tries = 0; tries < 100; tries += 1) {
      const error: unknown = await publish(publisher, route, last).then(() => null, (reason: unknown) => reason);
      if (error === null) break;
      expect(error).toBeInstanceOf(BrokerFault);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(seen.some(({ payload }) => String(payload).includes(last.id))).toBe(true);
    await close();
    await end();
  });
});
