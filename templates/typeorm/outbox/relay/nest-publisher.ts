import { ClientKafka, ClientMqtt, ClientNats, ClientProxy, ClientRMQ, MqttRecordBuilder, RmqRecordBuilder } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import type { Route } from '../routes.js';
import { BrokerFault, reasonOf, within, type OutboxMessage, type Publisher } from './publisher.js';

type NestRoute = Extract<Route, { transport: 'nest' }>;

const connectTimeoutMs = 5_000;

/** How these clients and their drivers word the loss of a connection; the ones with a `code` are told by that. */
const connectionWords = /connection|connect |channel (?:closed|ended)|channel is (?:closed|closing)|socket|disconnect|client (?:closed|ended)|offline|broker/i;
const connectionCodes = /^(?:ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOST|ENET|EAI_|CONNECTION|TIMEOUT|DISCONNECT)/;

/**
 * Publishes through the service's own `ClientProxy`, so with its transport, options and serializer.
 *
 * When `emit` completes: RMQ, the broker has confirmed; MQTT, has acknowledged (the relay asks for QoS 1); Kafka, as
 * `acks` says; Redis, has taken it; NATS, has answered a flush. TCP confirms nothing: a message can be lost there.
 */
export class NestPublisher implements Publisher {
  private readonly clients = new Map<string, ClientProxy>();

  /** `find` resolves an injection token. */
  constructor(private readonly find: (token: NestRoute['client']) => unknown) {}

  brokerOf(route: Route): string | null {
    if (route.transport !== 'nest') return null;
    const name = brokerName(route);
    const client = this.clients.get(name) ?? this.find(route.client);
    if (!isClient(client)) throw new Error(`the provider '${String(route.client)}' is not a ClientProxy.`);
    this.clients.set(name, client);
    return name;
  }

  async publish(route: Route, message: OutboxMessage): Promise<void> {
    if (route.transport !== 'nest') throw new Error(`'${message.type}' does not go through a Nest client`);
    const client: ClientProxy | undefined = this.clients.get(brokerName(route));
    if (client === undefined) throw new Error(`no client for '${message.type}'`);
    await this.connect(client);
    try {
      await lastValueFrom(client.emit<unknown, unknown>(route.pattern, toData(client, message)), { defaultValue: undefined });
      if (client instanceof ClientNats) await client.unwrap<{ flush(): Promise<void> }>().flush();
    } catch (error) {
      if (isConnectionError(error)) throw new BrokerFault(reasonOf(error));
      await this.connect(client); // refuses when the connection was lost meanwhile, whatever the error says
      throw error;
    }
  }

  /** The clients reconnect by themselves; Kafka's remembers a failed first connection for good, unless it is closed. */
  async reset(broker: string): Promise<void> {
    const client = this.clients.get(broker);
    if (client instanceof ClientKafka) await client.close();
  }

  /** The application closes its clients. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private async connect(client: ClientProxy): Promise<void> {
    try {
      await within(connectTimeoutMs, Promise.resolve(client.connect()), 'connecting to the broker');
    } catch (error) {
      throw new BrokerFault(error === undefined ? 'the broker closed the connection' : reasonOf(error));
    }
  }
}

function isClient(value: unknown): value is ClientProxy {
  return value instanceof ClientProxy;
}

function brokerName(route: NestRoute): string {
  return `nest:${typeof route.client === 'function' ? route.client.name : String(route.client)}`;
}

/**
 * The body that the legacy publish sent, with the id where the transport has a place for it. What it sent without
 * persistence or acknowledgement goes with it: a confirmed message must outlive a restart of the broker.
 */
function toData(client: ClientProxy, message: OutboxMessage): unknown {
  const body: unknown = JSON.parse(message.payload);
  const serializer = client['serializer'].constructor.name; // one of the project's own may not know Nest's records
  if (client instanceof ClientRMQ && serializer === 'RmqRecordSerializer') {
    return new RmqRecordBuilder(body).setOptions({ persistent: true, messageId: message.id, headers: { eventId: message.id } }).build();
  }
  if (client instanceof ClientMqtt && serializer === 'MqttRecordSerializer') {
    const properties = { userProperties: { eventId: message.id } };
    return new MqttRecordBuilder(body).setQoS(1).setProperties(properties).build();
  }
  return body;
}

function isConnectionError(error: unknown): boolean {
  if (error instanceof BrokerFault) return true;
  if (!(error instanceof Error)) return true; // Nest's clients throw a text, or nothing at all, when the connection is lost
  const { code, retriable } = error as Error & { code?: unknown; retriable?: unknown };
  if (retriable === true || (typeof code === 'string' && connectionCodes.test(code))) return true;
  return connectionWords.test(error.message);
}
