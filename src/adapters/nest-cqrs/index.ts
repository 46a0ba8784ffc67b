import type { StackAdapter } from '../adapter.js';

/** @nestjs/cqrs: who calls a handler class. */
const nestCqrs = {
  name: 'nest-cqrs',
  title: '@nestjs/cqrs',
  docs: 'https://docs.nestjs.com/recipes/cqrs',
  language: 'ts',
  enablers: ['@nestjs/cqrs'],
  entries: [
    { decorator: '@nestjs/cqrs:CommandHandler', entry: 'command', method: 'execute' },
    { decorator: '@nestjs/cqrs:EventsHandler', entry: 'subscriber', method: 'handle' },
  ],
} satisfies StackAdapter;

export default nestCqrs;
