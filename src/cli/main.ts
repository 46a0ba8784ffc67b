import { exitCode, type ExitCode } from '../core/exit-code.js';
import { reportError } from './errors.js';
import { createProgram } from './program.js';
import { createUi } from './ui.js';

/** Runs one command line and sets the exit code; output that is still on its way is waited for. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // `outboxify scan | head` closes the pipe early.
    if (error.code === 'EPIPE') process.exit(exitCode.ok);
    throw error;
  });
  process.exitCode = await runCommandLine(argv);
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
