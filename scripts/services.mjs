#!/usr/bin/env node
// PostgreSQL and RabbitMQ for tests.
//   node scripts/services.mjs start   starts both in the background and prints their addresses as shell assignments
//   node scripts/services.mjs env     prints the addresses again: eval "$(node scripts/services.mjs env)"
//   node scripts/services.mjs stop    stops them and removes their data
// A test run needs none of this: it starts what it needs by itself (test/services/setup.ts).
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { keep } from './services/keeper.mjs';

const stateFile = path.join(tmpdir(), `outboxify-services-${process.getuid?.() ?? 'user'}.json`);
const commands = { start, stop, env, keep: () => keep({ attached: true, onAddress: (address) => process.stdout.write(`${address}\n`) }), background };

const command = commands[process.argv[2] ?? ''];
if (command === undefined) {
  process.stderr.write('usage: node scripts/services.mjs start|stop|env\n');
  process.exit(2);
}
await command();

async function start() {
  if (await isRunning()) return env();
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'background'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const keeper = await new Promise((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()));
    child.once('exit', (code) => reject(new Error(`the keeper ended with ${code}`)));
  });
  child.unref();
  child.stdout.destroy();
  try {
    const [postgres, rabbitmq] = await Promise.all([ask(keeper, '/postgres'), ask(keeper, '/rabbitmq')]);
    writeFileSync(stateFile, JSON.stringify({ keeper, postgres: postgres.url, rabbitmq: rabbitmq.url }), { mode: 0o600 });
  } catch (error) {
    await ask(keeper, '/end');
    throw error;
  }
  return env();
}

/** Whether a keeper of an earlier start still answers; what is left of one that does not is removed. */
async function isRunning() {
  if (!existsSync(stateFile)) return false;
  const { keeper } = JSON.parse(readFileSync(stateFile, 'utf8'));
  const answers = await ask(keeper, '/postgres').then(() => true, () => false);
  if (!answers) rmSync(stateFile, { force: true });
  return answers;
}

/** Internal: the process that stays. */
async function background() {
  await keep({ attached: false, onAddress: (address) => process.stdout.write(`${address}\n`) });
}

async function stop() {
  if (!existsSync(stateFile)) return;
  const { keeper } = JSON.parse(readFileSync(stateFile, 'utf8'));
  rmSync(stateFile);
  await ask(keeper, '/end').catch(() => {});
}

function env() {
  if (!existsSync(stateFile)) {
    process.stderr.write("nothing is running: 'node scripts/services.mjs start' starts it\n");
    process.exit(1);
  }
  const { postgres, rabbitmq } = JSON.parse(readFileSync(stateFile, 'utf8'));
  process.stdout.write(`export OUTBOXIFY_TEST_POSTGRES_URL='${postgres}'\nexport OUTBOXIFY_TEST_RABBITMQ_URL='${rabbitmq}'\n`);
}

async function ask(keeper, route) {
  const response = await fetch(keeper + route, { method: 'POST' });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error);
  return body;
}
