import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../core/errors.js';
import type { ExitCode } from '../core/exit-code.js';
import { nearestNames } from '../core/nearest.js';
import { formats, type Format } from '../report/format.js';
import { version } from '../workspace/package.js';
import { commands as allCommands, type Commands } from './commands.js';
import { CommandLineError } from './errors.js';
import { commandHelp, programHelp } from './help.js';

const dataFormats: readonly Format[] = ['pretty', 'json'];

/** The command line: declares commands and flags, and calls one function for each. `done` gets the exit code. */
export function createProgram(done: (code: ExitCode) => void, commands: Commands = allCommands): Command {
  const program = common(new Command('outboxify'), dataFormats)
    .version(version(), '--version', 'print the version')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .helpCommand('help [command]', 'explain one command')
    .configureHelp({ formatHelp: () => programHelp() })
    .argument('[command]')
    .action(async (command: string | undefined, options) => {
      if (command !== undefined) throw unknownCommand(command, program);
      done(await commands.wizard(options));
    })
    .hook('preAction', (_, command) => inheritFlags(program, command));
  const run = <T extends object>(call: (options: T) => Promise<ExitCode>) => async (options: T): Promise<void> => done(await call(options));
  addReading(program, commands, run);
  addWriting(program, commands, run);
  addOperating(program, commands, run);
  for (const command of program.commands) command.configureHelp({ formatHelp: () => commandHelp(command) });
  for (const command of [program, ...program.commands]) {
    // Errors are thrown and printed in one place, with the exit code of a usage error.
    command.exitOverride((error) => { throw new CommandLineError(error, command.name()); }).configureOutput({ writeErr: () => undefined, writeOut: (text) => void process.stdout.write(text) });
  }
  return program;
}

/** `outboxify --cwd shop scan` means the same as `outboxify scan --cwd shop`. */
function inheritFlags(program: Command, command: Command): void {
  if (command === program) return;
  for (const name of Object.keys(program.opts())) {
    const isGiven = program.getOptionValueSource(name) === 'cli' && command.getOptionValueSource(name) !== 'cli';
    if (isGiven) command.setOptionValueWithSource(name, program.getOptionValue(name), 'cli');
  }
}

function unknownCommand(given: string, program: Command): UsageError {
  const names = program.commands.map((command) => command.name());
  const [near] = nearestNames(given, names);
  return new UsageError(`'${given}' is no command of outboxify.`, {
    code: 'unknown-command',
    hint: `${near === undefined ? '' : `Did you mean '${near}'? `}Commands: ${names.join(', ')}.`,
  });
}

type Run = <T extends object>(call: (options: T) => Promise<ExitCode>) => (options: T) => Promise<void>;

function addReading(program: Command, commands: Commands, run: Run): void {
  common(program.command('scan').argument('[paths...]', 'files and folders to report on'), formats)
    .option('--output <file>', 'write the report to a file')
    .action((paths, options) => run(commands.scan)({ ...options, paths }));
  common(program.command('explain').argument('<subject>', 'id of a finding, name of a handler, file:line, or a rule'), dataFormats)
    .action((subject, options) => run(commands.explain)({ ...options, subject }));
  common(program.command('plan'), dataFormats)
    .option('--dry-run', 'print the plan and write nothing')
    .option('--output <file>', 'file of the plan (default: OUTBOX-MIGRATION.md)')
    .action(run(commands.plan));
  common(database(program.command('status')), dataFormats)
    .option('--record', 'keep what the database says as evidence')
    .action(run(commands.status));
  common(database(program.command('check')), ['pretty', 'json', 'sarif', 'github', 'gitlab'])
    .option('--base <ref>', 'git revision whose baseline counts')
    .option('--update-baseline', 'accept the findings of today')
    .action(run(commands.check));
}

function addWriting(program: Command, commands: Commands, run: Run): void {
  common(program.command('init'), dataFormats).option('--force', 'replace an existing outboxify.json').action(run(commands.init));
  common(program.command('migration').addArgument(new Argument('<table>', 'outbox or inbox').choices(['outbox', 'inbox'])), dataFormats)
    .option('--write', 'write the files; without it, print the patch')
    .option('--name <name>', 'name of the migration')
    .option('--two-columns', 'index over status and time alone')
    .option('--service <name>', 'service to write for')
    .action((table, options) => run(commands.migration)({ ...options, table }));
  change(program.command('rewrite').argument('<handler>', 'Class.method, file:line, or the id of a finding'))
    .addOption(new Option('--to <stage>', 'stage to bring the handler to').choices(['dual-publish', 'outbox-only']))
    .option('--force <why>', 'pass a gate that is not met, and say why')
    .option('--db <url>', 'connection string, for the gate of outbox-only')
    .option('--event <name>', 'message type')
    .option('--aggregate-type <name>', 'aggregate type')
    .option('--aggregate-id <expression>', 'expression for the id of the aggregate')
    .action((handler, options) => run(commands.rewrite)({ ...options, handler }));
  change(program.command('inbox').argument('<subscriber>', 'Class.method, or file:line')).action((subscriber, options) => run(commands.inbox)({ ...options, subscriber }));
  common(program.command('relay'), dataFormats)
    .option('--write', 'write the files; without it, print the patch')
    .option('--service <name>', 'service to write for')
    .option('--module <file#class>', "the application's root module")
    .option('--force <why>', 'pass a gate that is not met, and say why')
    .action(run(commands.relay));
}

function addOperating(program: Command, commands: Commands, run: Run): void {
  const action = new Argument('<action>', 'what to do').choices(['lag', 'failed', 'retry', 'purge', 'cut-over']);
  common(database(program.command('ops').addArgument(action).argument('[ids...]', 'ids of messages, for retry')), dataFormats)
    .option('--all', 'every failed message, for retry')
    .option('--type <message-type>', 'only messages of this type')
    .option('--before <instant>', 'instant of the cut-over, ISO 8601', toInstant)
    .option('--days <n>', 'age from which rows are purged', toCount)
    .option('--message-days <n>', 'days that the broker keeps a message, for the inbox', toCount)
    .option('--retry-days <n>', 'days over which a message is repeated, for the inbox', toCount)
    .option('--batch <n>', 'rows in one statement', toCount)
    .option('--limit <n>', 'list at most so many rows', toCount)
    .addOption(new Option('--table <table>', 'table to purge').choices(['outbox', 'inbox']))
    .option('--write', 'change rows; without it, count them')
    .action((name, ids, options) => run(commands.ops)({ ...options, action: name, ids }));
}

function common(command: Command, accepted: readonly Format[]): Command {
  return command
    .option('--cwd <dir>', 'directory of the project')
    .option('--config <file>', 'configuration file (default: outboxify.json)')
    .addOption(new Option('--format <format>', 'output format').choices(accepted).default('pretty'))
    .option('--quiet', 'print results and errors only')
    .option('--no-color', 'no colour');
}

function database(command: Command): Command {
  return command.option('--db <url>', 'connection string').option('--service <name>', 'service whose database is meant');
}

function change(command: Command): Command {
  return common(command, dataFormats)
    .option('--write', 'write the files; without it, print the patch')
    .option('--commit', 'write and commit')
    .option('--branch <name>', 'write and commit on a new branch')
    .option('--pr', 'also push the branch and open a pull request with gh')
    .option('--undo', 'give back the files as they were')
    .option('--allow-dirty', 'commit although files have other changes');
}

function toCount(value: string): number {
  const count = Number(value);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('Expected a whole number from 1.');
  return count;
}

function toInstant(value: string): string {
  const isComplete = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/.test(value);
  if (!isComplete || Number.isNaN(Date.parse(value))) throw new InvalidArgumentError("Expected an instant with its offset, such as '2026-03-01T12:00:00Z'.");
  return value;
}
