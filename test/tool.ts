import { spawnSync } from 'node:child_process';

/** Whether a program that tests need is there. Where it is not, says so; in CI, on Linux, that is an error. Call it at the top of a test file. */
export function hasTool(command: string, what: string): boolean {
  if (spawnSync(command, ['--version']).status === 0) return true;
  if (process.env['CI'] === 'true' && process.platform === 'linux') throw new Error(`${what} needs '${command}'`);
  console.warn(`\nSKIPPED: ${what} needs '${command}'.\n`);
  return false;
}
