import type { ExternalName, StackAdapter } from '../adapter.js';

const CHANNELS: readonly ExternalName[] = ['amqplib:Channel', 'amqplib:ConfirmChannel'];

/** amqplib, promise and callback API. `consume` hands each message to its callback. */
const amqplib = {
  name: 'amqplib',
  title: 'amqplib',
  docs: 'https://amqp-node.github.io/amqplib/channel_api.html',
  language: 'ts',
  enablers: ['amqplib'],
  types: {
    'amqplib:ChannelModel': { members: { 'createChannel()': 'amqplib:Channel', 'createConfirmChannel()': 'amqplib:ConfirmChannel', connection: 'amqplib:ChannelModel' } },
    'amqplib:Connection': { members: { 'createChannel()': 'amqplib:Channel', 'createConfirmChannel()': 'amqplib:ConfirmChannel' } },
  },
  functions: { 'amqplib:connect': 'amqplib:ChannelModel' },
  effects: [
    {
      effect: 'publish', on: CHANNELS, call: ['publish'], bus: 'amqplib', transport: 'broker', destination: [1, 0], message: 2,
      route: { transport: 'amqp', exchange: 0, routingKey: 1 },
    },
    {
      effect: 'publish', on: CHANNELS, call: ['sendToQueue'], bus: 'amqplib', transport: 'broker', destination: [0], message: 1,
      route: { transport: 'amqp', queue: 0 },
    },
  ],
  subscribers: [{ by: 'call', on: CHANNELS, call: ['consume'], bus: 'amqplib', destination: [0], callback: 1 }],
} satisfies StackAdapter;

export default amqplib;
