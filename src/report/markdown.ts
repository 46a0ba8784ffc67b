import type { Finding } from '../core/finding.js';
import type { ScanResult } from '../core/report.js';
import { findingSentence } from './annotation.js';
import { byFile, count, countFigures, figuresSentence, statsSentence } from './figures.js';
import { remarksOf } from './remarks.js';
import { safeReasons } from './rules.js';

/** A report for a wiki, an issue or a pull request. */
export function renderMarkdown(result: ScanResult): string {
  const parts = ['# Dual writes', `${figuresSentence(countFigures(result))} ${statsSentence(result)}`];
  parts.push(...remarksOf(result).map(escapeText));
  for (const [file, findings] of byFile(result.findings)) parts.push(`## ${code(file)}`, ...findings.map(findingText));
  if (result.safe.length > 0) {
    const rows = result.safe.map(({ file, line, bus, reason }) => [code(`${file}:${line}`), code(bus), `${code(reason)} ${safeReasons[reason]}`]);
    parts.push('## Safe publishes', table(['where', 'bus', 'reason'], rows));
  }
  if (result.subscribers.length > 0) {
    const rows = result.subscribers.map(({ file, line, name, destination, inbox, writes }) => [code(name), code(destination ?? '?'), code(`${file}:${line}`), yesNo(inbox), yesNo(writes)]);
    parts.push('## Subscribers', table(['subscriber', 'event', 'where', 'inbox', 'writes'], rows));
  }
  if (result.unresolved.length > 0) {
    const rows = result.unresolved.map(({ file, line, text, hint }) => [code(`${file}:${line}`), code(text), cell(hint)]);
    parts.push('## Not resolved', table(['where', 'call', 'what would resolve it'], rows));
  }
  if (result.skipped.length > 0) {
    parts.push(`## ${count(result.skipped.length, 'file')} passed over`, table(['file', 'why'], result.skipped.map(({ file, message }) => [code(file), cell(message)])));
  }
  return `${parts.join('\n\n')}\n`;
}

function findingText(finding: Finding): string {
  const { handler, kind, publish, witness, id, confidence } = finding;
  const steps = witness.map(({ step, file, line, text }) => `${step}. ${escapeText(text)} (${code(`${file}:${line}`)})`);
  return [
    `### ${code(handler.name)}`,
    `${code(kind)}, ${code(publish.bus)}, ${publish.destination === null ? 'destination unknown' : code(publish.destination)}, ${confidence} confidence, id ${code(id)}`,
    escapeText(findingSentence(finding)),
    steps.join('\n'),
  ].filter((part) => part !== '').join('\n\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Inline code that its text can't get out of, in a table cell or not. */
function code(text: string): string {
  const line = oneLine(text).replaceAll('|', '\\|') || '(empty)';
  const fence = '`'.repeat(Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length)) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

function cell(text: string): string {
  return escapeText(text).replaceAll('|', '\\|');
}

/** Text that no Markdown or HTML is read from, wherever on a line it stands. */
function escapeText(text: string): string {
  return oneLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[\\`*_[\]#~]/g, (character) => `\\${character}`)
    .replace(/^(\s*)(?=[-+=:])/, '$1\\')
    .replace(/^(\s*\d+)(?=[.)])/, '$1\\');
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\u0000-\u001f\u2028\u2029]+/g, ' ');
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
