import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config, ServiceConfig } from '../core/config.js';
import { ConfigError } from '../core/errors.js';
import { checkConfig } from './config-check.js';
import { lineOfError } from './json.js';
import { completeServices } from './services.js';
import type { Workspace } from './workspace.js';

export const configFileName = 'outboxify.json';

/** A service as the file has it: what is missing is detected. */
export type PartialServiceConfig = Pick<ServiceConfig, 'name' | 'root'> & Partial<ServiceConfig>;

/** `outboxify.json` as it was read and checked, before detection. */
export interface ConfigDraft extends Omit<Config, 'services'> {
  readonly services: readonly PartialServiceConfig[];
}

/** What holds where there is no `outboxify.json`. */
export const defaultConfig: Config = {
  schemaVersion: 1,
  exclude: [],
  publishers: [],
  writers: [],
  tables: { outbox: 'outbox', inbox: 'inbox', schema: null },
  services: [],
};

/**
 * Reads and checks the configuration. A file named on the command line must exist; `outboxify.json` in the root may be
 * missing. Throws a ConfigError that says what is wrong, where, and what is expected.
 */
export function readConfig(root: string, named?: string): ConfigDraft {
  const file = named ?? configFileName;
  const text = readConfigText(path.resolve(root, file), file);
  if (text === null && named === undefined) return defaultConfig;
  if (text === null) {
    throw new ConfigError(`The configuration file '${file}' does not exist.`, {
      code: 'config-missing',
      hint: "Run 'outboxify init' to write one, or name another with '--config <file>'.",
      file,
    });
  }
  return parseConfig(text, file);
}

/** The configuration with its services filled up by what the project's files say. */
export function completeConfig(draft: ConfigDraft, workspace: Workspace): Config {
  return { ...draft, services: completeServices(workspace, draft.services) };
}

export function parseConfig(text: string, file = configFileName): ConfigDraft {
  return { ...defaultConfig, ...checkConfig(parseJson(text, file), file) };
}

function readConfigText(absolute: string, file: string): string | null {
  try {
    return readFileSync(absolute, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new ConfigError(`The configuration file '${file}' cannot be read (${String(code)}).`, {
      code: 'config-unreadable',
      hint: 'Make it a readable file.',
      file,
      cause: error,
    });
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = lineOfError(text);
    throw new ConfigError(`'${file}' (line ${line}) is not JSON: ${message.split('\n')[0]}.`, {
      code: 'config-not-json',
      hint: 'Mend the JSON; comments and trailing commas are not allowed in it.',
      file,
      line,
      cause: error,
    });
  }
}
