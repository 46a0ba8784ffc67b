import type { TablesConfig } from '../core/config.js';
import type { Problem } from '../core/problem.js';
import { withConnection, type DatabaseConnection } from './connection.js';
import { introspect, isLive } from './introspect.js';
import type { LiveTable, MissingTable } from './live.js';
import { plainName, toProblem, type SchemaRule } from './rule.js';
import { preconditions, schemaRules, tableRules } from './rules.js';
import { describeMissing, tableMissing } from './rules/table-missing.js';
import { defaultTables, type TableRole } from './tables.js';

/** What a check of a database says. */
export interface SchemaCheck {
  readonly problems: readonly Problem[];
  /** Ids of the rules that were looked at. */
  readonly checked: readonly string[];
}

const bothTables: readonly TableRole[] = ['outbox', 'inbox'];

/** Checks the tables of the database at this address. It needs no project: without `tables`, `outbox` and `inbox` as the connection resolves them. */
export async function checkUrl(url: string, tables: TablesConfig = defaultTables, roles: readonly TableRole[] = bothTables): Promise<SchemaCheck> {
  const problems = await withConnection(url, (connection) => checkDatabase(connection, tables, roles));
  return { problems, checked: schemaRules.map(({ id }) => id) };
}

/** Checks the tables as this connection resolves them. It reads catalogs only. `roles`: a service that only publishes has no inbox. */
export async function checkDatabase(connection: DatabaseConnection, tables: TablesConfig, roles: readonly TableRole[] = bothTables): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const role of roles) problems.push(...checkTable(await introspect(connection, tables, role)));
  return problems;
}

/** The rules on one table as it was read. */
export function checkTable(table: LiveTable | MissingTable): Problem[] {
  if (!isLive(table)) return [toProblem(tableMissing, { role: table.role, object: table.wanted }, describeMissing(table))];
  const first = preconditions.flatMap((rule) => apply(rule, table));
  return first.length > 0 ? first : tableRules.flatMap((rule) => apply(rule, table));
}

function apply(rule: SchemaRule, table: LiveTable): Problem[] {
  if (!rule.roles.includes(table.role)) return [];
  return rule.find(table).map((fault) => toProblem(rule, { role: table.role, object: fault.index ?? plainName(table) }, fault));
}
