import type { FileFacts, FunctionFact } from './facts.js';
import { visitSteps } from './walk-expressions.js';

const known = new WeakMap<FileFacts, ReadonlyMap<string, readonly FunctionFact[]>>();

/** Functions of a file that assign to a variable of the module (`name`) or to a field (`this.name`), closures counted to the function around them. */
export function assignersOf(facts: FileFacts, target: string): readonly FunctionFact[] {
  let index = known.get(facts);
  if (index === undefined) {
    index = indexOf(facts);
    known.set(facts, index);
  }
  return index.get(target) ?? [];
}

function indexOf(facts: FileFacts): Map<string, FunctionFact[]> {
  const index = new Map<string, FunctionFact[]>();
  for (const fact of facts.functions) {
    visitSteps(fact.body, (expression) => {
      if (expression.kind !== 'assign') return;
      const { target } = expression;
      const key = target.kind === 'name' ? target.name : target.kind === 'member' && target.object.kind === 'this' ? `this.${target.name}` : null;
      if (key === null) return;
      const home = homeFact(facts, fact);
      const list = index.get(key) ?? [];
      if (!list.includes(home)) index.set(key, [...list, home]);
    });
  }
  return index;
}

function homeFact(facts: FileFacts, fact: FunctionFact): FunctionFact {
  let current = fact;
  while (current.parent !== null && current.classId === null) current = facts.functions[current.parent] as FunctionFact;
  return current;
}
