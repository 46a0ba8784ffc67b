import { exitCode, type ExitCode } from '../../core/exit-code.js';
import { readFigures, type CappedCount } from '../../schema/operations/figures.js';
import { requireTable } from '../../schema/operations/require-table.js';
import { printable } from '../../report/text.js';
import type { OpsRun } from './index.js';

/** `ops lag`: how far the relay is behind. */
export async function runLag({ context, options, connection, tables }: OpsRun): Promise<ExitCode> {
  await requireTable(connection, tables, 'outbox');
  const figures = await readFigures(connection, tables);
  const { out } = context;
  if (options.format === 'json') {
    out.print(JSON.stringify({ action: 'lag', ...figures }, null, 2));
    return exitCode.ok;
  }
  const { outbox, inbox } = figures;
  if (outbox !== null) {
    out.print(`pending  ${countText(outbox.pending)}${outbox.oldestPendingSeconds === null ? '' : `, the oldest for ${durationText(outbox.oldestPendingSeconds)}`}`);
    out.print(`failed   ${countText(outbox.failed)}`);
    out.print(`sent     ${countText(outbox.sent)}${outbox.cutOver.count === 0 ? '' : `, of these ${countText(outbox.cutOver)} by the cut-over`}`);
    for (const { type, pending, failed, oldestPendingSeconds } of outbox.types) {
      const age = oldestPendingSeconds === null ? '' : `, the oldest for ${durationText(oldestPendingSeconds)}`;
      out.print(`  ${printable(type)}  ${pending} pending${age}${failed === 0 ? '' : `, ${failed} failed`}`);
    }
  }
  for (const { consumer, messages, duplicates } of inbox?.consumers ?? []) {
    out.print(`inbox    ${printable(consumer)}  ${messages} messages, ${duplicates} duplicates turned away`);
  }
  return exitCode.ok;
}

function countText({ count, isCapped }: CappedCount): string {
  return isCapped ? `${count} or more` : String(count);
}

/** `3 s`, `12 min`, `5 h`, `3 d`. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
