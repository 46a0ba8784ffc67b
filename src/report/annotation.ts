import type { Finding } from '../core/finding.js';
import type { Place } from '../core/place.js';
import type { ScanResult } from '../core/report.js';
import { findingRules, type RuleText } from './rules.js';

/** One remark on a line of code, as code hosts show it. Findings and problems of the check both become these. */
export interface Annotation {
  readonly rule: string;
  readonly level: 'error' | 'warning';
  /** Null when it is about no file, such as a table. */
  readonly place: Place | null;
  /** Name of the function, table or index that it is about. */
  readonly subject: string;
  readonly message: string;
  /** Stable across edits that move lines. */
  readonly fingerprint: string;
  readonly steps: readonly (Place & { readonly text: string })[];
}

/** The findings of a scan as annotations, at the line of the handler that publishes. */
export function toAnnotations(result: ScanResult): readonly Annotation[] {
  return result.findings.map((finding) => ({
    rule: finding.kind,
    level: finding.severity,
    place: publishPlace(finding),
    subject: finding.handler.name,
    message: findingSentence(finding),
    fingerprint: finding.id,
    steps: finding.witness.map(({ file, line, text }) => ({ file, line, text })),
  }));
}

/** The rules that a scan can report. */
export const scanRules: readonly RuleText[] = Object.values(findingRules);

/** Where the handler publishes: the call in the handler itself, also when the publish is further down. */
export function publishPlace({ publish }: Finding): Place {
  const { file, line } = publish.path[0] ?? publish;
  return { file, line };
}

/** What goes wrong, in one sentence. */
export function findingSentence({ kind, handler, publish, writes, stage }: Finding): string {
  const event = publish.destination === null ? 'an event' : `'${publish.destination}'`;
  const targets = [...new Set(writes.flatMap(({ target }) => (target === null ? [] : [target])))];
  const state = targets.length === 0 ? 'a write' : `${targets.slice(0, 3).join(', ')}${targets.length > 3 ? ` and ${targets.length - 3} more` : ''}`;
  if (stage === 'dual-publish') return `${handler.name} stores ${event} in the outbox and still publishes it itself (${publish.bus}).`;
  if (kind === 'lost-event') return `${handler.name} commits ${state} and then publishes ${event} (${publish.bus}): a crash between the two loses the event.`;
  return `${handler.name} publishes ${event} (${publish.bus}) before ${state} is committed: a rollback leaves an event without its state.`;
}
