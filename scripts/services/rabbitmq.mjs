// Finds or starts RabbitMQ nodes: each with its own name, ports, data directory and port mapper, so that nothing meets a system service.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { composeService, hasCompose } from './compose.mjs';
import { canInstallPackages, end, findExecutable, freePort, installPackages, killGroup, runAs, waitFor } from './system.mjs';

/** The broker that tests share. */
export async function sharedBroker(directory) {
  const given = process.env.OUTBOXIFY_TEST_RABBITMQ_URL;
  return given ? { url: given, stop: async () => {}, remove: async () => {} } : startBroker(directory);
}

/** A broker that one test has for itself: it may be stopped, killed and started again with its data. */
export async function startBroker(directory) {
  let server = installedServer();
  if (server === null && canInstallPackages()) {
    await installPackages('rabbitmq-server');
    server = installedServer();
  }
  if (server !== null) return startNode(server, directory);
  if (await hasCompose()) return startContainer();
  throw new Error('RabbitMQ is not here: install rabbitmq-server or Docker Compose, or set OUTBOXIFY_TEST_RABBITMQ_URL');
}

/** Debian's /usr/sbin/rabbitmq-server is a wrapper for the system service, so it comes last. */
function installedServer() {
  return findExecutable('/usr/lib/rabbitmq/bin/rabbitmq-server', '/opt/homebrew/opt/rabbitmq/sbin/rabbitmq-server', '/usr/local/opt/rabbitmq/sbin/rabbitmq-server', 'rabbitmq-server');
}

async function startNode(server, directory) {
  const user = runAs('rabbitmq', 'nobody');
  const id = randomBytes(4).toString('hex');
  const home = path.join(directory, `rabbitmq-${id}`);
  mkdirSync(path.join(home, 'log'), { recursive: true });
  writeFileSync(path.join(home, 'enabled_plugins'), '[].\n');
  writeFileSync(path.join(home, 'rabbitmq.conf'), 'loopback_users = none\nvm_memory_high_watermark.relative = 0.6\ndisk_free_limit.absolute = 50MB\n');
  writeFileSync(path.join(home, 'rabbitmq-env.conf'), '');
  writeFileSync(path.join(home, 'advanced.config'), '[].\n');
  if (user.uid !== undefined) for (const file of ['.', ...readdirSync(home)]) chownSync(path.join(home, file), user.uid, user.gid);
  const [port, distribution, mapper] = [await freePort(), await freePort(), await freePort()];
  const options = { ...user, cwd: home, detached: true, env: nodeEnvironment({ id, home, port, distribution, mapper }) };
  const log = openSync(path.join(home, 'output.log'), 'a');
  // The Erlang VM would leave a port mapper daemon behind: we run one that we can end.
  const mapperProcess = spawn(findExecutable('epmd', '/usr/bin/epmd', '/opt/homebrew/bin/epmd') ?? 'epmd', ['-port', String(mapper), '-address', '127.0.0.1'], { ...options, stdio: 'ignore' });
  mapperProcess.once('error', () => {});
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  let child = null;
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null;
  const start = async () => {
    if (isRunning()) return;
    child = spawn(server, [], { ...options, stdio: ['ignore', log, log] });
    child.once('error', () => {});
    try {
      await waitFor('RabbitMQ', 120_000, () => greet(port), isRunning);
    } catch (error) {
      killGroup(child);
      mapperProcess.kill('SIGKILL');
      throw new Error(`${error.message}: ${readFileSync(path.join(home, 'output.log'), 'utf8').slice(-1500)}`, { cause: error });
    }
  };
  const stop = async () => { if (isRunning()) await end(child, 'SIGTERM', 30_000); };
  const kill = async () => {
    if (!isRunning()) return;
    const exited = new Promise((resolve) => { child.once('exit', resolve); });
    killGroup(child);
    await exited;
  };
  await start();
  return { url, start, stop, kill, remove: async () => { await stop(); await end(mapperProcess, 'SIGKILL', 1000); } };
}

function nodeEnvironment({ id, home, port, distribution, mapper }) {
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RABBITMQ_')));
  return {
    ...own,
    HOME: home,
    ERL_EPMD_PORT: String(mapper),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `outboxify-${id}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: path.join(home, 'mnesia'),
    RABBITMQ_LOG_BASE: path.join(home, 'log'),
    RABBITMQ_LOGS: path.join(home, 'log', 'node.log'),
    RABBITMQ_PID_FILE: path.join(home, 'node.pid'),
    RABBITMQ_CONF_ENV_FILE: path.join(home, 'rabbitmq-env.conf'),
    RABBITMQ_CONFIG_FILE: path.join(home, 'rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: path.join(home, 'advanced.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: path.join(home, 'enabled_plugins'),
    RABBITMQ_GENERATED_CONFIG_DIR: path.join(home, 'generated'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
  };
}

async function startContainer() {
  const port = await freePort();
  const service = await composeService('rabbitmq', { RABBITMQ_PORT: String(port) });
  const ready = () => waitFor('RabbitMQ', 180_000, () => greet(port));
  await ready();
  return { url: `amqp://guest:guest@127.0.0.1:${port}`, stop: service.stop, kill: service.kill, start: async () => { await service.start(); await ready(); }, remove: service.remove };
}

/** Opens an AMQP 0-9-1 connection as far as the server's Connection.Start: the port may be open before the broker is. */
function greet(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const fail = (reason) => { socket.destroy(); reject(reason); };
    socket.setTimeout(2000, () => fail(new Error('no greeting')));
    socket.once('error', fail);
    socket.once('close', () => reject(new Error('connection closed')));
    socket.once('connect', () => socket.write(Buffer.from('AMQP\0\0\x09\x01', 'latin1')));
    socket.once('data', (bytes) => {
      resolve();
      if (bytes[0] !== 1) reject(new Error('not an AMQP server'));
      socket.destroy();
    });
  });
}
