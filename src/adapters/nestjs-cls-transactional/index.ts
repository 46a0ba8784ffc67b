import type { StackAdapter } from '../adapter.js';

/** @nestjs-cls/transactional: only what goes through `TransactionHost.tx` (or `@InjectTransaction()`) joins. */
const nestjsClsTransactional = {
  name: 'nestjs-cls-transactional',
  title: '@nestjs-cls/transactional',
  docs: 'https://papooch.github.io/nestjs-cls/plugins/available-plugins/transactional',
  language: 'ts',
  enablers: ['@nestjs-cls/transactional'],
  transactions: [
    { style: 'decorator', decorator: '@nestjs-cls/transactional:Transactional', joins: 'handle' },
    { style: 'ambient-callback', on: ['@nestjs-cls/transactional:TransactionHost'], call: ['withTransaction'], joins: 'handle' },
  ],
  ambientHandles: [{ on: '@nestjs-cls/transactional:TransactionHost', member: 'tx', yields: 'typeorm:EntityManager' }],
  injected: [{ decorator: '@nestjs-cls/transactional:InjectTransaction', yields: 'typeorm:EntityManager', ambient: true }],
} satisfies StackAdapter;

export default nestjsClsTransactional;
