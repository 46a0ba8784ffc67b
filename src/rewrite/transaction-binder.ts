import type { Binder } from './bind.js';

/** Binds calls in the callback of a transaction to its manager. */
export function transactionBinder(manager: string): Binder {
  return {
    repository: (receiver) => `${manager}.withRepository(${receiver.getText()})`,
    customRepository: (receiver) => `${manager}.getRepository(${receiver.getText()}.target)`,
    manager: () => manager,
  };
}
