import type { ScanResult } from '../core/report.js';
import { stackSentence, type StacksSeen } from '../core/stacks.js';
import { count } from './figures.js';

/** How many of one kind are named; the rest is counted. */
const shown = 5;

/** What a reader has to know before the figures mean anything: what was not read, and what belongs to others. One sentence each. */
export function remarksOf({ unread, beside, stacks, safe, unresolved }: Pick<ScanResult, 'unread' | 'beside' | 'stacks' | 'safe' | 'unresolved'>): readonly string[] {
  const remarks = stackRemarks(stacks, safe.length + unresolved.length > 0);
  const imports = unread.slice(0, shown).map(({ file, line, hint }) => `${file}:${line}: ${hint}`);
  remarks.push(...imports);
  if (unread.length > shown) remarks.push(`${count(unread.length - shown, 'more import')} could not be followed: see 'unresolved' in --format json.`);
  if (beside !== null && beside.findings > 0) {
    remarks.push(`${count(beside.findings, 'dual write')} of code beside this folder, which it uses, ${beside.findings === 1 ? 'is' : 'are'} not shown here: outboxify scan --cwd ${beside.root}`);
  }
  return remarks;
}

function stackRemarks({ hasOrm, unsupported, supported }: StacksSeen, hasPublish: boolean): string[] {
  if (unsupported.length > 0) return unsupported.map((stack) => `${hasOrm ? '' : 'No supported ORM was found. '}${stackSentence(stack, supported)}`);
  if (hasOrm || !hasPublish) return [];
  return [`No ORM was found. Supported: ${supported.join(', ')}. Other writes are not seen, so no publish is known to be safe: name what writes under 'writers' in outboxify.json.`];
}
