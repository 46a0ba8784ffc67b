import { look, type Step, type Target } from '../plan/next.js';
import { back, commandLine, runQuestion, stepQuestion, stop, targetQuestion, type Asker } from './question.js';

/** What the wizard works with. It changes nothing itself: every change is a command, printed before it runs. */
export interface Lead {
  readonly asker: Asker;
  /** What can be done now, in order; read anew after each command. */
  steps(): Promise<readonly Step[]>;
  /** Runs a command line, without `npx outboxify`, and prints its errors. */
  run(args: readonly string[]): Promise<void>;
  print(text: string): void;
  /** Flags that every command is given, such as `--cwd`. */
  readonly flags: readonly string[];
  /** The environment variable with the service's connection string; null: it is set. */
  missingUrl(service: string): string | null;
}

/** Leads through the steps until the person stops, or nothing is left to do. */
export async function lead(work: Lead): Promise<void> {
  // The look is offered until it has run once.
  let hasLooked = false;
  for (;;) {
    const open = await work.steps();
    const steps = hasLooked ? open : withLook(open);
    if (steps.length === 0) {
      work.print('Nothing is left to do here. Gates that are not met and the plan: npx outboxify status.');
      return;
    }
    const id = await work.asker.choose(stepQuestion(steps));
    if (id === stop) return;
    const step = steps.find((candidate) => candidate.id === id);
    if (step !== undefined) await take(work, step);
    hasLooked ||= id === 'scan';
  }
}

function withLook(steps: readonly Step[]): readonly Step[] {
  const isFirst = ({ id }: Step): boolean => id === 'init';
  return [...steps.filter(isFirst), look, ...steps.filter((step) => !isFirst(step))];
}

async function take(work: Lead, step: Step): Promise<void> {
  const target = await chooseTarget(work, step);
  if (target === null) return;
  const secret = await connectionFlags(work, target);
  if (secret === null) return;
  for (;;) {
    const shown = { args: [...target.args, ...work.flags, ...(secret.length > 0 ? ['--db', '<url>'] : [])] };
    const answer = step.id === 'scan' ? 'run' : await work.asker.choose(runQuestion({ ...target, ...shown }));
    if (answer === back) return;
    const isDry = answer === 'dry-run';
    const without = (args: readonly string[]): readonly string[] => (isDry ? args.filter((argument) => argument !== '--write') : args);
    work.print(`$ ${commandLine({ args: without(shown.args) })}`);
    await work.run([...without(target.args), ...work.flags, ...secret]);
    if (!isDry) return;
  }
}

async function chooseTarget(work: Lead, step: Step): Promise<Target | null> {
  const [first, ...others] = step.targets;
  if (others.length === 0) return first;
  const name = await work.asker.choose(targetQuestion(step));
  return step.targets.find((target) => target.name === name) ?? null;
}

/** The connection string where the environment has none. Null: the person has none either. */
async function connectionFlags(work: Lead, { database }: Target): Promise<readonly string[] | null> {
  const variable = database === null ? null : work.missingUrl(database);
  if (variable === null) return [];
  const url = await work.asker.secret(`Connection string of the database of '${database ?? ''}' ($${variable} is not set; empty: back)`);
  return url === '' ? null : ['--db', url];
}
