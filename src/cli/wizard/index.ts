import { exitCode, type ExitCode } from '../../core/exit-code.js';
import { nextSteps, type Step } from '../../plan/next.js';
import { countFigures, figuresSentence } from '../../report/figures.js';
import { resolveServices } from '../../workspace/services.js';
import { lead } from '../../wizard/lead.js';
import { commandLine } from '../../wizard/question.js';
import { openContext } from '../context.js';
import { readProject } from '../facts.js';
import type { WizardOptions } from '../options.js';
import { readProgress } from '../progress.js';

/** `outboxify` alone: asks what to do next on a terminal; elsewhere it says what is next, and asks nothing. */
export async function runWizard(options: WizardOptions): Promise<ExitCode> {
  const flags = [...(options.cwd === undefined ? [] : ['--cwd', options.cwd]), ...(options.config === undefined ? [] : ['--config', options.config])];
  const context = await openContext(options);
  const first = await readProject(context);
  if (!context.out.isTerminal || options.format === 'json') return sayNext(options, { context, steps: nextSteps(await readProgress(context, first)), flags });
  context.out.print(figuresSentence(countFigures(first.analysis.result)));
  const { terminalAsker } = await import('../../wizard/ask.js');
  await lead({
    asker: terminalAsker,
    flags,
    print: context.out.print,
    steps: () => readSteps(options),
    run: async (args) => {
      const { runCommandLine } = await import('../main.js');
      await runCommandLine(['node', 'outboxify', ...args]);
    },
    missingUrl: (name) => {
      const variable = resolveServices(context.workspace, context.config).find((service) => service.name === name)?.databaseUrlEnv ?? 'DATABASE_URL';
      return process.env[variable] ? null : variable;
    },
  });
  return exitCode.ok;
}

/** Opened anew each time: the command before may have changed the files. */
async function readSteps(options: WizardOptions): Promise<readonly Step[]> {
  const context = await openContext(options);
  return nextSteps(await readProgress(context, await readProject(context)));
}

interface Next {
  readonly context: Awaited<ReturnType<typeof openContext>>;
  readonly steps: readonly Step[];
  readonly flags: readonly string[];
}

function sayNext({ format }: WizardOptions, { context: { out }, steps, flags }: Next): ExitCode {
  const commands = (step: Step): readonly string[] => step.targets.map(({ args }) => commandLine({ args: [...args, ...flags] }));
  if (format === 'json') {
    out.print(JSON.stringify({ schemaVersion: 1, next: steps.map((step) => ({ step: step.id, title: step.title, commands: commands(step) })) }, null, 2));
    return exitCode.ok;
  }
  const [next] = steps;
  out.print(next === undefined ? 'Nothing is left to do here.' : `Next: ${next.title}.\n  ${commands(next).join('\n  ')}`);
  out.note('Nothing is asked without a terminal. Commands: npx outboxify --help');
  return exitCode.ok;
}
