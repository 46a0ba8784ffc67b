import { exitCode, type ExitCode } from '../../core/exit-code.js';
import { printable } from '../../report/text.js';
import { listFailed } from '../../schema/operations/failed.js';
import type { OpsRun } from './index.js';

const usualLimit = 50;

/** `ops failed`: the messages that the relay has given up, and why. */
export async function runFailed({ context, options, connection, tables }: OpsRun): Promise<ExitCode> {
  const { out } = context;
  const { messages, hasMore } = await listFailed(connection, tables, { type: options.type ?? null, limit: options.limit ?? usualLimit });
  if (options.format === 'json') {
    out.print(JSON.stringify({ action: 'failed', messages, hasMore }, null, 2));
    return exitCode.ok;
  }
  if (messages.length === 0) out.print('No failed messages.');
  for (const message of messages) {
    out.print(`${message.id}  ${printable(message.type)}  ${printable(message.aggregateType)} ${printable(message.aggregateId)}  ${message.occurredAt}  ${message.attempts} attempts`);
    out.print(`  ${printable(message.lastError ?? 'no error was recorded')}`);
  }
  if (hasMore) out.note(`There are more; '--limit <n>' lists them.`);
  if (messages.length > 0) out.note("'outboxify ops retry <id…> --write' sends them again, '--type <message-type>' or '--all' many at once.");
  return exitCode.ok;
}
