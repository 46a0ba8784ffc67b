import type { Call } from './calls.js';
import { configured, eventOf } from './external-calls.js';
import { spanOf, type Frame, type Machine, type SpecialFunction } from './machine.js';
import { NO_TRANSACTION, UNKNOWN, type Value } from './values.js';

/** Calls a function of the generated outbox code, or a wrapper that the configuration names. */
export function callSpecial(machine: Machine, frame: Frame, special: SpecialFunction, call: Call): Value {
  const at = { span: spanOf(frame.file, call.fact), line: call.fact.line, awaited: call.fact.awaited };
  const [first, second, third] = call.args;
  switch (special.kind) {
    case 'event': return { kind: 'event', id: `${at.span.file}:${at.span.start}`, of: first ?? UNKNOWN };
    case 'guard':
      frame.nodes.push({ kind: 'guard', ...at });
      return UNKNOWN;
    case 'store': {
      const type = third?.kind === 'object' ? third.fields.get('type') : undefined;
      frame.nodes.push({
        kind: 'store', ...at, event: eventOf(second ?? UNKNOWN), type: type?.kind === 'string' ? type.value : null,
        transaction: first?.kind === 'external' ? first.transaction : NO_TRANSACTION,
      });
      return UNKNOWN;
    }
    case 'publish':
      configured.publish(machine, frame, special.transport, special.name, call);
      return UNKNOWN;
    case 'write':
      configured.write(frame, special.name, call);
      return UNKNOWN;
  }
}
