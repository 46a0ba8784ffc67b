import { ToolError } from '../core/errors.js';
import { withConnection } from '../schema/connection.js';
import { readFigures, type Figures } from '../schema/operations/figures.js';
import type { CommandContext } from './context.js';
import { databaseTarget, type DatabaseTarget } from './database.js';
import type { DatabaseOptions } from './options.js';

/** What the database of a service says, or why it says nothing. */
export interface LiveFigures {
  /** By service; empty name where an address was given and it is not known whose. */
  readonly figures: ReadonlyMap<string, Figures>;
  /** Null: nothing stands against it. */
  readonly why: string | null;
}

/** Reads the figures of the database that the options or the environment name. What `--db` names must answer; another one only where it is needed. */
export async function liveFigures(context: CommandContext, options: DatabaseOptions, { isNeeded = false } = {}): Promise<LiveFigures> {
  try {
    const { url, tables, service }: DatabaseTarget = databaseTarget(context, options);
    const figures = await withConnection(url, (connection) => readFigures(connection, tables));
    return { figures: new Map([[service?.name ?? '', figures]]), why: null };
  } catch (error) {
    if (isNeeded || options.db !== undefined || !(error instanceof ToolError) || error.code === 'unknown-service') throw error;
    return { figures: new Map(), why: error.message };
  }
}
