import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the process that owns the services of this test run. */
    readonly keeper: string;
  }
}

/**
 * Starts the keeper of this test run; it starts a service when a test first asks for it. Its standard input is the life line:
 * when this process is gone, also by a signal, the keeper stops what it started and removes the data.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const script = fileURLToPath(new URL('../../scripts/services.mjs', import.meta.url));
  const keeper = spawn(process.execPath, [script, 'keep'], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => { keeper.once('exit', () => resolve()); });
  const address = await new Promise<string>((resolve, reject) => {
    keeper.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    keeper.once('error', reject);
    keeper.once('exit', (code) => reject(new Error(`the keeper of the test services ended with ${code}`)));
  });
  project.provide('keeper', address);
  return async () => {
    keeper.stdin.end();
    await ended;
  };
}
