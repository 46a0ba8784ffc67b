import type { HandlerCodemod } from './codemod.js';
export function standalone(_c: HandlerCodemod): () => string { return () => ''; }
