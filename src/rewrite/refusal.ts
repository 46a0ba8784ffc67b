import type { CodemodResult, Reason } from '../core/outcome.js';
import type { RefusalCode } from './reasons.js';

/** Thrown by guards, caught by `guarded`: it never leaves a codemod. */
export class Refusal extends Error {
  readonly reason: Reason;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.reason = { code, message };
  }
}

/** Stops the codemod with a reason. */
export function refuse(code: RefusalCode, message: string): never {
  throw new Refusal(code, message);
}

/** Runs a plan; a refusal on the way becomes a skip. */
export function guarded(plan: () => CodemodResult): CodemodResult {
  try {
    return plan();
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'skip', reason: error.reason };
    throw error;
  }
}
