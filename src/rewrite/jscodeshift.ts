import type { HandlerCodemod, SubscriberCodemod } from './codemod.js';
export function standalone(_c: HandlerCodemod | SubscriberCodemod): () => string { return () => ''; }
