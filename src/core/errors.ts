/** What every failure that a user can mend carries: what happened, where, and what to do. */
export interface ToolErrorDetails {
  /** Kebab-case id, stable across versions. */
  readonly code: string;
  /** One sentence that says what to do next. */
  readonly hint?: string;
  /** File that the failure is about, relative to the project root. */
  readonly file?: string;
  readonly line?: number;
  readonly cause?: unknown;
}

/** A failure that is explained to the user in one line. Anything else that is thrown is a bug of ours. Exit code 2. */
export class ToolError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly file: string | undefined;
  readonly line: number | undefined;

  constructor(message: string, details: ToolErrorDetails) {
    super(message, { cause: details.cause });
    this.name = 'ToolError';
    this.code = details.code;
    this.hint = details.hint;
    this.file = details.file;
    this.line = details.line;
  }
}

/** The command line asks for something that can't be: unknown handler, bad option, a path that matches nothing. */
export class UsageError extends ToolError {}

/** `outboxify.json` can't be used as it stands. */
export class ConfigError extends ToolError {}

/** The user pressed Ctrl-C or answered "no" to go on. Exit code 130. */
export class CancelledError extends Error {}
