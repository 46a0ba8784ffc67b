/** `outboxify.json`: data only, written by `init`. Every field may be missing; what is missing is detected. */
export interface Config {
  readonly schemaVersion: 1;
  /** Globs that scan passes over, besides tests, build output and what git ignores. */
  readonly exclude: readonly string[];
  /** The project's own publish wrappers. */
  readonly publishers: readonly WrapperConfig[];
  /** The project's own write wrappers. */
  readonly writers: readonly WrapperConfig[];
  readonly tables: TablesConfig;
  readonly services: readonly ServiceConfig[];
}

export interface WrapperConfig {
  /** Module specifier as imported, or a file of the project relative to its root, without extension. */
  readonly module: string;
  /** Exported function or class. */
  readonly export: string;
  /** Method, when the export is a class. */
  readonly method?: string;
  readonly transport?: 'broker' | 'in-process' | 'same-database';
}

export interface TablesConfig {
  readonly outbox: string;
  readonly inbox: string;
  /** Database schema; null: wherever the connection resolves the names. */
  readonly schema: string | null;
}

/** One deployable: it has its own database and publishes or subscribes. */
export interface ServiceConfig {
  readonly name: string;
  /** Relative to the project root; `.` for a project of one service. */
  readonly root: string;
  readonly orm: 'typeorm' | null;
  readonly buses: readonly string[];
  readonly database: 'postgresql' | 'mysql' | 'mariadb' | 'sqlite' | null;
  readonly migrations: { readonly tool: 'typeorm' | null; readonly directory: string } | null;
  /** Directory of the generated outbox code, relative to the project root. */
  readonly outbox: string;
  /** Name of the environment variable that holds the connection string; never the string itself. */
  readonly databaseUrlEnv: string;
}
