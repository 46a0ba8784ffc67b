// The keeper: one process that owns the services of one test run. It starts them when they are first asked for, and it stops
// them and removes their data when it is told to, or when the process that started it is gone, however that one ended.
import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres } from './postgres.mjs';
import { sharedBroker, startBroker } from './rabbitmq.mjs';

/** Runs until the end; `attached`: standard input is the life line to the parent. */
export async function keep({ attached, onAddress }) {
  const directory = mkdtempSync(path.join(tmpdir(), 'outboxify-services-'));
  chmodSync(directory, 0o755);
  const shared = new Map();
  const brokers = new Map();
  let ending = null;
  const once = (name, start) => {
    if (ending !== null) throw new Error('the services are being stopped');
    if (!shared.has(name)) shared.set(name, start(directory));
    return shared.get(name);
  };
  const finish = () => (ending ??= stopAll({ directory, shared, brokers, server }));

  const routes = {
    'POST /postgres': async () => ({ url: (await once('postgres', startPostgres)).url }),
    'POST /rabbitmq': async () => ({ url: (await once('rabbitmq', sharedBroker)).url }),
    'POST /brokers': async () => {
      if (ending !== null) throw new Error('the services are being stopped');
      // Registered before it has started, so that an end in the meantime waits for it and stops it.
      const id = String(brokers.size + 1);
      brokers.set(id, startBroker(directory));
      return { id, url: (await brokers.get(id)).url };
    },
    'POST /end': async () => {
      setImmediate(() => void finish());
      return {};
    },
  };
  const server = createServer((request, response) => {
    const [, id, action] = /^\/brokers\/(\d+)\/(start|stop|kill|remove)$/.exec(request.url ?? '') ?? [];
    const route = id === undefined ? routes[`${request.method} ${request.url}`] : async () => { await (await brokers.get(id))[action](); return {}; };
    const answer = (status, body) => response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body));
    if (route === undefined) return answer(404, { error: 'unknown request' });
    route().then((body) => answer(200, body), (error) => answer(500, { error: String(error?.message ?? error) }));
  });
  server.listen(0, '127.0.0.1', () => onAddress(`http://127.0.0.1:${server.address().port}`));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void finish());
  if (attached) process.stdin.resume().once('end', () => void finish()).once('error', () => void finish());
}

async function stopAll({ directory, shared, brokers, server }) {
  server.close();
  const started = await Promise.allSettled([...shared.values(), ...brokers.values()]);
  const services = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  await Promise.allSettled(services.map((service) => (service.remove ?? service.stop)()));
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}
