import type { Finding, FindingKind } from '../core/finding.js';
import type { ScanResult } from '../core/report.js';

/** The numbers of a scan, counted in handlers: a handler with two publishes is one. */
export interface Figures {
  readonly lost: number;
  readonly phantom: number;
  /** Handlers that store and still publish themselves. */
  readonly dual: number;
  readonly safe: number;
  /** False: something was not read, and may hold more. */
  readonly isComplete: boolean;
  /** False: no ORM that is read was found, so that a publish without a write says nothing. */
  readonly knowsWrites: boolean;
}

export function countFigures({ findings, safe, skipped, unread, stacks }: ScanResult): Figures {
  return {
    isComplete: skipped.length + unread.length + stacks.unsupported.length === 0,
    knowsWrites: stacks.hasOrm,
    lost: countHandlers(findings, (finding) => isOpen(finding, 'lost-event')),
    phantom: countHandlers(findings, (finding) => isOpen(finding, 'phantom-event')),
    dual: countHandlers(findings, ({ stage }) => stage === 'dual-publish'),
    safe: safe.length,
  };
}

/** Whether an event can still be lost or be a phantom. */
function isOpen({ kind, stage }: Finding, wanted: FindingKind): boolean {
  return kind === wanted && stage === 'legacy';
}

function countHandlers(findings: readonly Finding[], isCounted: (finding: Finding) => boolean): number {
  return new Set(findings.filter(isCounted).map(({ handler }) => `${handler.file}\0${handler.line}\0${handler.name}`)).size;
}

/** `14 handlers can lose an event, 3 can announce one that never happened, 22 publishes are safe.` */
export function figuresSentence({ lost, phantom, dual, safe, isComplete, knowsWrites }: Figures): string {
  const parts: string[] = [];
  if (lost > 0) parts.push(`${count(lost, 'handler')} can lose an event`);
  if (phantom > 0) parts.push(`${parts.length === 0 ? count(phantom, 'handler') : formatCount(phantom)} can announce one that never happened`);
  if (dual > 0) parts.push(`${parts.length === 0 ? count(dual, 'handler') : formatCount(dual)} ${dual === 1 ? 'stores' : 'store'} the event and still ${dual === 1 ? 'publishes' : 'publish'} it`);
  if (parts.length === 0 && !isComplete) parts.push('in what could be read, no handler can lose an event or announce one that never happened');
  else if (parts.length === 0) parts.push('no handler can lose an event or announce one that never happened');
  if (safe > 0 && !knowsWrites) parts.push(`${count(safe, 'publish', 'publishes')} ${safe === 1 ? 'has' : 'have'} no write that could be seen`);
  else if (safe > 0) parts.push(`${count(safe, 'publish', 'publishes')} ${safe === 1 ? 'is' : 'are'} safe`);
  const sentence = `${parts.join(', ')}.`;
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** `1,204 files, 0.9 s.` */
export function statsSentence({ stats }: ScanResult): string {
  return `${count(stats.files, 'file')}, ${(stats.milliseconds / 1000).toFixed(1)} s.`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${formatCount(number)} ${number === 1 ? one : many}`;
}

function formatCount(number: number): string {
  return number.toLocaleString('en-US');
}

/** Findings by file, both in the order of the scan. */
export function byFile(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const group = groups.get(finding.handler.file) ?? [];
    group.push(finding);
    groups.set(finding.handler.file, group);
  }
  return groups;
}
