import type { Entry, Finding, SafePublish, Subscriber } from '../../core/finding.js';
import { findingSentence } from '../../report/annotation.js';
import { findingRules, safeReasons, stageTexts } from '../../report/rules.js';
import { cut, pad, printable, type TextStyle } from '../../report/text.js';
import type { Preview } from './preview.js';
import type { ExplainedRule } from './rules.js';

const entryTexts: Readonly<Record<Entry, string>> = {
  http: 'called by HTTP requests',
  command: 'called by a command bus',
  subscriber: 'called with messages of a bus',
  cron: 'called on a schedule',
  unknown: 'called by code of the project',
};

export interface FindingTextOptions {
  readonly style: TextStyle;
  readonly rewrite: Preview;
  /** How its handler is named on the command line. */
  readonly subject: string;
}

/** Everything about one finding: the path that proves it, why it hurts, what the rewrite would do or why it can't. */
export function findingText(finding: Finding, { style, rewrite, subject }: FindingTextOptions): string {
  const { kind, handler, publish, id, confidence, stage } = finding;
  const rule = findingRules[kind];
  const head = [
    `${style.bold(printable(handler.name))}  ${stage === 'legacy' ? style.red(kind) : style.green(stage)} · ${printable(publish.bus)} · ${printable(publish.destination ?? 'destination unknown')} · ${id}`,
    style.dim(`${printable(handler.file)}:${handler.line}, ${entryTexts[handler.entry]}, ${confidence} confidence`),
    '',
    printable(findingSentence(finding)),
  ];
  return [
    head.join('\n'),
    section('The path', witnessLines(finding, style), style),
    ...(stage === 'legacy' ? [section('Why it hurts', [rule.problem, rule.pain], style)] : []),
    section('Stage', [`${stage}: ${stageTexts[stage]}`], style),
    rewriteSection(finding, { rewrite, subject, style }),
  ].join('\n\n');
}

export function ruleText({ id, group, text, pain, cure }: ExplainedRule, style: TextStyle): string {
  const parts = [`${style.bold(id)}  ${style.dim(group)}`, text];
  if (pain !== null) parts.push(section('Why it hurts', [pain], style));
  if (cure !== null) parts.push(section('What to do', [cure], style));
  return parts.join('\n\n');
}

/** Why a publish is no finding. */
export function safeText({ file, line, bus, destination, reason, handler }: SafePublish, style: TextStyle): string {
  return [
    `${style.bold(printable(handler?.name ?? file))}  ${style.green('safe')} · ${printable(bus)} · ${printable(destination ?? 'destination unknown')}`,
    style.dim(`${printable(file)}:${line}`),
    `${reason}: ${safeReasons[reason]}`,
  ].join('\n');
}

/** Whether a message that comes twice is processed twice. */
export function subscriberText({ file, line, name, bus, destination, inbox, writes }: Subscriber, subject: string, style: TextStyle): string {
  const title = printable(name);
  const withoutInbox = writes
    ? `Without an inbox, a message that comes twice is processed twice. 'outboxify inbox ${subject} --write' gives it one.`
    : 'It writes nothing that the scan can see, so it needs no inbox for the database.';
  return [
    `${style.bold(title)}  subscriber · ${printable(bus)} · ${printable(destination ?? 'destination unknown')}`,
    style.dim(`${printable(file)}:${line}`),
    inbox ? 'It has its inbox: a message that comes twice is processed once.' : withoutInbox,
  ].join('\n');
}

function witnessLines({ witness, stage }: Finding, style: TextStyle): readonly string[] {
  const width = Math.max(0, ...witness.map(({ text }) => printable(text).length));
  return witness.map(({ step, role, text, file, line }) => {
    const number = String(step).padStart(2);
    const where = style.dim(`${printable(file)}:${line}`);
    const shown = pad(cut(printable(text), 76), Math.min(width, 76));
    if (role !== 'crash') return `${number}  ${shown}  ${where}`;
    return stage === 'legacy' ? style.red(`${number}  ✗ ${printable(text)}`) : style.green(`${number}  ✓ ${printable(text)}`);
  });
}

function rewriteSection({ stage }: Finding, { rewrite, subject, style }: FindingTextOptions): string {
  const next = stage === 'legacy' ? 'dual-publish' : 'outbox-only';
  const command = `outboxify rewrite ${subject} --to ${next}`;
  const reasons = rewrite.reasons.map(({ code, message }) => `${code}: ${printable(message)}`);
  if (!rewrite.possible) return section(`Why '${command}' can't do it`, reasons, style);
  const lines = [`'${command}' prints this patch once it is proved, and writes it with --write.`, ...reasons];
  return [section('What the rewrite would do', lines, style), ...(rewrite.patch === '' ? [] : [rewrite.patch.trimEnd()])].join('\n\n');
}

function section(title: string, lines: readonly string[], style: TextStyle): string {
  return [style.bold(title), ...lines.map((line) => `  ${line}`)].join('\n');
}
