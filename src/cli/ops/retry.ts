import { UsageError } from '../../core/errors.js';
import { exitCode, type ExitCode } from '../../core/exit-code.js';
import { countRetryable, retryFailed, type RetrySelection } from '../../schema/operations/failed.js';
import { usualBatch, type OpsRun } from './index.js';

/** `ops retry <id…> | --type | --all`: failed messages become pending again, with all their attempts. */
export async function runRetry({ context, options, connection, tables }: OpsRun): Promise<ExitCode> {
  const { out } = context;
  const selection = selectionOf(options);
  const { count, unknownIds } = await countRetryable(connection, tables, selection);
  const changed = options.write === true ? await retryFailed(connection, tables, { ...selection, batch: options.batch ?? usualBatch }) : count;
  if (options.format === 'json') {
    out.print(JSON.stringify({ action: 'retry', outcome: options.write === true ? 'done' : 'dry-run', rows: changed, unknownIds }, null, 2));
  } else {
    out.print(options.write === true ? `${changed} failed messages are pending again.` : `${count} failed messages would become pending.`);
    for (const id of unknownIds) out.print(`  '${id}' is no failed message`);
    if (options.write !== true) out.note("Run it again with '--write' to change them.");
  }
  return unknownIds.length > 0 ? exitCode.findings : exitCode.ok;
}

function selectionOf({ ids, type, all }: OpsRun['options']): RetrySelection {
  if (ids.length === 0 && type === undefined && all !== true) {
    throw new UsageError('Nothing is named that is to be retried.', { code: 'nothing-selected', hint: "Give ids, '--type <message-type>' or '--all'; 'outboxify ops failed' lists the messages." });
  }
  const bad = ids.find((id) => !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id));
  if (bad !== undefined) throw new UsageError(`'${bad}' is not the id of a message: a UUID is expected.`, { code: 'bad-id', hint: "'outboxify ops failed' lists the ids." });
  if (ids.length > 0 && all === true) throw new UsageError("Ids and '--all' contradict each other.", { code: 'contradiction', hint: 'Give one of the two.' });
  return { ids: ids.length === 0 ? null : ids, type: type ?? null };
}
