import type { StackAdapter } from '../adapter.js';

/** typeorm-transactional: patches the data source, so that every repository joins the ambient transaction (README, "Usage"). */
const typeormTransactional = {
  name: 'typeorm-transactional',
  title: 'typeorm-transactional',
  docs: 'https://github.com/Aliheym/typeorm-transactional',
  language: 'ts',
  enablers: ['typeorm-transactional', 'typeorm-transactional-cls-hooked'],
  transactions: [
    { style: 'decorator', decorator: 'typeorm-transactional:Transactional', joins: 'all' },
    { style: 'decorator', decorator: 'typeorm-transactional-cls-hooked:Transactional', joins: 'all' },
    {
      style: 'ambient-callback', joins: 'all', call: ['runInTransaction', 'wrapInTransaction'],
      on: ['typeorm-transactional:*', 'typeorm-transactional-cls-hooked:*'],
    },
    { style: 'after-commit', on: ['typeorm-transactional:*', 'typeorm-transactional-cls-hooked:*'], call: ['runOnTransactionCommit', 'runOnTransactionComplete'] },
  ],
} satisfies StackAdapter;

export default typeormTransactional;
