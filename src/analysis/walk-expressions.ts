import type { Expression, FileFacts, Step } from './facts.js';

/** The expressions directly inside an expression. */
export function partsOf(e: Expression): readonly Expression[] {
  switch (e.kind) {
    case 'member': return [e.object];
    case 'index': return [e.object, e.index];
    case 'call': case 'new': return [e.callee, ...e.args];
    case 'template': case 'other': return e.parts;
    case 'object': return e.properties.map((property) => property.value);
    case 'array': return e.items;
    case 'await': case 'spread': case 'cast': return [e.of];
    case 'choice': return [e.first, ...e.arms];
    case 'assign': return [e.target, e.value];
    default: return [];
  }
}

/** The expressions directly inside a step, and the steps below it. */
function stepParts(step: Step): { expressions: readonly (Expression | null)[]; steps: readonly Step[] } {
  switch (step.kind) {
    case 'expression': return { expressions: [step.expression], steps: [] };
    case 'declare': case 'return': case 'throw': return { expressions: [step.value], steps: [] };
    case 'if': return { expressions: [step.test], steps: [...step.then, ...step.otherwise] };
    case 'switch': return { expressions: [step.subject], steps: step.cases.flat() };
    case 'loop': return { expressions: [step.over, ...step.head], steps: step.body };
    case 'try': return { expressions: [], steps: [...step.block, ...(step.handler ?? []), ...(step.finalizer ?? [])] };
    case 'block': return { expressions: [], steps: step.body };
    case 'jump': return { expressions: [], steps: [] };
  }
}

/** The steps directly below a step. */
export function stepsBelow(step: Step): readonly Step[] {
  return stepParts(step).steps;
}

/** Calls `visit` for every expression below the steps; functions inside are visited with their own bodies, not here. */
export function visitSteps(steps: readonly Step[], visit: (expression: Expression) => void): void {
  const pending = [...steps];
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    const parts = stepParts(step);
    for (const expression of parts.expressions) if (expression !== null) visitExpression(expression, visit);
    pending.push(...parts.steps);
  }
}

export function visitExpression(root: Expression, visit: (expression: Expression) => void): void {
  const pending = [root];
  for (let expression = pending.pop(); expression !== undefined; expression = pending.pop()) {
    visit(expression);
    pending.push(...partsOf(expression));
  }
}

/** Calls `visit` for every expression of a file. */
export function visitFile(facts: FileFacts, visit: (expression: Expression) => void): void {
  visitSteps(facts.top, visit);
  for (const fn of facts.functions) visitSteps(fn.body, visit);
  for (const cls of facts.classes) {
    for (const decorator of cls.decorators) for (const arg of decorator.args) visitExpression(arg, visit);
    for (const field of cls.fields) if (field.value !== null) visitExpression(field.value, visit);
  }
}
