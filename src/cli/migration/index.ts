import type { ServiceConfig } from '../../core/config.js';
import { UsageError } from '../../core/errors.js';
import { exitCode, type ExitCode } from '../../core/exit-code.js';
import type { ChangeOutcome, Reason } from '../../core/outcome.js';
import { formatNewChanges } from '../../rewrite/format.js';
import { resolveServices } from '../../workspace/services.js';
import { diskSink, dryRunSink } from '../../workspace/sink.js';
import { assertServices, openContext, type CommandContext } from '../context.js';
import type { MigrationOptions } from '../options.js';
import { planMigration } from './plan.js';

/** `outboxify migration outbox|inbox`. The clock is a parameter: the time is part of the migration's name. */
export async function runMigration(options: MigrationOptions, clock: () => number = Date.now): Promise<ExitCode> {
  const context = await openContext(options);
  assertServices(context);
  const service = chooseService(context, options.service);
  const plan = planMigration({
    workspace: context.workspace,
    config: context.config,
    service,
    role: options.table,
    name: checkedName(options.name),
    twoColumns: options.twoColumns === true,
    now: clock(),
  });
  const sink = options.write === true ? diskSink(context.cwd) : dryRunSink(context.cwd);
  const outcome: ChangeOutcome = plan.refusals.length > 0
    ? { outcome: 'refused', reasons: plan.refusals, files: [], patch: '' }
    : { ...sink.apply(await formatNewChanges(context.workspace, plan.changes)), reasons: plan.followUps };
  report(context, { options, service, outcome });
  return outcome.outcome === 'refused' ? exitCode.findings : exitCode.ok;
}

function checkedName(name: string | undefined): string | null {
  if (name === undefined) return null;
  if (/^[A-Za-z][A-Za-z0-9 _-]*$/.test(name) && name.length <= 80) return name;
  throw new UsageError(`'${name}' can't be the name of a migration: letters, digits, spaces, '-' and '_' are allowed, a letter first.`, {
    code: 'bad-migration-name',
    hint: "Give a name such as '--name create-outbox'.",
  });
}

function chooseService({ workspace, config }: CommandContext, name: string | undefined): ServiceConfig {
  const services = resolveServices(workspace, config);
  const writing = services.filter(({ orm }) => orm !== null);
  const candidates = name === undefined ? (writing.length > 0 ? writing : services) : services.filter((service) => service.name === name);
  const [service, second] = candidates;
  const hint = `Name one with '--service <name>': ${services.map((item) => `'${item.name}'`).join(', ')}.`;
  if (service === undefined) throw new UsageError(`There is no service '${name ?? ''}'.`, { code: 'unknown-service', hint });
  if (second !== undefined) throw new UsageError('The project has several services with a database.', { code: 'service-needed', hint });
  return service;
}

interface Result {
  readonly options: MigrationOptions;
  readonly service: ServiceConfig;
  readonly outcome: ChangeOutcome;
}

function report({ out }: CommandContext, { options, service, outcome }: Result): void {
  if (options.format === 'json') {
    out.print(JSON.stringify(outcome, null, 2));
    return;
  }
  switch (outcome.outcome) {
    case 'refused':
      out.print('Nothing is written.');
      printReasons(outcome.reasons, out.print);
      return;
    case 'nothing-to-do':
      out.print(`The ${options.table} of '${service.name}' has its migration and its code already; nothing to do.`);
      return;
    case 'dry-run':
      out.print(outcome.patch.replace(/\n$/, ''));
      break;
    case 'written':
      for (const { path, change } of outcome.files) out.print(`${change}  ${path}`);
  }
  printReasons(outcome.reasons, out.note);
  out.note(outcome.outcome === 'dry-run' ? "Run it again with '--write' to have these files." : nextSteps(options.table));
}

function printReasons(reasons: readonly Reason[], print: (text: string) => void): void {
  for (const { code, message } of reasons) print(`  ${code}  ${message}`);
}

function nextSteps(table: MigrationOptions['table']): string {
  const then = table === 'outbox' ? "'outboxify rewrite <handler> --to dual-publish'" : "'outboxify inbox <subscriber>'";
  return `Next: run the migration with TypeORM ('migration:run'), 'outboxify check --db <url>', then ${then}.`;
}
