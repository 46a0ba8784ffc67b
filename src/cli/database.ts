import type { ServiceConfig, TablesConfig } from '../core/config.js';
import { UsageError } from '../core/errors.js';
import { resolveServices } from '../workspace/services.js';
import type { CommandContext } from './context.js';
import type { DatabaseOptions } from './options.js';

/** The database that a command works on. */
export interface DatabaseTarget {
  readonly url: string;
  readonly tables: TablesConfig;
  /** Null: only an address was given, and the project has not exactly one service. */
  readonly service: ServiceConfig | null;
}

/** `--db`, else the environment variable that the configuration names for the service. The address itself is never in a file. */
export function databaseTarget({ workspace, config }: CommandContext, options: DatabaseOptions, env: NodeJS.ProcessEnv = process.env): DatabaseTarget {
  const services = resolveServices(workspace, config);
  const named = options.service === undefined ? null : (services.find(({ name }) => name === options.service) ?? null);
  if (options.service !== undefined && named === null) {
    throw new UsageError(`There is no service '${options.service}'.`, { code: 'unknown-service', hint: `There are ${services.map(({ name }) => `'${name}'`).join(', ')}.` });
  }
  const service = named ?? (services.length === 1 ? (services[0] ?? null) : null);
  if (options.db !== undefined) return { url: options.db, tables: config.tables, service };
  if (service === null) {
    throw new UsageError('The project has several services, each with a database.', {
      code: 'service-needed',
      hint: `Name one with '--service <name>': ${services.map(({ name }) => `'${name}'`).join(', ')}; or give an address with '--db <url>'.`,
    });
  }
  const url = env[service.databaseUrlEnv];
  if (url === undefined || url === '') {
    throw new UsageError(`The environment variable '${service.databaseUrlEnv}' of service '${service.name}' is not set, and no '--db <url>' is given.`, {
      code: 'no-database-url',
      hint: "Set it to 'postgres://user:password@host:5432/database', or name another one as 'databaseUrlEnv' in outboxify.json.",
    });
  }
  return { url, tables: config.tables, service };
}
