import type { Step, Target } from '../plan/next.js';

/** One question, as data. */
export interface Question {
  readonly message: string;
  readonly choices: readonly [Choice, ...Choice[]];
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** Shown while the choice is marked. */
  readonly about?: string;
}

/** How a person is asked. */
export interface Asker {
  /** The answer is the value of a choice. */
  choose(question: Question): Promise<string>;
  /** What is typed is not shown; empty: no answer. */
  secret(message: string): Promise<string>;
}

export const stop = 'stop';
export const back = 'back';

/** Which step; the one that comes next is the first. On the command line: the command itself. */
export function stepQuestion(steps: readonly Step[]): Question {
  const [first, ...rest] = [...steps.map(({ id, title, why, targets }): Choice => ({ value: id, label: targets.length > 1 ? `${title} (${targets.length})` : title, about: why })), { value: stop, label: 'Stop here' }];
  return { message: 'What next?', choices: [first, ...rest] };
}

/** For which service, handler or subscriber. On the command line: `--service` or the argument. */
export function targetQuestion(step: Step): Question {
  const [first, ...rest] = step.targets.map((target): Choice => ({ value: target.name, label: target.label, about: commandLine(target) }));
  return { message: step.title, choices: [first ?? { value: back, label: 'Back' }, ...rest, { value: back, label: 'Back' }] };
}

/** Whether to run it. On the command line: `--write`, or leaving it out. */
export function runQuestion(target: Target): Question {
  const canBeDry = target.args.includes('--write');
  return {
    message: `Run '${commandLine(target)}'?`,
    choices: [
      { value: 'run', label: 'Run it' },
      ...(canBeDry ? [{ value: 'dry-run', label: 'Show first what it would change' }] : []),
      { value: back, label: 'Back' },
    ],
  };
}

/** The command as a person would type it. */
export function commandLine({ args }: Pick<Target, 'args'>): string {
  return ['npx outboxify', ...args.map((argument) => (/^[\w./#@:=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`))].join(' ');
}
