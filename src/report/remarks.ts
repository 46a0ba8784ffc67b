import type { ScanResult } from '../core/report.js';
import { count } from './figures.js';

/** How many of one kind are named; the rest is counted. */
const shown = 5;

/** What a reader has to know before the figures mean anything: what was not read, and what belongs to others. One sentence each. */
export function remarksOf({ unread, beside }: Pick<ScanResult, 'unread' | 'beside'>): readonly string[] {
  const remarks = unread.slice(0, shown).map(({ file, line, hint }) => `${file}:${line}: ${hint}`);
  if (unread.length > shown) remarks.push(`${count(unread.length - shown, 'more import')} could not be followed: see 'unresolved' in --format json.`);
  if (beside !== null && beside.findings > 0) {
    remarks.push(`${count(beside.findings, 'dual write')} of code beside this folder, which it uses, ${beside.findings === 1 ? 'is' : 'are'} not shown here: outboxify scan --cwd ${beside.root}`);
  }
  return remarks;
}
