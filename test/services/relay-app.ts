import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll } from 'vitest';
import type { ServiceConfig } from '../../src/core/config.js';
import { defaultTables } from '../../src/schema/tables.js';
import { renderInboxFiles, renderOutboxFiles, renderRelayFiles } from '../../src/templates/place.js';

const service: ServiceConfig = {
  name: 'orders', root: '.', orm: 'typeorm', buses: [], database: 'postgresql', migrations: null, outbox: 'src/outbox', databaseUrlEnv: 'DATABASE_URL',
};

const routes = `import type { Route } from './types';
export const routes = {
  'order.placed': { transport: 'amqp', queue: 'placed' },
  'order.paid': { transport: 'nest', client: 'ORDERS_CLIENT', pattern: 'order.paid' },
} satisfies Record<string, Route>;
`;

/** Dies where FAULT says; that is all that differs from a user's application. */
const appModule = `import { Module } from '@nestjs/common';
import { ClientsModule, Transport } from '@nestjs/microservices';
import { DataSource, type Logger } from 'typeorm';

const die = (): void => { process.kill(process.pid, 'SIGKILL'); };
const logger: Logger = {
  logQuery(query) {
    if (process.env.FAULT === 'before-mark' && query.startsWith('UPDATE "outbox"')) die();
    if (process.env.FAULT === 'before-commit' && query === 'COMMIT' && marked) die();
    if (query.startsWith('UPDATE "outbox"')) marked = true;
  },
  logQueryError() {}, logQuerySlow() {}, logSchemaBuild() {}, logMigration() {}, log() {},
};
let marked = false;

@Module({
  imports: [ClientsModule.register([{ name: 'ORDERS_CLIENT', transport: Transport.RMQ, options: { urls: [process.env.AMQP_URL!], queue: 'paid', queueOptions: { durable: true } } }])],
  providers: [{ provide: DataSource, useFactory: () => new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, logger, logging: true }).initialize() }],
})
export class AppModule {}
`;

const publishers = `import { AmqpPublisher } from './amqp-publisher';
import { NestPublisher } from './nest-publisher';
import type { Publisher } from './publisher';

export type FindProvider = (token: string | symbol | (abstract new (...args: never[]) => unknown)) => unknown;
const [fault, count = '1'] = (process.env.FAULT ?? '').split(':');
let begun = 0;
let confirmed = 0;
const die = (): void => { process.kill(process.pid, 'SIGKILL'); };

function faulty(inner: Publisher): Publisher {
  return {
    brokerOf: (route) => inner.brokerOf(route),
    reset: (broker) => inner.reset(broker),
    close: () => inner.close(),
    async publish(route, message) {
      begun += 1;
      if (fault === 'before-publish' && begun === Number(count)) die();
      await inner.publish(route, message);
      confirmed += 1;
      if (fault === 'after-publish' && confirmed === Number(count)) die();
    },
  };
}

export function createPublishers(find: FindProvider): Publisher[] {
  return [faulty(new NestPublisher(find)), faulty(new AmqpPublisher(process.env.AMQP_URL!))];
}
`;

const inService = `import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';
import { RelayModule } from './outbox/relay/relay.module';

@Module({ imports: [AppModule, RelayModule] })
class ServiceModule {}

void NestFactory.createApplicationContext(ServiceModule, { logger: false }).then((app) => app.enableShutdownHooks());
`;

export interface RelayProcess {
  readonly child: ChildProcess;
  /** Log lines so far, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** Ends with the signal that ended it, or its exit code. */
  readonly ended: Promise<string | number>;
}

/** The generated relay in an application, compiled; started as often as a test likes. Its processes end with the test file. */
export function buildRelayApp() {
  const repository = fileURLToPath(new URL('../..', import.meta.url));
  const cache = path.join(repository, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(path.join(cache, 'outboxify-relay-'));
  const style = { importExtension: '', quotes: 'single' } as const;
  const plan = { style, transports: ['nest', 'amqp'], appModule: { file: 'src/app.module.ts', name: 'AppModule' } } as const;
  const rendered = [...renderOutboxFiles(service, defaultTables, style), ...renderInboxFiles(service, defaultTables, style), ...renderRelayFiles(service, defaultTables, plan)];
  const files = new Map(rendered.map(({ file, content }) => [file, content]));
  files.set('src/outbox/routes.ts', routes.replace("import type { Route } from './types';\n", ''));
  files.set('src/app.module.ts', appModule);
  files.set('src/outbox/relay/publishers.ts', publishers);
  files.set('src/service.ts', inService);
  for (const [file, text] of files) compile(directory, file, text);

  const running = new Set<ChildProcess>();
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    start(env: Readonly<Record<string, string>>, entry: 'outbox/relay/main' | 'service' = 'outbox/relay/main'): RelayProcess {
      const child = spawn(process.execPath, [path.join(directory, 'src', `${entry}.js`)], {
        env: { PATH: process.env['PATH'] ?? '', OUTBOX_MONITORING_PORT: '0', OUTBOX_IDLE_MAX_MS: '100', OUTBOX_CUT_OVER_AT: '2020-01-01T00:00:00Z', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child.stderr.resume(); // Nest's own words about the lost connection; the relay's log is on standard output
      running.add(child);
      const ended = once(child, 'exit').then(([code, signal]: unknown[]) => {
        running.delete(child);
        return typeof signal === 'string' ? signal : Number(code);
      });
      return { child, log: readLog(child), ended };
    },
  };
}

function compile(directory: string, file: string, text: string): void {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, experimentalDecorators: true, emitDecoratorMetadata: true, esModuleInterop: true },
    fileName: file,
  });
  const target = path.join(directory, file.replace(/\.ts$/, '.js'));
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, outputText);
}

function readLog(child: ChildProcess): readonly Readonly<Record<string, unknown>>[] {
  const log: Readonly<Record<string, unknown>>[] = [];
  let rest = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('{')) log.push(JSON.parse(line) as Readonly<Record<string, unknown>>);
  });
  return log;
}
