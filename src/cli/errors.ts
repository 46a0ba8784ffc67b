import { CommanderError } from 'commander';
import { CancelledError, ToolError } from '../core/errors.js';
import { exitCode, type ExitCode } from '../core/exit-code.js';
import { packageRoot, version } from '../workspace/package.js';
import type { Ui } from './ui.js';

const issuesPage = 'the issue tracker of outboxify';

/** What commander refuses, and the command that it was said of. */
export class CommandLineError extends CommanderError {
  constructor(error: CommanderError, readonly command: string) {
    super(error.exitCode, error.code, error.message);
  }
}

/** Prints what was thrown and says which exit code it means. The only place that does. */
export function reportError(error: unknown, { out, asJson }: { readonly out: Ui; readonly asJson: boolean }): ExitCode {
  if (error instanceof CancelledError || isPromptCancelled(error)) {
    out.error('Cancelled; nothing more was done.');
    return exitCode.cancelled;
  }
  if (error instanceof CommanderError && error.exitCode === 0) return exitCode.ok;
  const failure = error instanceof CommanderError ? usageErrorOf(error) : error;
  if (asJson) out.print(JSON.stringify(toJson(failure), null, 2));
  else out.error(toText(failure, out));
  return exitCode.error;
}

/** The prompt library's own error for Ctrl-C. */
function isPromptCancelled(error: unknown): boolean {
  return error instanceof Error && error.name === 'ExitPromptError';
}

function usageErrorOf(error: CommanderError): ToolError {
  const [message = '', ...more] = error.message.replace(/^error: /, '').split('\n');
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}`.replace(/\.?$/, '.');
  const suggestion = more.join(' ').replace(/[()]/g, '').trim();
  const command = error instanceof CommandLineError && error.command !== 'outboxify' ? error.command : null;
  const help = command === null ? "Run 'outboxify --help' for the commands and their flags." : `Run 'outboxify ${command} --help' for its arguments and flags.`;
  return new ToolError(sentence, {
    code: error.code.replace(/^commander\./, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    hint: [suggestion === '' ? '' : suggestion.replace(/[^.?]$/, '$&.'), help].filter(Boolean).join(' '),
  });
}

function toJson(error: unknown): object {
  if (error instanceof ToolError) {
    return { code: error.code, message: error.message, hint: error.hint ?? null, file: error.file ?? null, line: error.line ?? null };
  }
  return { code: 'internal-error', message: `This is a bug of outboxify: ${messageOf(error)}`, hint: `Report it on ${issuesPage}.`, file: null, line: null };
}

function toText(error: unknown, { style }: Ui): string {
  if (error instanceof ToolError) {
    const hint = error.hint === undefined ? '' : `\n  ${error.hint}`;
    return `${style.red('error')} ${error.message}${hint}`;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [
    `${style.red('error')} This is a bug of outboxify, not of your project. Report it on ${issuesPage}, with this text:`,
    '',
    `outboxify ${version()}, Node ${process.version}, ${process.platform}`,
    withoutPaths(stack),
  ].join('\n');
}

function messageOf(error: unknown): string {
  return withoutPaths(error instanceof Error ? error.message : String(error));
}

/** A stack that names no folder of the user's machine. */
export function withoutPaths(text: string): string {
  return text
    .replaceAll('file://', '')
    .replaceAll(packageRoot(), '<outboxify>')
    .replaceAll(process.cwd(), '<project>')
    .replace(/(?<![\w<>.@])(?:[A-Za-z]:)?[\\/](?:[^\s:()'"]+[\\/])+(?=[^\s:()'"\\/]+)/g, '<path>/');
}
