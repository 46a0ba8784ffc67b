import type { StackAdapter } from '../adapter.js';

/** @golevelup/nestjs-rabbitmq: `publish(exchange, routingKey, message)`; `request` waits for a reply. */
const golevelupRabbitmq = {
  name: 'golevelup-rabbitmq',
  title: '@golevelup/nestjs-rabbitmq',
  docs: 'https://golevelup.github.io/nestjs/modules/rabbitmq.html',
  language: 'ts',
  enablers: ['@golevelup/nestjs-rabbitmq'],
  types: { '@golevelup/nestjs-rabbitmq:AmqpConnection': { members: { channel: 'amqplib:ConfirmChannel', managedChannel: 'amqp-connection-manager:ChannelWrapper' } } },
  effects: [
    {
      effect: 'publish', on: ['@golevelup/nestjs-rabbitmq:AmqpConnection'], call: ['publish'], bus: 'golevelup-rabbitmq', transport: 'broker',
      destination: [1, 0], message: 2, route: { transport: 'amqp', exchange: 0, routingKey: 1 },
    },
    { effect: 'request', on: ['@golevelup/nestjs-rabbitmq:AmqpConnection'], call: ['request'], bus: 'golevelup-rabbitmq', transport: 'broker', destination: [], message: 0 },
  ],
  subscribers: [
    {
      by: 'decorator', decorator: '@golevelup/nestjs-rabbitmq:RabbitSubscribe', bus: 'golevelup-rabbitmq',
      destination: [{ argument: 0, property: 'routingKey' }, { argument: 0, property: 'exchange' }, { argument: 0, property: 'queue' }],
    },
  ],
  entries: [
    { decorator: '@golevelup/nestjs-rabbitmq:RabbitSubscribe', entry: 'subscriber' },
    { decorator: '@golevelup/nestjs-rabbitmq:RabbitRPC', entry: 'subscriber' },
  ],
} satisfies StackAdapter;

export default golevelupRabbitmq;
