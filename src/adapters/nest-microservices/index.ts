import type { ExternalName, StackAdapter } from '../adapter.js';

const CLIENTS: readonly ExternalName[] = ['ClientProxy', 'ClientRMQ', 'ClientKafka', 'ClientKafkaProxy', 'ClientMqtt', 'ClientNats', 'ClientRedis', 'ClientTCP']
  .map((name): ExternalName => `@nestjs/microservices:${name}`);

/** Nest's transports: `emit` publishes at once (its observable is hot); `send` waits for a reply. */
const nestMicroservices = {
  name: 'nest-microservices',
  title: 'NestJS microservices',
  docs: 'https://docs.nestjs.com/microservices/basics',
  language: 'ts',
  enablers: ['@nestjs/microservices'],
  functions: { '@nestjs/microservices:ClientProxyFactory.create': '@nestjs/microservices:ClientProxy' },
  effects: [
    {
      effect: 'publish', on: CLIENTS, call: ['emit', 'emitBatch'], bus: 'nest-clientproxy', transport: 'broker', destination: [0], message: 1,
      route: { transport: 'nest', pattern: 0 },
    },
    { effect: 'request', on: CLIENTS, call: ['send'], bus: 'nest-clientproxy', transport: 'broker', destination: [0], message: 1 },
  ],
  subscribers: [
    { by: 'decorator', decorator: '@nestjs/microservices:EventPattern', bus: 'nest-clientproxy', destination: [0] },
  ],
  entries: [
    { decorator: '@nestjs/microservices:EventPattern', entry: 'subscriber' },
    { decorator: '@nestjs/microservices:MessagePattern', entry: 'subscriber' },
    { decorator: '@nestjs/microservices:GrpcMethod', entry: 'http' },
  ],
} satisfies StackAdapter;

export default nestMicroservices;
