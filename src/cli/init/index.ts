import type { Config, ServiceConfig } from '../../core/config.js';
import { exitCode, type ExitCode } from '../../core/exit-code.js';
import { ToolError } from '../../core/errors.js';
import type { Unresolved } from '../../core/finding.js';
import { stackSentence, type StacksSeen } from '../../core/stacks.js';
import { count } from '../../report/figures.js';
import { printable } from '../../report/text.js';
import { configFileName, defaultConfig, readConfig } from '../../workspace/config.js';
import { openWorkspace } from '../../workspace/disk.js';
import { brokenManifests } from '../../workspace/manifests.js';
import { detectServices } from '../../workspace/services.js';
import { diskSink } from '../../workspace/sink.js';
import type { Workspace } from '../../workspace/workspace.js';
import { assertProject } from '../context.js';
import type { InitOptions } from '../options.js';
import { createUi, type Ui } from '../ui.js';

/** `outboxify init`: detects, and writes `outboxify.json`. With `--force`, services are detected anew and the rest is kept. */
export async function runInit(options: InitOptions): Promise<ExitCode> {
  const file = options.config ?? configFileName;
  const out = createUi(options);
  const { root } = openWorkspace(options.cwd ?? '.', { exclude: [] });
  const before = openWorkspace(root, { exclude: [] }).read(file);
  if (before !== null && !options.force) {
    throw new ToolError(`'${file}' exists already.`, {
      code: 'file-exists',
      hint: `'outboxify init --force' detects the services anew and keeps the other fields; or edit the file.`,
      file,
    });
  }
  const kept = before === null ? defaultConfig : readConfig(root, file);
  const workspace = openWorkspace(root, kept);
  assertProject({ workspace, cwd: root });
  assertManifest(workspace);
  const services = detectServices(workspace);
  const config: Config = { ...kept, services };
  diskSink(root).apply([{ file, before, after: `${JSON.stringify({ $schema: './node_modules/outboxify/schemas/config.schema.json', ...config }, null, 2)}\n` }]);
  const { analyse } = await import('../../analysis/analyse.js');
  const { unresolved, stacks } = analyse(openWorkspace(root, config), config).result;
  if (options.format === 'json') {
    out.print(JSON.stringify({ file, config, unresolved }, null, 2));
    return exitCode.ok;
  }
  printServices(services, { out, file, stacks });
  suggestWrappers(unresolved, { out, file });
  out.print('Next: outboxify scan');
  return exitCode.ok;
}

/** Without the root's manifest nothing would be found, and a configuration that says so would be kept. */
function assertManifest(workspace: Workspace): void {
  const broken = brokenManifests(workspace).find(({ file }) => file === 'package.json');
  if (broken === undefined) return;
  const line = Number(/\d+$/.exec(broken.message)?.[0] ?? 1);
  throw new ToolError(`'package.json' (line ${line}) is not JSON, so the stack of the project can't be told.`, { code: 'manifest-not-json', hint: 'Mend it, and run the command again.', file: 'package.json', line });
}

function printServices(services: readonly ServiceConfig[], { out, file, stacks }: { readonly out: Ui; readonly file: string; readonly stacks: StacksSeen }): void {
  const { style } = out;
  for (const service of services) {
    out.print(`${style.bold(service.name)}  ${style.dim(service.root)}`);
    for (const [label, value] of facts(service)) out.print(`  ${label.padEnd(12)}${value ?? style.yellow('not found')}`);
  }
  out.print(`\nWrote ${file}.`);
  for (const stack of stacks.unsupported) out.note(stackSentence(stack, stacks.supported));
  if (services.every(({ orm, buses }) => orm === null && buses.length === 0)) {
    out.note(`No ORM and no bus was found among the dependencies; name the services in ${file}.`);
  }
}

/** Calls that only the project's people can name. */
function suggestWrappers(unresolved: readonly Unresolved[], { out, file }: { readonly out: Ui; readonly file: string }): void {
  if (unresolved.length === 0) return;
  out.print(`${count(unresolved.length, 'call')} may publish or write and can't be resolved. If they are wrappers of your own, name them under 'publishers' or 'writers' in ${file}:`);
  for (const call of unresolved.slice(0, 5)) out.print(`  ${printable(`${call.file}:${call.line}`)}  ${printable(call.text)}`);
}

function facts(service: ServiceConfig): readonly (readonly [label: string, value: string | null])[] {
  return [
    ['ORM', service.orm],
    ['bus', service.buses.join(', ') || null],
    ['database', service.database],
    ['migrations', service.migrations?.directory ?? null],
    ['outbox code', service.outbox],
    ['connection', `$${service.databaseUrlEnv}`],
  ];
}
