import { exitCode, type ExitCode } from '../../core/exit-code.js';
import { countOldInbox, countSentOutbox, inboxRetention, outboxRetention, purgeInbox, purgeOutbox } from '../../schema/operations/purge.js';
import { usualBatch, type OpsRun } from './index.js';

/** `ops purge`: deletes sent outbox rows, or inbox rows that no message can come back for. */
export async function runPurge({ context, options, connection, tables }: OpsRun): Promise<ExitCode> {
  const { out } = context;
  const table = options.table ?? 'outbox';
  const isWriting = options.write === true;
  const days = table === 'outbox' ? outboxRetention(options.days) : inboxRetention(options.days, options);
  const count = table === 'outbox' ? countSentOutbox : countOldInbox;
  const purge = table === 'outbox' ? purgeOutbox : purgeInbox;
  const rows = isWriting ? await purge(connection, tables, { days, batch: options.batch ?? usualBatch }) : await count(connection, tables, days);
  if (options.format === 'json') {
    out.print(JSON.stringify({ action: 'purge', outcome: isWriting ? 'done' : 'dry-run', table, days, rows }, null, 2));
    return exitCode.ok;
  }
  const what = table === 'outbox' ? `sent rows older than ${days} days` : `inbox rows not seen for ${days} days`;
  out.print(isWriting ? `${rows} ${what} are deleted.` : `${rows} ${what} would be deleted.`);
  if (!isWriting) out.note("Run it again with '--write' to delete them.");
  return exitCode.ok;
}
