import { externalBase } from './members.js';
import type { Frame, Machine } from './machine.js';
import type { ClassRef } from './program.js';
import { instanceOf } from './typing.js';
import { UNKNOWN, type ExternalValue, type Value } from './values.js';

/** An entity that a receiver is for, when its class saves itself (active record); other entities are data, and unknown. */
export function entityValue(machine: Machine, frame: Frame, receiver: ExternalValue, argument: Value | undefined): Value {
  const ref = receiver.entity ?? (argument?.kind === 'class' ? argument.ref : receiver.target === null ? null : nearestClass(machine, frame.file, receiver.target));
  if (ref === null || externalBase(machine, ref)?.entity === undefined) return UNKNOWN;
  return instanceOf(ref);
}

/** The class of a name whose file lies nearest; services of a repository may each have their own. */
function nearestClass(machine: Machine, file: string, name: string): ClassRef | null {
  const folders = (other: string): number => {
    const [a, b] = [file.split('/'), other.split('/')];
    return a.findIndex((part, index) => part !== b[index]);
  };
  const [best] = machine.program.classesNamed(name).toSorted((a, b) => folders(b.file) - folders(a.file));
  return best ?? null;
}
