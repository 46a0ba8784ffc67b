import type { StackAdapter } from './adapter.js';
import amqpConnectionManager from './amqp-connection-manager/index.js';
import amqplib from './amqplib/index.js';
import golevelupRabbitmq from './golevelup-rabbitmq/index.js';
import nest from './nest/index.js';
import nestCqrs from './nest-cqrs/index.js';
import nestMicroservices from './nest-microservices/index.js';
import nestSchedule from './nest-schedule/index.js';
import nestjsClsTransactional from './nestjs-cls-transactional/index.js';
import typeorm from './typeorm/index.js';
import typeormTransactional from './typeorm-transactional/index.js';

/** Every adapter, in alphabetical order. */
export const adapters: readonly StackAdapter[] = [
  amqpConnectionManager, amqplib, golevelupRabbitmq, nest, nestCqrs, nestMicroservices, nestSchedule, nestjsClsTransactional, typeorm, typeormTransactional,
];
