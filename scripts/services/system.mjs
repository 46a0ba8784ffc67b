// Small things that starting a database or a broker needs: free ports, users to run as, binaries, waiting.
import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

/** A TCP port of the loopback interface that nobody listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** PostgreSQL and RabbitMQ should not run as root: the ids of the first of these users that exists, or nothing when we are not root. */
export function runAs(...users) {
  if (process.getuid?.() !== 0) return {};
  for (const user of users) {
    try {
      const id = (flag) => Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      continue;
    }
  }
  throw new Error(`no user to run as: none of '${users.join("', '")}' exists`);
}

/** The first executable file among candidates; a bare name is looked for in PATH. */
export function findExecutable(...candidates) {
  for (const candidate of candidates) {
    const places = path.isAbsolute(candidate) ? [candidate] : (process.env.PATH ?? '').split(path.delimiter).map((dir) => path.join(dir, candidate));
    const found = places.find(isExecutable);
    if (found !== undefined) return found;
  }
  return null;
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Versioned installation directories such as /usr/lib/postgresql/15/bin, newest first. */
export function versionedDirectories(base, tail) {
  if (!existsSync(base)) return [];
  return readdirSync(base).filter((name) => /^\d+(\.\d+)*$/.test(name)).sort((a, b) => Number(b) - Number(a)).map((name) => path.join(base, name, tail));
}

/** Debian or Ubuntu, as root: packages may be installed. */
export function canInstallPackages() {
  if (process.getuid?.() !== 0 || findExecutable('apt-get') === null) return false;
  try {
    return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

/** Runs a command to its end; rejects with what it printed. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => { output += chunk; });
    child.stderr.on('data', (chunk) => { output += chunk; });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`'${command} ${args.join(' ')}' ended with ${code}: ${output.slice(-2000)}`));
    });
  });
}

let updated = null;

/** Installs Debian packages without starting what they bring. */
export async function installPackages(...names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  updated ??= run('apt-get', ['update', '-qq'], { env });
  await updated;
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], { env });
}

/** Calls `attempt` until it resolves; fails with its last error after `milliseconds`, or at once when `isAlive` says no. */
export async function waitFor(what, milliseconds, attempt, isAlive = () => true) {
  const end = Date.now() + milliseconds;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isAlive()) throw new Error(`${what} ended while it was starting`, { cause: error });
      if (Date.now() > end) throw new Error(`${what} did not answer within ${milliseconds / 1000} s`, { cause: error });
      await sleep(100);
    }
  }
}

export const sleep = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

/** Ends a child with a signal, and with SIGKILL to its process group when it takes longer than `milliseconds`. */
export async function end(child, signal, milliseconds) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => { child.once('exit', resolve); });
  child.kill(signal);
  const timer = setTimeout(() => killGroup(child), milliseconds);
  await closed;
  clearTimeout(timer);
}

/** SIGKILL to a child that was started with `detached: true`, and to what it started. */
export function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}
