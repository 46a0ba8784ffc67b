import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';

/** A real database or broker for tests. */
export interface Service {
  /** False only on a machine that has no way to run it, and never in CI, where that is an error. Use `describe.skipIf(!postgres.available)`. */
  readonly available: boolean;
  readonly url: string;
}

/** A broker that one test file has for itself. */
export interface OwnBroker {
  readonly url: string;
  /** Stops the node as an operator would. Its data stays. */
  stop(): Promise<void>;
  /** `kill -9`. Its data stays. */
  kill(): Promise<void>;
  /** Starts the same node again, on the same port and with its data. */
  start(): Promise<void>;
  /** Ends it for good. */
  remove(): Promise<void>;
}

/** The service that all tests share; started when it is first asked for. Call it at the top of a test file. */
export async function service(name: 'postgres' | 'rabbitmq'): Promise<Service> {
  try {
    return { available: true, url: (await ask(`/${name}`)).url };
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    console.warn(`\nSKIPPED: these tests need ${name}. ${error instanceof Error ? error.message : String(error)}\n`);
    return { available: false, url: '' };
  }
}

/** An empty database, dropped when the file's tests are done. Call it at the top of a test file, one per file. */
export async function freshDatabase(): Promise<{ readonly url: string; readonly name: string; readonly available: boolean; drop(): Promise<void> }> {
  const postgres = await service('postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  if (!postgres.available) return { url: '', name, available: false, drop: async () => undefined };
  await administer(postgres.url, `CREATE DATABASE ${name}`);
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  const drop = (): Promise<void> => administer(postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  afterAll(drop);
  return { url: url.href, name, available: true, drop };
}

/** A RabbitMQ node of its own, for a test that stops the broker. Takes some seconds. */
export async function ownBroker(): Promise<OwnBroker> {
  const { id, url } = await ask('/brokers');
  const act = (action: string) => async (): Promise<void> => { await ask(`/brokers/${id}/${action}`); };
  return { url, stop: act('stop'), kill: act('kill'), start: act('start'), remove: act('remove') };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

interface KeeperAnswer {
  readonly url: string;
  readonly id: string;
  readonly error?: string;
}

async function ask(route: string): Promise<KeeperAnswer> {
  const response = await fetch(inject('keeper') + route, { method: 'POST' });
  // The keeper is ours: its answers have this shape.
  const answer = (await response.json()) as KeeperAnswer;
  if (!response.ok) throw new Error(answer.error ?? `the keeper answered ${response.status}`);
  return answer;
}
