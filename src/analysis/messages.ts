import type { MessageExpression } from '../core/finding.js';
import type { CallFact, Expression, Step } from './facts.js';
import { variableValue } from './injection.js';
import { spanOf } from './machine.js';
import { dotted, type Program } from './program.js';
import type { Scope, Value } from './values.js';
import { stepsBelow, visitExpression } from './walk-expressions.js';

/** The expression that becomes the message, without what turns it into text or bytes: `Buffer.from(JSON.stringify(x))` → `x`. */
export function messageExpression(file: string, scope: Scope, e: Expression): MessageExpression {
  const unwrapped = unwrap(scope, e, 0);
  return { span: spanOf(file, unwrapped.expression), encoding: unwrapped.encoding };
}

function unwrap(scope: Scope, e: Expression, depth: number): { expression: Expression; encoding: MessageExpression['encoding'] } {
  if (e.kind === 'call' && depth < 6) {
    const name = dotted(e.callee);
    const [first] = e.args;
    if (first !== undefined && name === 'JSON.stringify') return { expression: unwrapName(scope, first, depth), encoding: 'json-string' };
    if (first !== undefined && (name === 'Buffer.from' || name === 'encodeURIComponent')) {
      const inner = unwrap(scope, first, depth + 1);
      if (inner.encoding !== 'plain') return { ...inner, encoding: 'json-buffer' };
    }
  }
  if (e.kind === 'name' && depth < 6) {
    const definition = definitionOf(scope, e.name);
    const inner = definition === null ? null : unwrap(scope, definition, depth + 1);
    if (inner !== null && inner.encoding !== 'plain') return inner;
  }
  return { expression: e.kind === 'await' || e.kind === 'cast' ? e.of : e, encoding: 'plain' };
}

function unwrapName(scope: Scope, e: Expression, depth: number): Expression {
  return e.kind === 'cast' ? unwrap(scope, e.of, depth + 1).expression : e;
}

/** What a name in scope was declared as; null when it was not, or is a parameter. */
export function definitionOf(scope: Scope, name: string): Expression | null {
  for (let current: Scope | null = scope; current !== null; current = current.parent) {
    const found = current.definitions.get(name);
    if (found !== undefined) return found;
    if (current.names.has(name)) return null;
  }
  return null;
}

/** The parameter of the enclosing function that an expression is made from; null when it is none, or several. */
export function parameterBehind(scope: Scope, e: Expression, depth = 0): number | null {
  const found = new Set<number>();
  visitExpression(e, (part) => {
    if (part.kind !== 'name') return;
    const index = parameterOfName(scope, part.name, depth);
    if (index !== null) found.add(index);
  });
  const [only] = found;
  return found.size === 1 ? (only ?? null) : null;
}

/**
 * The parameter of the enclosing function that an expression passes on unchanged, or merely turned into text or bytes; null when it
 * is anything else. What is picked out of a parameter, or built from it, is not the parameter.
 */
export function passedParameter(program: Program, file: string, scope: Scope, e: Expression, depth = 0): number | null {
  if (depth > 6) return null;
  if (e.kind === 'cast' || e.kind === 'await') return passedParameter(program, file, scope, e.of, depth + 1);
  if (e.kind === 'call') {
    const [first] = e.args;
    return first !== undefined && isEncoder(program, file, e, depth) ? passedParameter(program, file, scope, first, depth + 1) : null;
  }
  if (e.kind !== 'name') return null;
  for (let current: Scope | null = scope; current !== null; current = current.parent) {
    if (current.parameters.has(e.name)) return current.isBoundary ? (current.parameters.get(e.name) ?? null) : null;
    const definition = current.definitions.get(e.name);
    if (definition !== undefined) return passedParameter(program, file, current, definition, depth + 1);
    if (current.isBoundary) return null;
  }
  return null;
}

/** `JSON.stringify`, `Buffer.from`, or a function of the project that only passes its first parameter to such. */
function isEncoder(program: Program, file: string, call: CallFact, depth: number): boolean {
  const name = dotted(call.callee);
  if (name === 'JSON.stringify' || name === 'Buffer.from') return true;
  const fn = name === null || depth > 4 ? null : functionNamed(program, file, name);
  if (fn === null) return false;
  const fact = program.functionFact(fn.file, fn.id);
  const scope: Scope = {
    parent: null, names: new Map(), definitions: new Map(), isBoundary: true,
    parameters: new Map(fact.parameters.flatMap((p, index) => (p.binding.kind === 'name' ? [[p.binding.name, index] as const] : []))),
  };
  const returned = returnedBy(fact.body, scope);
  return returned.length > 0 && returned.every((value) => value !== null && passedParameter(program, fn.file, scope, value, depth + 1) === 0);
}

/** A function declared under a name, or held by a constant of that name. */
function functionNamed(program: Program, file: string, name: string): { file: string; id: number } | null {
  const symbol = program.lookup(file, name);
  if (symbol?.kind === 'function') return symbol;
  const value = symbol?.kind === 'variable' ? variableValue(program, symbol.file, symbol.name) : null;
  return symbol?.kind === 'variable' && value?.kind === 'function' ? { file: symbol.file, id: value.id } : null;
}

/** Everything that some path returns; what is declared on the way is put into the scope. */
function returnedBy(steps: readonly Step[], scope: Scope): (Expression | null)[] {
  return steps.flatMap((step) => {
    if (step.kind === 'declare' && step.binding.kind === 'name' && step.value !== null) scope.definitions.set(step.binding.name, step.value);
    return step.kind === 'return' ? [step.value] : returnedBy(stepsBelow(step), scope);
  });
}

function parameterOfName(scope: Scope, name: string, depth: number): number | null {
  for (let current: Scope | null = scope; current !== null; current = current.parent) {
    if (current.parameters.has(name)) return current.isBoundary ? (current.parameters.get(name) ?? null) : null;
    const definition = current.definitions.get(name);
    if (definition !== undefined && depth < 6) return parameterBehind(current, definition, depth + 1);
    if (current.isBoundary) return null;
  }
  return null;
}

/** Value of the parameter behind a message expression. */
export function parameterValue(scope: Scope, index: number | null): Value | null {
  if (index === null) return null;
  for (let current: Scope | null = scope; current !== null; current = current.parent) {
    if (!current.isBoundary) continue;
    for (const [name, at] of current.parameters) if (at === index) return current.names.get(name) ?? null;
    return null;
  }
  return null;
}
