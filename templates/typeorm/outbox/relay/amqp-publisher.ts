import { connect, type ConfirmChannel, type Options } from 'amqplib';
import type { Route } from '../routes.js';
import { AmqpChannel } from './amqp-channel.js';
import { BrokerFault, reasonOf, within, type OutboxMessage, type Publisher } from './publisher.js';

type Connection = Awaited<ReturnType<typeof connect>>;
type AmqpRoute = Extract<Route, { transport: 'amqp' }>;

const broker = 'amqp';
const connectTimeoutMs = 5_000;
const heartbeatSeconds = 10;

/** Publishes to RabbitMQ over confirm channels of its own connection; one channel per exchange, because RabbitMQ closes a channel for a fault of one message. */
export class AmqpPublisher implements Publisher {
  private connection: Promise<Connection> | null = null;
  private channels = new Map<string, Promise<AmqpChannel>>();

  constructor(private readonly url: string) {}

  brokerOf(route: Route): string | null {
    return route.transport === 'amqp' ? broker : null;
  }

  async publish(route: Route, message: OutboxMessage): Promise<void> {
    if (route.transport !== 'amqp') throw new Error(`'${message.type}' does not go to RabbitMQ`);
    const { exchange, routingKey } = addressOf(route);
    const channel = await this.channelOf(exchange);
    await channel.publish({ exchange, routingKey, id: message.id, content: Buffer.from(message.payload), options: toOptions(route, message.id) });
  }

  /** A connection that stopped answering is left behind, not waited for. */
  async reset(): Promise<void> {
    const { connection } = this;
    this.connection = null;
    this.channels = new Map();
    void connection?.then((open) => open.close()).catch(() => undefined);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    const { connection } = this;
    this.connection = null;
    this.channels = new Map();
    if (connection !== null) await within(connectTimeoutMs, connection.then((open) => open.close()), 'closing the connection').catch(() => undefined);
  }

  private channelOf(exchange: string): Promise<AmqpChannel> {
    const known = this.channels.get(exchange);
    if (known !== undefined) return known;
    const { channels } = this;
    const channel = this.openChannel().then((confirm) => new AmqpChannel(confirm, () => channels.delete(exchange)));
    channels.set(exchange, channel);
    channel.catch(() => channels.delete(exchange));
    return channel;
  }

  private async openChannel(): Promise<ConfirmChannel> {
    try {
      this.connection ??= this.openConnection();
      const connection = await this.connection;
      return await within(connectTimeoutMs, connection.createConfirmChannel(), 'opening a channel');
    } catch (error) {
      throw new BrokerFault(reasonOf(error));
    }
  }

  private openConnection(): Promise<Connection> {
    const url = new URL(this.url);
    if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(heartbeatSeconds));
    const opening = connect(url.href, { timeout: connectTimeoutMs });
    const forget = (): void => {
      if (this.connection === opening) this.connection = null;
    };
    opening.then((connection) => {
      connection.on('error', () => undefined); // 'close' follows, and the channels say what was in flight
      connection.on('close', forget);
    }, forget);
    return opening;
  }
}

function addressOf(route: AmqpRoute): { exchange: string; routingKey: string } {
  return 'queue' in route ? { exchange: '', routingKey: route.queue } : { exchange: route.exchange, routingKey: route.routingKey };
}

function toOptions(route: AmqpRoute, id: string): Options.Publish {
  return { mandatory: true, persistent: true, ...route.options, messageId: id, headers: { ...route.options?.headers, eventId: id } };
}
