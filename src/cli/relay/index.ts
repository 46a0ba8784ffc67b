import { analyse } from '../../analysis/analyse.js';
import type { ServiceConfig } from '../../core/config.js';
import { ToolError, UsageError } from '../../core/errors.js';
import { exitCode, type ExitCode } from '../../core/exit-code.js';
import type { ChangeOutcome, NewFile, Reason } from '../../core/outcome.js';
import { formatNewFiles } from '../../rewrite/format.js';
import { findAppModule, type AppModule } from '../../templates/app-module.js';
import { codeStyleOf } from '../../templates/code-style.js';
import { renderDeploymentFiles } from '../../templates/deployment.js';
import { renderRelayFiles, type RelayTransport } from '../../templates/place.js';
import { readRoutes, type RouteEntry } from '../../templates/routes.js';
import { joinPath } from '../../workspace/paths.js';
import { resolveServices } from '../../workspace/services.js';
import { diskSink, dryRunSink, type Change } from '../../workspace/sink.js';
import { assertServices, openContext, type CommandContext } from '../context.js';
import type { RelayOptions } from '../options.js';
import { relayGate } from './gate.js';
import { report } from './report.js';

/** `outboxify relay`: the relay, its whitelist as recorded by the rewrites, and its deployment units. */
export async function runRelay(options: RelayOptions): Promise<ExitCode> {
  const context = await openContext(options);
  assertServices(context);
  const service = chooseService(context, options.service);
  const routes = routesOf(context, service);
  const reasons = gate(context, routes);
  const outcome = reasons.length > 0 && !options.force ? refused(reasons) : apply(context, options, await generate(context, { service, routes, module: options.module }));
  report(context, options, { outcome, service, passed: options.force ? reasons : [] });
  return outcome.outcome === 'refused' ? exitCode.findings : exitCode.ok;
}

function chooseService({ workspace, config }: CommandContext, name: string | undefined): ServiceConfig {
  const services = resolveServices(workspace, config);
  const names = services.map((service) => `'${service.name}'`).join(', ');
  const publishing = services.filter((service) => workspace.read(joinPath(service.outbox, 'routes.ts')) !== null);
  const candidates = name === undefined ? (publishing.length > 0 ? publishing : services) : services.filter((service) => service.name === name);
  const [service, second] = candidates;
  if (service === undefined) {
    throw new UsageError(`There is no service '${name ?? ''}'; there are ${names}.`, { code: 'unknown-service', hint: "Name one of them with '--service <name>'." });
  }
  if (second !== undefined) {
    throw new UsageError(`Several services can have a relay: ${candidates.map((candidate) => `'${candidate.name}'`).join(', ')}.`, {
      code: 'service-needed',
      hint: "Name one of them with '--service <name>'.",
    });
  }
  if (service.orm !== 'typeorm' || (service.database !== null && service.database !== 'postgresql')) {
    throw new ToolError(`There is no relay for the service '${service.name}': it uses ${service.orm ?? 'no known ORM'} on ${service.database ?? 'an unknown database'}.`, {
      code: 'unsupported-stack',
      hint: 'The relay is written for TypeORM on PostgreSQL.',
    });
  }
  return service;
}

function routesOf({ workspace }: CommandContext, service: ServiceConfig): readonly RouteEntry[] {
  const file = joinPath(service.outbox, 'routes.ts');
  const text = workspace.read(file);
  if (text === null) {
    throw new ToolError(`The service '${service.name}' has no '${file}'.`, {
      code: 'outbox-missing',
      hint: "Run 'outboxify migration outbox --write', then bring a handler to dual-publish.",
      file,
    });
  }
  const routes = readRoutes(text);
  if (routes === null) {
    throw new ToolError(`'${file}' exports no object 'routes'.`, { code: 'routes-unreadable', hint: "Write the whitelist as 'export const routes = { … } satisfies Record<string, Route>;'.", file });
  }
  return routes;
}

function gate({ workspace, config }: CommandContext, routes: readonly RouteEntry[]): readonly Reason[] {
  const { result } = analyse(workspace, config);
  return relayGate(routes, result.subscribers);
}

interface Wanted {
  readonly service: ServiceConfig;
  readonly routes: readonly RouteEntry[];
  /** Root module as the user names it. */
  readonly module: string | undefined;
}

async function generate(context: CommandContext, { service, routes, module }: Wanted): Promise<readonly NewFile[]> {
  const { workspace, config } = context;
  const used = new Set(routes.map((route) => route.transport));
  const known = (['nest', 'amqp'] as const).filter((transport) => used.has(transport));
  const transports: readonly RelayTransport[] = known.length > 0 ? known : ['nest'];
  const plan = { style: codeStyleOf(workspace, service), transports, appModule: appModuleOf(context, service, module) };
  return formatNewFiles(workspace, [...renderRelayFiles(service, config.tables, plan), ...renderDeploymentFiles(workspace, service)]);
}

function appModuleOf({ workspace }: CommandContext, service: ServiceConfig, named: string | undefined): AppModule {
  if (named === undefined) {
    const found = findAppModule(workspace, service);
    if (found !== null) return found;
  } else {
    const [file = '', name = 'AppModule'] = named.split('#');
    if (workspace.read(file) !== null && file.endsWith('.ts')) return { file, name };
  }
  const what = named === undefined ? `The root module of '${service.name}' was not found` : `'${named}' is not a TypeScript file of the project`;
  throw new UsageError(`${what}; the relay's process starts it for its database and broker clients.`, {
    code: 'app-module-missing',
    hint: "Name it with '--module <file>#<class>', such as '--module src/app.module.ts#AppModule'.",
  });
}

function apply({ cwd, workspace }: CommandContext, { write = false }: RelayOptions, files: readonly NewFile[]): ChangeOutcome {
  const changes = files.map(({ file, content }): Change => ({ file, before: workspace.read(file), after: content }));
  const different = changes.filter(({ before, after }) => before !== null && before !== after);
  if (different.length > 0) {
    return refused(different.map(({ file }) => ({ code: 'file-exists', message: `'${file}' exists and differs: move your changes aside, or delete the file to have it written afresh.` })));
  }
  return (write ? diskSink(cwd) : dryRunSink(cwd)).apply(changes);
}

function refused(reasons: readonly Reason[]): ChangeOutcome {
  return { outcome: 'refused', reasons, files: [], patch: '' };
}
