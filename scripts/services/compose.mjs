// Where nothing is installed and nothing may be: containers.
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { run } from './system.mjs';

const file = fileURLToPath(new URL('compose.yaml', import.meta.url));

/** Whether Docker with Compose answers here. */
export async function hasCompose() {
  try {
    await run('docker', ['info']);
    await run('docker', ['compose', 'version']);
    return true;
  } catch {
    return false;
  }
}

/** Starts one service of compose.yaml under a project name of its own. */
export async function composeService(name, variables) {
  const project = `outboxify-test-${randomBytes(4).toString('hex')}`;
  const compose = (...args) => run('docker', ['compose', '-f', file, '-p', project, ...args], { env: { ...process.env, ...variables } });
  await compose('up', '-d', name);
  return {
    stop: () => compose('stop', name),
    kill: () => compose('kill', name),
    start: () => compose('start', name),
    remove: () => compose('down', '-v', '--remove-orphans'),
  };
}
