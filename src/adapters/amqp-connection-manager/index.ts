import type { ExternalName, StackAdapter } from '../adapter.js';

const CHANNELS: readonly ExternalName[] = ['amqp-connection-manager:ChannelWrapper'];

/** amqp-connection-manager: a channel that reconnects; `publish` resolves on the broker's confirmation. */
const amqpConnectionManager = {
  name: 'amqp-connection-manager',
  title: 'amqp-connection-manager',
  docs: 'https://github.com/jwalton/node-amqp-connection-manager',
  language: 'ts',
  enablers: ['amqp-connection-manager'],
  types: { 'amqp-connection-manager:AmqpConnectionManager': { members: { 'createChannel()': 'amqp-connection-manager:ChannelWrapper' } } },
  functions: { 'amqp-connection-manager:connect': 'amqp-connection-manager:AmqpConnectionManager' },
  effects: [
    {
      effect: 'publish', on: CHANNELS, call: ['publish'], bus: 'amqp-connection-manager', transport: 'broker', destination: [1, 0], message: 2,
      route: { transport: 'amqp', exchange: 0, routingKey: 1 },
    },
    {
      effect: 'publish', on: CHANNELS, call: ['sendToQueue'], bus: 'amqp-connection-manager', transport: 'broker', destination: [0], message: 1,
      route: { transport: 'amqp', queue: 0 },
    },
  ],
  subscribers: [{ by: 'call', on: CHANNELS, call: ['consume'], bus: 'amqp-connection-manager', destination: [0], callback: 1 }],
} satisfies StackAdapter;

export default amqpConnectionManager;
