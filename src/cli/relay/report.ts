import type { ServiceConfig } from '../../core/config.js';
import type { ChangeOutcome, Reason } from '../../core/outcome.js';
import { joinPath } from '../../workspace/paths.js';
import type { CommandContext } from '../context.js';
import type { RelayOptions } from '../options.js';

/** What the command did for a service. */
export interface RelayResult {
  readonly outcome: ChangeOutcome;
  readonly service: ServiceConfig;
  /** Reasons that `--force` passed over. */
  readonly passed: readonly Reason[];
}

/** Prints it: JSON, or text with what to do next. */
export function report({ out }: CommandContext, options: RelayOptions, { outcome, service, passed }: RelayResult): void {
  if (options.format === 'json') {
    out.print(JSON.stringify({ ...outcome, reasons: [...outcome.reasons, ...passed] }, null, 2));
    return;
  }
  for (const reason of passed) out.note(`Passed over (${options.force ?? ''}): ${reason.message}`);
  if (outcome.outcome === 'refused') {
    out.print('Nothing is written.');
    for (const { code, message } of outcome.reasons) out.print(`  ${code}  ${message}`);
    return;
  }
  if (outcome.outcome === 'nothing-to-do') out.print('The relay is there already; nothing to do.');
  else if (outcome.outcome === 'dry-run') out.print(outcome.patch);
  else for (const { path, change } of outcome.files) out.print(`${change}  ${path}`);
  out.note(nextSteps(service, outcome));
}

function nextSteps(service: ServiceConfig, { outcome }: ChangeOutcome): string {
  const lines = outcome === 'dry-run' ? ["Run it again with '--write' to have these files."] : [];
  return [
    ...lines,
    'Before the relay starts for the first time:',
    `  1. outboxify ops cut-over --service ${service.name} --write   marks what the legacy publish has delivered, and prints the instant`,
    '  2. set OUTBOX_CUT_OVER_AT to that instant; without it the relay does not start',
    `  3. start it: as a process of its own (units in ${joinPath(service.root, 'deploy')}), or with RelayModule in the application's module`,
  ].join('\n');
}
