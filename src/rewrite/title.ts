import type { Finding } from '../core/finding.js';

/** What a finding's event is called in a title. */
export function eventTitle({ publish }: Finding): string {
  return publish.route.pattern ?? publish.route.routingKey ?? publish.destination ?? publish.bus;
}
