import type { TablesConfig } from '../../core/config.js';
import type { ExitCode } from '../../core/exit-code.js';
import { withConnection, type DatabaseConnection } from '../../schema/connection.js';
import { openContext, type CommandContext } from '../context.js';
import { databaseTarget } from '../database.js';
import type { OpsAction, OpsOptions } from '../options.js';
import { runCutOver } from './cut-over.js';
import { runFailed } from './failed.js';
import { runLag } from './lag.js';
import { runPurge } from './purge.js';
import { runRetry } from './retry.js';

/** What one action of `ops` works with. */
export interface OpsRun {
  readonly context: CommandContext;
  readonly options: OpsOptions;
  readonly connection: DatabaseConnection;
  readonly tables: TablesConfig;
  /** Name of the service; empty when only an address was given. */
  readonly service: string;
}

/** Rows in one statement: short enough not to hold locks for long. */
export const usualBatch = 1000;

const actions: Readonly<Record<OpsAction, (run: OpsRun) => Promise<ExitCode>>> = {
  lag: runLag,
  failed: runFailed,
  retry: runRetry,
  purge: runPurge,
  'cut-over': runCutOver,
};

/** `outboxify ops <action>`: day-two work on the tables. Rows change with `--write` only. */
export async function runOps(options: OpsOptions): Promise<ExitCode> {
  const context = await openContext(options);
  const { url, tables, service } = databaseTarget(context, options);
  return withConnection(url, (connection) => actions[options.action]({ context, options, connection, tables, service: service?.name ?? '' }));
}
