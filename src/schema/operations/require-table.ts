import type { TablesConfig } from '../../core/config.js';
import { ToolError } from '../../core/errors.js';
import type { DatabaseConnection } from '../connection.js';
import { displayName, tableName } from '../identifiers.js';
import type { TableRole } from '../tables.js';
import { exists } from './figures.js';

/** The quoted name of a table that is there; a clear error when it is not. */
export async function requireTable(connection: DatabaseConnection, tables: TablesConfig, role: TableRole): Promise<string> {
  if (await exists(connection, tables, role)) return tableName(tables, role);
  throw new ToolError(`The database '${connection.address}' has no table '${displayName(tables, role)}' where this connection looks for it.`, {
    code: 'table-missing',
    hint: `Run the migration of 'outboxify migration ${role}', or correct 'tables' in outboxify.json.`,
  });
}
