import { ToolError, UsageError } from '../../core/errors.js';
import { exitCode, type ExitCode } from '../../core/exit-code.js';
import { cutOver, markedInstant, planCutOver, type CutOverPlan, type CutOverResult } from '../../schema/operations/cut-over.js';
import { displayName } from '../../schema/identifiers.js';
import { addEvidence, readEvidence } from '../../workspace/evidence.js';
import { resolveServices } from '../../workspace/services.js';
import { diskSink } from '../../workspace/sink.js';
import { usualBatch, type OpsRun } from './index.js';

/**
 * `ops cut-over`: rows from before the instant count as delivered by the legacy publish. The relay would deliver them a
 * second time, and subscribers without an inbox record of them would process them twice.
 */
export async function runCutOver(run: OpsRun): Promise<ExitCode> {
  const { context, options, connection, tables } = run;
  const { out } = context;
  assertService(run);
  const recorded = await recordedInstant(run);
  const plan = await planCutOver(connection, tables, options.before ?? recorded);
  if (recorded !== null && Date.parse(plan.instant) > Date.parse(recorded)) throw alreadyDone(recorded);
  if (options.write !== true) {
    print(run, { ...plan, marked: 0, left: plan.pending });
    return exitCode.ok;
  }
  const result = await cutOver(connection, tables, {
    plan,
    batch: options.batch ?? usualBatch,
    onBatch: (marked) => out.progress(`${marked} of ${plan.pending} rows marked`),
  });
  out.progress(null);
  if (result.marked > 0 || recorded !== plan.instant) record(run, result);
  print(run, result);
  return result.left > 0 ? exitCode.findings : exitCode.ok;
}

/** The gate of the relay looks for the cut-over of its service. */
function assertService({ context, service }: OpsRun): void {
  if (service !== '') return;
  const names = resolveServices(context.workspace, context.config).map(({ name }) => `'${name}'`).join(', ');
  throw new UsageError('The project has several services, and a cut-over is recorded for one.', { code: 'service-needed', hint: `Name it with '--service <name>': ${names}.` });
}

/** Instant of the last cut-over of this database, as the evidence or the marked rows tell it. A run without one repeats it. */
async function recordedInstant({ context, connection, tables }: OpsRun): Promise<string | null> {
  const subject = displayName(tables, 'outbox');
  // Each environment has its own cut-over.
  const records = readEvidence(context.workspace).filter(({ kind, details, ...item }) => kind === 'cut-over' && item.subject === subject && details['database'] === connection.address);
  const candidates = [...records.map(({ details }) => String(details['instant'])), (await markedInstant(connection, tables)) ?? ''];
  const instants = candidates.filter((instant) => !Number.isNaN(Date.parse(instant)));
  return instants.sort((a, b) => Date.parse(a) - Date.parse(b)).at(-1) ?? null;
}

function alreadyDone(recorded: string): ToolError {
  return new ToolError(`The cut-over was at '${recorded}': rows stored since then are delivered by the relay, and a later cut-over would give them up.`, {
    code: 'cut-over-done',
    hint: "Without '--before', the recorded cut-over is repeated. If it never counted, take its record out of '.outboxify/evidence.json' and make the rows pending that it marked.",
  });
}

function record({ context, tables, service, connection }: OpsRun, { instant, marked }: CutOverPlan & { readonly marked: number }): void {
  const details = { instant, rows: marked, database: connection.address };
  diskSink(context.cwd).apply([addEvidence(context.workspace, { kind: 'cut-over', service, subject: displayName(tables, 'outbox'), details })]);
}

function print({ context, options }: OpsRun, result: CutOverResult): void {
  const { out } = context;
  const isWriting = options.write === true;
  if (options.format === 'json') {
    const { instant, marked, left } = result;
    out.print(JSON.stringify({ action: 'cut-over', outcome: isWriting ? 'done' : 'dry-run', instant, rows: isWriting ? marked : left, left }, null, 2));
    return;
  }
  if (!isWriting) {
    out.print(`${result.pending} pending rows from before ${result.instant} would be marked as delivered by the legacy publish.`);
    out.note("Run it again with '--write' to mark them. '--before <instant>' takes an earlier time: when the last subscriber's inbox went live is the best.");
    return;
  }
  out.print(`${result.marked} rows from before ${result.instant} are marked as delivered by the legacy publish.`);
  if (result.left > 0) out.print(`${result.left} more are locked by another session, or were stored meanwhile: run it again.`);
  out.print(`OUTBOX_CUT_OVER_AT=${result.instant}`);
  out.note('The relay needs that setting; it leaves older rows alone.');
}
