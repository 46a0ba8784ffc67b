import type { Problem } from '../core/problem.js';
import type { Severity } from '../core/finding.js';
import { qualified } from './identifiers.js';
import type { LiveTable } from './live.js';
import type { TableRole } from './tables.js';

/** What a rule found at one table. */
export interface Fault {
  /** What is there and why it matters: one or two sentences. */
  readonly message: string;
  /** Statements that mend it, without `;`, in order; or one command. */
  readonly help: readonly string[];
  /** The index that it is about; the table when missing. */
  readonly index?: string;
}

/** One rule of the check. Its page is `rules/<id>.md`. */
export interface SchemaRule {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly roles: readonly TableRole[];
  readonly find: (table: LiveTable) => readonly Fault[];
}

/** `"schema"."table"`. */
export function sqlName(table: LiveTable): string {
  return qualified(table.schema, table.name);
}

/** `schema.table`, for people. */
export function plainName(table: LiveTable): string {
  return `${table.schema}.${table.name}`;
}

/** A fault as `check` reports it. */
export function toProblem(rule: Pick<SchemaRule, 'id' | 'severity'>, { role, object }: { readonly role: TableRole; readonly object: string }, fault: Fault): Problem {
  const isCommand = fault.help.every((line) => /^(outboxify|CREATE SCHEMA) /.test(line));
  return {
    rule: rule.id,
    severity: rule.severity,
    subject: role,
    object,
    file: '',
    line: 0,
    message: fault.message,
    fix: isCommand ? fault.help.join('\n') : fault.help.map((statement) => `${statement};`).join('\n'),
  };
}
