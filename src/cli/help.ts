import type { Command } from 'commander';

/** `outboxify --help`: written by hand, by what people look for. */
export function programHelp(): string {
  return `outboxify: finds every handler that saves and then publishes, and moves it to an outbox and an inbox.

Usage: outboxify [command] [flags]        without a command, on a terminal: the wizard

Look (nothing changes)
  scan [paths...]               handlers that can lose an event or announce one that never happened
  explain <finding|handler>     the path that proves it, and what the rewrite would do
  status                        where each handler stands, and what the database says

Prepare
  init                          detect ORM, bus, database and migrations; write outboxify.json
  plan                          write OUTBOX-MIGRATION.md, a checklist per handler and event

Change (a dry run that prints a patch, until you say --write)
  migration outbox|inbox        the table, in your own migration tool
  rewrite <handler> --to <stage>  dual-publish first, outbox-only at the end
  inbox <subscriber>            make one subscriber ignore duplicates
  relay                         the relay, its whitelist and its deployment unit

Guard and operate
  check                         for CI: no new dual write, no step back, tables and indexes as they must be
  ops lag|failed|retry|purge|cut-over   day-two work on the tables

Flags of every command
  --cwd <dir>                   directory of the project (default: the current one)
  --config <file>               configuration file (default: outboxify.json)
  --format <format>             pretty, json; scan also sarif, markdown, html, github, gitlab
  --quiet                       results and errors only
  --no-color                    no colour
  --version, --help             'outboxify <command> --help' explains one command

Exit codes: 0 clean or done, 1 findings or a gate that is not met, 2 usage or tool error, 130 cancelled.

Examples
  $ npx outboxify scan
  $ npx outboxify explain OrderService.place
  $ npx outboxify rewrite OrderService.place --to dual-publish --write
  $ npx outboxify check --format github
`;
}

interface CommandText {
  readonly usage: string;
  readonly about: string;
  readonly examples: readonly string[];
}

const texts: Readonly<Record<string, CommandText>> = {
  scan: {
    usage: 'scan [paths...] [flags]',
    about: 'Reports every handler that writes to the database and publishes without one transaction over both.\nRuns none of your code and needs no installed dependencies. Exit code 1 when there are findings; a file that cannot be read is named.',
    examples: ['scan', 'scan services/orders', 'scan --format sarif --output scan.sarif'],
  },
  explain: {
    usage: 'explain <finding|handler|subscriber|rule> [flags]',
    about: 'Shows the path that proves a finding, why it hurts, what the rewrite would do, and why not if it cannot.',
    examples: ['explain OrderService.place', 'explain src/order.service.ts:12', 'explain 7f3a2c', 'explain lost-event'],
  },
  init: {
    usage: 'init [flags]',
    about: 'Detects services, ORM, buses, database and migrations, and writes outboxify.json. It holds data only.',
    examples: ['init', 'init --force'],
  },
  plan: {
    usage: 'plan [flags]',
    about: 'Writes OUTBOX-MIGRATION.md: what to do, in which order, most painful handler first.\nA second run changes only what changed and keeps what you wrote.',
    examples: ['plan', 'plan --dry-run'],
  },
  migration: {
    usage: 'migration outbox|inbox [flags]',
    about: "The table's migration and entity, in the project's own tool and dialect. A dry run without --write.",
    examples: ['migration outbox', 'migration inbox --service payments --write'],
  },
  rewrite: {
    usage: 'rewrite <handler> --to dual-publish|outbox-only [flags]',
    about: 'Rewrites one handler, proves the result, and prints the patch; --write writes it.\nA rewrite that cannot be proved is refused, with the reason.',
    examples: ['rewrite OrderService.place --to dual-publish', 'rewrite OrderService.place --to outbox-only --commit', 'rewrite OrderService.place --undo --write'],
  },
  inbox: {
    usage: 'inbox <subscriber> [flags]',
    about: 'Makes one subscriber process each event once: inbox row, work and acknowledgement in the right order.',
    examples: ['inbox PaymentsController.onOrderPlaced', 'inbox PaymentsController.onOrderPlaced --write'],
  },
  relay: {
    usage: 'relay [flags]',
    about: "Writes the relay that publishes stored events. Run 'outboxify ops cut-over' before it starts.",
    examples: ['relay --service orders', 'relay --service orders --write'],
  },
  status: {
    usage: 'status [flags]',
    about: 'Stage of every handler, gates, and live figures where a database can be reached. Read-only.',
    examples: ['status', 'status --db "$DATABASE_URL"'],
  },
  check: {
    usage: 'check [flags]',
    about: "Fails on a new dual write, a step back, a file that can't be read, or a table that is not as it must be. Read-only.",
    examples: ['check', 'check --db "$DATABASE_URL"', 'check --update-baseline'],
  },
  ops: {
    usage: 'ops lag|failed|retry|purge|cut-over [ids...] [flags]',
    about: 'Day-two work on the outbox and inbox tables. Rows change only with --write.',
    examples: ['ops lag', 'ops retry --all --write', 'ops cut-over --before 2026-03-01T12:00:00Z --write'],
  },
};

/** `outboxify <command> --help`: the text by hand, the flags from their declarations. */
export function commandHelp(command: Command): string {
  const text = texts[command.name()];
  if (!text) throw new Error(`no help for the command ${command.name()}`);
  const width = Math.max(...command.options.map(({ flags }) => flags.length));
  const flags = command.options.map((option) => {
    const choices = option.argChoices ? ` (${option.argChoices.join(', ')})` : '';
    return `  ${option.flags.padEnd(width)}  ${option.description}${choices}`;
  });
  const examples = text.examples.map((example) => `  $ npx outboxify ${example}`);
  return `Usage: outboxify ${text.usage}\n\n${text.about}\n\nFlags\n${flags.join('\n')}\n\nExamples\n${examples.join('\n')}\n`;
}
