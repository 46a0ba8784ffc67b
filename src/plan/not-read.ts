import type { ScanResult, SkippedFile, UnreadImport } from '../core/report.js';
import { stackSentence, type StacksSeen, type UnsupportedStack } from '../core/stacks.js';
import { fileNotRead, importNotRead, ormNotSupported } from './code-rules.js';
import type { KeyedProblem } from './ratchet.js';

type NotRead = Pick<ScanResult, 'skipped' | 'unread' | 'stacks'>;

/** What the check can say nothing about: a result without it would be called clean and be none. */
export function notReadProblems({ skipped, unread, stacks }: NotRead): readonly KeyedProblem[] {
  return [...skipped.map(fileProblem), ...unread.map(importProblem), ...stacks.unsupported.map((stack) => stackProblem(stack, stacks))];
}

/** Files whose dual writes are unknown. */
export function filesNotRead({ skipped }: Pick<NotRead, 'skipped'>): ReadonlySet<string> {
  return new Set(skipped.map(({ file }) => file));
}

/** Whether a file was passed over for what it is: generated, not the project's, or the manifest of a template. Nobody mends that. */
function isMeant({ file, reason }: SkippedFile): boolean {
  return reason === 'too-large' || reason === 'link' || file.endsWith('/package.json');
}

function fileProblem(skipped: SkippedFile): KeyedProblem {
  const { file, message } = skipped;
  const line = Number(/\bline (\d+)/.exec(message)?.[1] ?? 1);
  return {
    rule: fileNotRead.id, severity: isMeant(skipped) ? 'warning' : fileNotRead.severity, subject: 'code', object: file, file, line, key: file, handler: file,
    message: `The file was passed over: ${message.replace(/\.$/, '')}. Its dual writes are not in this result.`,
    fix: "Mend the file, or name it under 'exclude' in outboxify.json.",
  };
}

function importProblem({ file, line, specifier, hint }: UnreadImport): KeyedProblem {
  return { rule: importNotRead.id, severity: importNotRead.severity, subject: 'code', object: file, file, line, key: `${file}#${specifier}`, handler: specifier, message: hint, fix: 'Run the check in a folder that holds both, with --cwd.' };
}

function stackProblem(stack: UnsupportedStack, { supported }: StacksSeen): KeyedProblem {
  const { title, file } = stack;
  return { rule: ormNotSupported.id, severity: ormNotSupported.severity, subject: 'code', object: file, file, line: 1, key: title, handler: title, message: stackSentence(stack, supported), fix: "Name the functions that write under 'writers' in outboxify.json." };
}
