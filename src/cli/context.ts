import path from 'node:path';
import type { Config } from '../core/config.js';
import { ConfigError, UsageError } from '../core/errors.js';
import { completeConfig, configFileName, readConfig } from '../workspace/config.js';
import { openWorkspace } from '../workspace/disk.js';
import { isInFolder, joinPath } from '../workspace/paths.js';
import type { Workspace } from '../workspace/workspace.js';
import type { CommonOptions } from './options.js';
import { createUi, type Ui } from './ui.js';

/** What a command works with. */
export interface CommandContext {
  /** Absolute path of the project, symbolic links resolved. */
  readonly cwd: string;
  readonly workspace: Workspace;
  readonly config: Config;
  readonly out: Ui;
  /** Name of the configuration file, for messages. */
  readonly configFile: string;
}

/** Opens the project that the options name: its configuration, files and the terminal. */
export async function openContext(options: CommonOptions): Promise<CommandContext> {
  const root = path.resolve(options.cwd ?? process.cwd());
  const { root: cwd } = openWorkspace(root, { exclude: [] });
  const draft = readConfig(cwd, options.config);
  const workspace = openWorkspace(cwd, draft);
  const out = createUi(options);
  if (options.config === undefined) noteOtherConfig(workspace, out);
  return { cwd, workspace, config: completeConfig(draft, workspace), out, configFile: options.config ?? configFileName };
}

/** The configuration of a workspace says nothing about one member: its paths are those of the workspace. Whoever counts on it has to know. */
function noteOtherConfig(workspace: Workspace, out: Ui): void {
  if (workspace.surroundings === null || workspace.read(configFileName) !== null) return;
  const { root, project } = workspace.surroundings;
  if (workspace.read(joinPath(root, configFileName)) === null) return;
  out.note(`The ${configFileName} in '${root}' does not count here: it is that of the whole workspace. To use it: outboxify scan ${project} --cwd ${root}`);
}

const sourceFile = /\.[cm]?[jt]sx?$/;

/** Whether there is code to look at. */
export function isProject(workspace: Workspace): boolean {
  return workspace.files().some((file) => sourceFile.test(file));
}

/** Throws unless there is code to look at: the answer "no findings" about the wrong folder would be a lie. */
export function assertProject({ workspace, cwd }: Pick<CommandContext, 'workspace' | 'cwd'>): void {
  const files = workspace.files();
  if (isProject(workspace)) return;
  const why = files.length === 0 ? 'is empty' : 'holds no TypeScript or JavaScript file';
  throw new UsageError(`'${path.basename(cwd)}' ${why}; it is not a project that outboxify can read.`, {
    code: 'not-a-project',
    hint: "Run outboxify in the project's folder, or name it with '--cwd <dir>'.",
  });
}

/**
 * Throws unless every service that the configuration names is there: a misspelt root would leave its handlers to no service.
 * Not asked by commands that only talk to the database: they run where the code need not be.
 */
export function assertServices({ workspace, config, configFile }: Pick<CommandContext, 'workspace' | 'config' | 'configFile'>): void {
  const index = config.services.findIndex(({ root }) => !workspace.files().some((file) => isInFolder(file, root)));
  const service = config.services[index];
  if (service === undefined) return;
  throw new ConfigError(`'services[${index}].root' in '${configFile}': there is no file to look at in '${service.root}', where the service '${service.name}' is said to be.`, {
    code: 'service-root-missing',
    hint: `Correct it in '${configFile}', or run 'outboxify init --force' to detect the services anew.`,
    file: configFile,
  });
}
