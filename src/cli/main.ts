import { exitCode, type ExitCode } from '../core/exit-code.js';
import { reportError } from './errors.js';
import { createProgram } from './program.js';
import { createUi } from './ui.js';

/** Runs one command line and sets the exit code; output that is still on its way is waited for. */
export async function main(argv: readonly string[]): Promise<void> {
  watchOutput();
  process.exitCode = await runCommandLine(argv);
}

/**
 * A reader that has seen enough (`outboxify scan | head`) changes nothing about the answer: the command ends as it would
 * have, with its exit code. An output that can't be written is a failure: what the user has is not the result.
 */
function watchOutput(): void {
  const isClosed = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isClosed(error)) return;
    process.stderr.write(`error The output can't be written (${error.code ?? error.message}).\n  Free space where it goes, or send it elsewhere, and run the command again.\n`);
    process.exit(exitCode.error);
  });
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (!isClosed(error)) process.exit(exitCode.error);
  });
}

/** Runs one command line; what it throws is printed. */
export async function runCommandLine(argv: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = exitCode.ok;
  try {
    await createProgram((answer) => {
      code = answer;
    }).parseAsync([...argv]);
    return code;
  } catch (error) {
    const out = createUi({ color: argv.includes('--no-color') ? false : undefined });
    return reportError(error, { out, asJson: wantsJson(argv) });
  }
}

/** Asked of the raw arguments: an error may come before they are parsed. */
function wantsJson(argv: readonly string[]): boolean {
  return argv.some((argument, index) => argument === '--format=json' || (argument === '--format' && argv[index + 1] === 'json'));
}
