import type { Finding, Handler, Write } from '../core/finding.js';
import type { Place, Span } from '../core/place.js';
import type { ScanResult } from '../core/report.js';
import { handlerSubject } from '../core/subject.js';
import { byFile, count, countFigures, figuresSentence, statsSentence } from './figures.js';
import { codeLine } from './excerpt.js';
import { remarksOf } from './remarks.js';
import { cut, link, pad, printable, type TextStyle } from './text.js';

export interface PrettyOptions {
  readonly style: TextStyle;
  /** Text of a source file, for the excerpts. */
  readonly read: (file: string) => string | null;
  /** Address of a line for terminals that have links; without it there are none. */
  readonly urlOf?: (place: Place) => string;
  /** Columns of the terminal. */
  readonly width?: number;
}

/** One row of an excerpt: a line of code and what happens at it. */
interface Row {
  readonly place: Place | null;
  readonly code: string;
  /** `crash`: what is lost here; `kept`: what is not, as the outbox has it. */
  readonly role: 'done' | 'crash' | 'kept';
  readonly text: string;
}

/** Columns that all findings of a report share. */
interface Layout extends PrettyOptions {
  readonly handlers: readonly Handler[];
  readonly codeWidth: number;
  readonly lineWidth: number;
}

/** What a person sees: handlers by file, each with the lines that matter, then the numbers. */
export function renderPretty(result: ScanResult, options: PrettyOptions): string {
  const rows = result.findings.flatMap((finding) => toRows(finding, options.read));
  const limit = Math.min(48, Math.max(30, Math.floor((options.width ?? 110) * 0.45)));
  const layout: Layout = {
    ...options,
    handlers: result.findings.map(({ handler }) => handler),
    codeWidth: Math.min(limit, Math.max(30, ...rows.map(({ code }) => [...code].length))),
    lineWidth: Math.max(3, ...rows.map(({ place }) => String(place?.line ?? '').length)),
  };
  const blocks = [...byFile(result.findings)].map(([file, findings]) => fileBlock(file, findings, layout));
  return [...blocks, summary(result, options)].join('\n\n');
}

function fileBlock(file: string, findings: readonly Finding[], layout: Layout): string {
  const [first] = findings;
  const title = layout.style.underline(printable(file));
  const linked = layout.urlOf && first ? link(title, layout.urlOf({ file, line: first.handler.line })) : title;
  return [linked, findings.map((finding) => findingBlock(finding, layout)).join('\n\n')].join('\n');
}

function findingBlock(finding: Finding, layout: Layout): string {
  const { style, codeWidth } = layout;
  const body = toRows(finding, layout.read).map(({ place, code, role, text }) => {
    const remark = role === 'crash' ? style.red(`✗  ${text}`) : role === 'kept' ? style.green(`✓  ${text}`) : text;
    return `   ${style.dim(lineNumber(place, layout))} ${style.dim('│')} ${pad(cut(code, codeWidth), codeWidth)}  ${remark}`;
  });
  return [headLine(finding, layout), ...body, nextLine(finding, layout)].join('\n');
}

function lineNumber(place: Place | null, { lineWidth, urlOf }: Layout): string {
  const digits = place === null ? '' : String(place.line);
  return pad('', lineWidth - digits.length) + (place && urlOf ? link(digits, urlOf(place)) : digits);
}

function headLine({ handler, kind, severity, confidence, publish, stage }: Finding, { style, codeWidth, lineWidth }: Layout): string {
  const column = codeWidth + lineWidth + 8;
  const color = severity === 'error' ? style.red : style.yellow;
  const label = stage === 'legacy' ? color(kind) : style.green(stage);
  const facts = [printable(publish.bus), printable(publish.destination ?? 'destination unknown'), ...(confidence === 'high' ? [] : [`${confidence} confidence`])];
  const name = printable(handler.name);
  return `  ${style.bold(name)}${' '.repeat(Math.max(2, column - 2 - [...name].length))}${label} · ${facts.join(' · ')}`;
}

function nextLine({ id, handler, stage }: Finding, { style, handlers }: Layout): string {
  const next = stage === 'legacy' ? 'dual-publish' : 'outbox-only';
  return style.dim(`    explain ${id} · rewrite ${handlerSubject(handler, id, handlers)} --to ${next}`);
}

/** Lost: writes, crash, publish. Phantom: publish, crash, commit. */
function toRows(finding: Finding, read: (file: string) => string | null): readonly Row[] {
  const { kind, publish, writes, witness } = finding;
  const event = printable(publish.destination ?? 'the event');
  const shown = writes.slice(0, 3);
  const toRow = (write: Write): Row => effectRow(write, { read, text: `${writeText(write, kind)}${route(write)}` });
  // A lost event's own writes are told first; one that comes later stands where it is.
  const isLater = (write: Write): boolean => kind === 'lost-event' && write.order === 'after';
  const writeRows = shown.filter((write) => !isLater(write)).map(toRow);
  const rest = writes.length - shown.length;
  if (rest > 0) writeRows.push({ place: null, code: '', role: 'done', text: `and ${count(rest, 'more write')}` });
  const publishRow = effectRow(publish, { read, text: `published${publish.awaited ? '' : ', not awaited'}${publish.path.length === 0 ? '' : ` (${chain(publish)})`}` });
  const crash: Row = { place: null, code: '', role: finding.stage === 'legacy' ? 'crash' : 'kept', text: crashText(finding, event) };
  if (kind === 'lost-event') return numbered([...writeRows, crash, publishRow, ...shown.filter(isLater).map(toRow)]);
  const commit = witness.find(({ role }) => role === 'commit');
  const commitRow: readonly Row[] = commit ? [{ place: commit, code: lineOf(commit, read), role: 'done', text: 'committed' }] : [];
  const isWrittenFirst = shown.every((write) => write.transaction !== null && lineInHandler(write) <= lineInHandler(publish));
  return numbered(isWrittenFirst ? [...writeRows, publishRow, crash, ...commitRow] : [publishRow, crash, ...writeRows, ...commitRow]);
}

function writeText({ order, transaction }: Write, kind: Finding['kind']): string {
  if (kind === 'phantom-event') return transaction === null ? 'committed' : 'written';
  return { committed: 'committed', pending: 'written, not committed yet', started: 'started, not awaited', after: 'written afterwards' }[order];
}

function crashText({ kind, stage }: Finding, event: string): string {
  if (stage !== 'legacy') return `a crash here loses nothing: ${event} is in the outbox`;
  return kind === 'lost-event' ? `a crash here loses ${event}, and no log says so` : `a failure here leaves ${event} announced, and nothing saved`;
}

function numbered(rows: readonly Row[]): readonly Row[] {
  let step = 0;
  return rows.map((row) => (row.role !== 'done' || row.place === null ? row : { ...row, text: `${++step}  ${row.text}` }));
}

interface PlacedEffect extends Place {
  readonly path: Finding['publish']['path'];
  readonly span: Span;
}

function effectRow(effect: PlacedEffect, { read, text }: { readonly read: (file: string) => string | null; readonly text: string }): Row {
  const site = effect.path[0] ?? effect;
  const source = read(site.file);
  return { place: { file: site.file, line: site.line }, code: source === null ? '' : codeLine(source, site.span), role: 'done', text };
}

function lineInHandler(effect: PlacedEffect): number {
  return (effect.path[0] ?? effect).line;
}

function lineOf({ file, line }: Place, read: (file: string) => string | null): string {
  return printable((read(file)?.split('\n')[line - 1] ?? '').trim());
}

/** ` (OrdersRepository.add → Repository.save, orders.repository.ts:19)`; nothing when the handler writes itself. */
function route(write: Write): string {
  if (write.path.length === 0) return '';
  const call = write.receiver === null ? [] : [`${write.receiver.type}.${write.operation}`];
  return ` (${chain(write, call)})`;
}

function chain(effect: PlacedEffect, last: readonly string[] = []): string {
  const functions = [...effect.path.slice(1).map((site) => site.function), ...last];
  const where = `${effect.file.split('/').at(-1) ?? effect.file}:${effect.line}`;
  return printable(functions.length === 0 ? where : `${functions.join(' → ')}, ${where}`);
}

function summary(result: ScanResult, { style }: PrettyOptions): string {
  const figures = countFigures(result);
  const lines = [`${style.bold(figuresSentence(figures))} ${statsSentence(result)}`];
  if (result.unresolved.length > 0) {
    lines.push(style.yellow(`${count(result.unresolved.length, 'call')} could be a publish or a write and can't be resolved: see 'unresolved' in --format json or markdown.`));
  }
  for (const remark of remarksOf(result)) lines.push(style.yellow(printable(remark)));
  for (const { file, message } of result.skipped.slice(0, 5)) lines.push(style.yellow(`Passed over: ${printable(file)} (${printable(message)}).`));
  if (result.skipped.length > 5) lines.push(style.yellow(`Passed over: ${count(result.skipped.length - 5, 'more file')}.`));
  if (result.beside !== null && result.beside.files > 0) lines.push(style.dim(`Read with it: ${count(result.beside.files, 'file')} beside this folder, in '${result.beside.root}'.`));
  if (result.findings.length > 0) lines.push('Next: outboxify plan');
  return lines.join('\n');
}
