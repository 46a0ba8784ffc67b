import type { Format } from '../report/format.js';

/** What every command takes. */
export interface CommonOptions {
  /** Directory of the project; the current one when missing. */
  readonly cwd?: string;
  /** Configuration file instead of `outboxify.json`, relative to the project. */
  readonly config?: string;
  readonly format?: Format;
  /** Print results and errors only. */
  readonly quiet?: boolean;
  /** False with `--no-color`. */
  readonly color?: boolean;
}

export interface ScanOptions extends CommonOptions {
  /** Files and folders to report on, relative to the current directory; everything when empty. */
  readonly paths: readonly string[];
  /** Writes the report to this file instead of the terminal. */
  readonly output?: string;
}

export interface ExplainOptions extends CommonOptions {
  /** Id of a finding, name of a handler, or id of a rule or reason. */
  readonly subject: string;
}

export interface InitOptions extends CommonOptions {
  /** Replaces an existing `outboxify.json`. */
  readonly force?: boolean;
}

export interface PlanOptions extends CommonOptions {
  /** Prints the plan and writes nothing. */
  readonly dryRun?: boolean;
  /** File of the plan, relative to the project. */
  readonly output?: string;
}

/** What the commands that change a project's files take. */
export interface WriteOptions extends CommonOptions {
  /** Writes; without it, a dry run. */
  readonly write?: boolean;
}

/** What the commands that change one handler or subscriber take. */
export interface ChangeOptions extends WriteOptions {
  readonly commit?: boolean;
  readonly branch?: string;
  readonly pr?: boolean;
  readonly undo?: boolean;
  readonly allowDirty?: boolean;
}

export interface RewriteOptions extends ChangeOptions {
  /** `Class.method`, a function's name, or the id of a finding. */
  readonly handler: string;
  /** Stage to bring the handler to; missing only with `undo`. */
  readonly to?: 'dual-publish' | 'outbox-only';
  /** Why a gate that is not met is passed. */
  readonly force?: string;
  /** Connection string of the service's database, for the gate; else the environment variable that the configuration names. */
  readonly db?: string;
  /** Message type, when the code does not name one. */
  readonly event?: string;
  readonly aggregateType?: string;
  /** Expression for the aggregate's id in the handler. */
  readonly aggregateId?: string;
}

export interface InboxOptions extends ChangeOptions {
  /** `Class.method`, or the name of the subscriber's function. */
  readonly subscriber: string;
}

export interface MigrationOptions extends WriteOptions {
  readonly table: 'outbox' | 'inbox';
  /** Name of the migration. */
  readonly name?: string;
  /** The index over `status` and `occurred_at` alone, without `available_at` behind them. */
  readonly twoColumns?: boolean;
  /** Service to write for, where the project has several. */
  readonly service?: string;
}

export interface RelayOptions extends WriteOptions {
  readonly service?: string;
  /** Root module of the application, `<file>#<class>`, where it is not found by itself. */
  readonly module?: string;
  /** Why a gate that is not met is passed. */
  readonly force?: string;
}

export interface DatabaseOptions extends CommonOptions {
  /** Connection string; else the environment variable that the configuration names. */
  readonly db?: string;
  readonly service?: string;
}

export interface StatusOptions extends DatabaseOptions {
  /** Keeps the figures of the database as evidence. */
  readonly record?: boolean;
}

export interface CheckOptions extends DatabaseOptions {
  /** Git revision whose baseline counts. */
  readonly base?: string;
  readonly updateBaseline?: boolean;
}

export type OpsAction = 'lag' | 'failed' | 'retry' | 'purge' | 'cut-over';

export interface OpsOptions extends DatabaseOptions {
  readonly action: OpsAction;
  /** Ids of messages, for `retry`. */
  readonly ids: readonly string[];
  /** Every failed message, for `retry`. */
  readonly all?: boolean;
  /** Message type to keep to. */
  readonly type?: string;
  /** Instant of the cut-over, ISO 8601. */
  readonly before?: string;
  /** Age in days from which rows are purged. */
  readonly days?: number;
  /** Days that the broker can keep a message: how long the inbox must know it, together with `retryDays`. */
  readonly messageDays?: number;
  /** Longest time in days over which a message is repeated. */
  readonly retryDays?: number;
  /** Rows in one statement. */
  readonly batch?: number;
  /** At most so many rows are listed. */
  readonly limit?: number;
  /** `outbox` or `inbox`, for `purge`. */
  readonly table?: 'outbox' | 'inbox';
  /** Changes rows; without it, what would change is counted. */
  readonly write?: boolean;
}

export type WizardOptions = CommonOptions;
