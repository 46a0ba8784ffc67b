import { UsageError } from '../../core/errors.js';
import { displayName } from '../../schema/identifiers.js';
import type { Figures, OutboxFigures } from '../../schema/operations/figures.js';
import { addEvidence, evidenceFile, type EvidenceRecord } from '../../workspace/evidence.js';
import { diskSink } from '../../workspace/sink.js';
import type { CommandContext } from '../context.js';

type NewRecord = Omit<EvidenceRecord, 'recordedAt' | 'by'>;

/** Keeps what the database said: the gate of outbox-only takes it for a week. */
export function recordFigures({ cwd, workspace, config }: CommandContext, figures: ReadonlyMap<string, Figures>): void {
  const records = [...figures].flatMap(([service, { outbox, inbox }]): NewRecord[] => {
    if (service === '') throw new UsageError('Whose database it is must be known, to keep its figures.', { code: 'service-needed', hint: "Name the service with '--service <name>'." });
    return [
      ...(outbox === null ? [] : [{ kind: 'outbox-figures', service, subject: displayName(config.tables, 'outbox'), details: outboxDetails(outbox) }]),
      ...(inbox?.consumers ?? []).map(({ consumer, messages, duplicates }) => ({ kind: 'inbox-figures', service, subject: consumer, details: { messages, duplicates } })),
    ];
  });
  const before = workspace.read(evidenceFile);
  let after = before;
  for (const record of records) ({ after } = addEvidence({ read: () => after }, record));
  diskSink(cwd).apply([{ file: evidenceFile, before, after }]);
}

function outboxDetails({ pending, failed, sent, oldestPendingSeconds, lastSentAt }: OutboxFigures): EvidenceRecord['details'] {
  return {
    pending: pending.count, failed: failed.count, sent: sent.count,
    ...(oldestPendingSeconds === null ? {} : { oldestPendingSeconds: Math.round(oldestPendingSeconds) }),
    ...(lastSentAt === null ? {} : { lastSentAt }),
  };
}
