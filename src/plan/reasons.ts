import type { Reason } from '../core/outcome.js';

/** Every reason for which a gate is not met. The ids are stable; `explain <id>` prints the text. */
export const gateReasons = {
  'no-service': 'The handler belongs to no service of outboxify.json, so it has no outbox.',
  'outbox-not-migrated': 'The database of the service has no outbox table: its migration has not run there.',
  'no-outbox-migration': 'The code that stores events is there, and no migration creates its table.',
  'no-stored-events': 'No handler of the service stores its event yet: a relay would have nothing to deliver.',
  'subscriber-without-inbox': 'A subscriber of the event, or one of which the code does not tell, has no inbox: it would process the copy that the relay delivers a second time.',
  'no-cut-over': 'No cut-over of the service is recorded: the relay would deliver again what the legacy publish has delivered to subscribers that had no inbox then.',
  'no-relay': 'The service has no relay: without the legacy publish nothing would deliver the event.',
  'relay-silent': 'The relay has published nothing yet.',
  'failed-rows': 'Rows have failed five times: the relay has given them up, and someone has to look at them.',
  'relay-lag': 'The oldest pending row waits longer than a relay that keeps up lets it.',
  'no-duplicates': 'The inbox of a subscriber has turned no copy away. At dual-publish both paths deliver, so the messages of one of them do not arrive.',
  'no-figures': 'Nothing is known of how relay or inbox do: give the database, or record its figures. A record counts for a week.',
} as const satisfies Record<string, string>;

export type GateReason = keyof typeof gateReasons | 'no-outbox';

export function gateReason(code: GateReason, message: string): Reason {
  return { code, message };
}
