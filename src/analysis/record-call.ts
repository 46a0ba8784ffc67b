import type { FunctionRef, Receiver, ResolvedCall } from '../core/finding.js';
import { hasKind, type Kinds } from './effects.js';
import type { CallFact } from './facts.js';
import { spanOf, type Frame, type Machine } from './machine.js';
import type { Value } from './values.js';

type Callee = ResolvedCall['callee'];

/** What one alternative of a call turned out to be, and to yield. */
export interface Outcome {
  readonly value: Value;
  readonly callee: Callee;
  readonly receiver: Receiver | null;
}

/** Keeps what is known of a call for the codemods; what other runs of it did is added up. */
export function recordCall(machine: Machine, frame: Frame, fact: CallFact, { outcomes, kinds }: { outcomes: readonly Outcome[]; kinds: Kinds }): void {
  const previous = machine.calls.get(fact);
  const effects = addEffects(previous?.effects, kinds, frame.reads);
  const callee = calleeOf(outcomes, previous?.callee);
  if (previous !== undefined && previous.callee === callee && previous.effects === effects) return;
  machine.calls.set(fact, { span: spanOf(frame.file, fact), awaited: fact.awaited, callee, receiver: outcomes[0]?.receiver ?? previous?.receiver ?? null, effects });
}

function addEffects(before: ResolvedCall['effects'] | undefined, kinds: Kinds, reads: boolean): ResolvedCall['effects'] {
  const write = hasKind(kinds, 'write') || before?.write === true;
  const read = reads || before?.read === true;
  const publish = hasKind(kinds, 'publish') || before?.publish === true;
  const store = hasKind(kinds, 'store') || before?.store === true;
  const transaction = hasKind(kinds, 'transaction') || before?.transaction === true;
  const isSame = before !== undefined && before.write === write && before.read === read && before.publish === publish && before.store === store && before.transaction === transaction;
  return isSame ? before : { write, read, publish, store, transaction };
}

/** The callee, joined with that of other runs: functions of the project are collected, and win over what is not known. */
function calleeOf(outcomes: readonly Outcome[], before: Callee | undefined): Callee {
  const functions = outcomes.flatMap(({ callee }) => (callee.kind === 'project' ? callee.functions : []));
  if (before?.kind === 'project') {
    const more = functions.filter((fn) => !before.functions.includes(fn));
    return more.length === 0 ? before : { kind: 'project', functions: unique([...before.functions, ...more]) };
  }
  if (functions.length > 0) return { kind: 'project', functions: unique(functions) };
  const first = outcomes[0]?.callee ?? { kind: 'unknown', text: '' };
  return before !== undefined && first.kind !== 'external' ? before : first;
}

function unique(functions: readonly FunctionRef[]): FunctionRef[] {
  return [...new Set(functions)];
}
