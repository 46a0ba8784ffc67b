import type { ConfirmChannel, Message, Options } from 'amqplib';
import { BrokerFault, reasonOf } from './publisher.js';

export interface AmqpSend {
  readonly exchange: string;
  readonly routingKey: string;
  readonly id: string;
  readonly content: Buffer;
  readonly options: Options.Publish;
}

interface InFlight {
  returned: string | null;
  readonly settle: (error: Error | null) => void;
}

/** A confirm channel that tells what became of each message. */
export class AmqpChannel {
  private readonly inFlight = new Map<string, InFlight>();

  constructor(
    private readonly channel: ConfirmChannel,
    private readonly forget: () => void,
  ) {
    channel.on('return', (message: Message) => {
      const sent = this.inFlight.get(String(message.properties.messageId));
      // The return comes before the confirmation of the same message.
      if (sent !== undefined) sent.returned = `no queue takes it (exchange '${message.fields.exchange}', routing key '${message.fields.routingKey}')`;
    });
    channel.on('error', (error: Error) => {
      this.end(error); // RabbitMQ closed the channel, not the connection: no such exchange, no permission, message too large
    });
    channel.on('close', () => {
      this.end(new BrokerFault('the connection was closed'));
    });
  }

  publish(send: AmqpSend): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => {
        if (this.inFlight.get(send.id) === sent) this.inFlight.delete(send.id);
        if (error === null) resolve();
        else reject(error);
      };
      const sent: InFlight = { returned: null, settle };
      this.inFlight.set(send.id, sent);
      try {
        this.channel.publish(send.exchange, send.routingKey, send.content, send.options, (error: unknown) => {
          this.confirmed(sent, error);
        });
      } catch (error) {
        // Options that can't be encoded are the message's fault; a channel that is closed is not.
        settle(error instanceof TypeError ? error : new BrokerFault(reasonOf(error)));
      }
    });
  }

  private confirmed(sent: InFlight, error: unknown): void {
    if (sent.returned !== null) sent.settle(new Error(sent.returned));
    else if (error === null || error === undefined) sent.settle(null);
    else if (/channel closed/i.test(reasonOf(error))) sent.settle(new BrokerFault('the connection was closed'));
    else sent.settle(new Error(`RabbitMQ refused it: ${reasonOf(error)}`));
  }

  private end(error: Error): void {
    this.forget();
    for (const sent of [...this.inFlight.values()]) sent.settle(error);
    this.inFlight.clear();
  }
}
