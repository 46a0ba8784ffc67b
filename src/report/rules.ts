import type { FindingKind, SafeReason, Stage } from '../core/finding.js';

/** What a person has to know about one rule. */
export interface RuleText {
  readonly id: string;
  readonly title: string;
  /** What happens, in one or two sentences. */
  readonly problem: string;
  /** Why it is not noticed, and what it costs. */
  readonly pain: string;
  readonly cure: string;
}

export const findingRules: Readonly<Record<FindingKind, RuleText>> = {
  'lost-event': {
    id: 'lost-event',
    title: 'The write is committed before the publish',
    problem: 'The handler commits to the database and publishes afterwards. A crash, a deployment or a broker that is down between the two loses the event.',
    pain: 'The state is there and every other service goes on without it. No log says so: the process that would have written the line is gone.',
    cure: 'Store the event in the outbox within the transaction of the write, and let the relay publish it.',
  },
  'phantom-event': {
    id: 'phantom-event',
    title: 'The publish happens before the commit',
    problem: 'The handler publishes while the write can still be rolled back. A rollback, a failed constraint or a crash leaves an event about a state that never existed.',
    pain: 'Other services act on it: they charge, ship and notify for a row that nobody can find. A fast subscriber may also look for the row before it is committed.',
    cure: 'Store the event in the outbox within the transaction of the write: both are committed, or neither is.',
  },
};

export const safeReasons: Readonly<Record<SafeReason, string>> = {
  'no-write': 'No write is reached by the functions that reach this publish.',
  'exclusive-branches': 'The write and the publish stand in branches that exclude each other.',
  'same-transaction': 'The queue lives in the database and joins the transaction of the write.',
  'outbox-store': 'The event is stored in the outbox with the write, and only there.',
  relay: "The publish is the relay's own.",
  'request-reply': 'Request and reply: the caller waits for the result, and sees a failure.',
  test: 'In a test.',
};

export const stageTexts: Readonly<Record<Stage, string>> = {
  legacy: 'The handler writes and publishes; nothing is stored in the outbox.',
  'dual-publish': 'The event is stored in the outbox with the write, and the legacy publish still sends the same event.',
  'outbox-only': 'The event is stored in the outbox with the write; the relay is all that publishes it.',
};

/** Markdown for code hosts that show help beside an alert. */
export function ruleHelp({ title, problem, pain, cure }: RuleText): string {
  return [`# ${title}`, problem, pain, '## What to do', cure].filter((part) => part !== '').join('\n\n');
}
