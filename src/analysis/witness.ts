import type { Handler, WitnessStep } from '../core/finding.js';
import type { Span } from '../core/place.js';
import type { CallNode } from './effects.js';
import type { Pair } from './walk.js';

/** What the witness needs of the source. */
export interface Source {
  /** Text of a span, on one line and not too long. */
  readonly textOf: (span: Span) => string;
}

type TextOf = Source['textOf'];

type Draft = Omit<WitnessStep, 'step'>;

/** The proof of a finding: from the handler to the write, its commit, the crash point and the publish, in the order in which they run. */
export function witnessOf(handler: Handler, pair: Pair, depth: number, { textOf }: Source): WitnessStep[] {
  const entry: Draft = { file: handler.file, line: handler.line, role: 'entry', text: handler.entry === 'unknown' ? handler.name : `${handler.name} (${handler.entry})` };
  const write = [...calls(pair.write.stack.slice(depth), textOf), writeStep(pair, textOf)];
  const publish = [...calls(pair.publish.stack.slice(depth), textOf), publishStep(pair, textOf)];
  const destination = pair.publish.effect.destination ?? 'the event';
  const last = publish.at(-1) as Draft;
  const steps: Draft[] = pair.order === 'committed'
    ? [entry, ...write, commitStep(pair, textOf), crash(last, `a crash here loses ${destination}: it is committed and nobody is told`), ...publish]
    : pair.order === 'after'
      ? [entry, ...publish, crash(last, `a crash or an error here leaves ${destination} announced and nothing written`), ...write]
      : [entry, ...write, ...publish, crash(last, `a rollback after this leaves ${destination} announced and nothing written`)];
  return steps.map((step, index) => ({ step: index + 1, ...step }));
}

function calls(stack: readonly CallNode[], textOf: TextOf): Draft[] {
  return stack.map((call) => ({ file: call.span.file, line: call.line, role: 'call', text: `calls ${call.callee.name}: ${textOf(call.span)}` }));
}

function writeStep({ write, order }: Pair, textOf: TextOf): Draft {
  const { effect } = write;
  const how = order === 'pending' ? 'written, not committed yet' : order === 'started' ? 'write started, nobody waits for it' : 'written';
  return { file: effect.span.file, line: effect.line, role: 'write', text: `${how}: ${textOf(effect.span)}` };
}

function commitStep({ write, commit }: Pair, textOf: TextOf): Draft {
  const { effect } = write;
  if (commit === null) return { file: effect.span.file, line: effect.line, role: 'commit', text: effect.isHandedIn ? 'committed at once, unless the caller has a transaction open' : 'committed at once: no transaction is open' };
  return { file: commit.span.file, line: commit.line, role: 'commit', text: commit.isEnd ? `committed at the end of ${textOf(commit.span)}` : `committed: ${textOf(commit.span)}` };
}

function crash(publish: Draft, text: string): Draft {
  return { file: publish.file, line: publish.line, role: 'crash', text };
}

function publishStep({ publish }: Pair, textOf: TextOf): Draft {
  const { effect } = publish;
  return { file: effect.span.file, line: effect.line, role: 'publish', text: `published: ${textOf(effect.span)}` };
}
