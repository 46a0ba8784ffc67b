import type { DecoratorFact, Expression, TypeFact } from './facts.js';
import { homeOf, type Machine, type Provider } from './machine.js';
import { declarationOf, dotted, symbolKey, type Program } from './program.js';
import { runFunction } from './run.js';
import { instancesOf, typeValue } from './typing.js';
import { alternatives, externalOf, union, UNKNOWN, type Value } from './values.js';
import { visitFile } from './walk-expressions.js';

const USES = [['useClass', 'class'], ['useExisting', 'existing'], ['useFactory', 'factory'], ['useValue', 'value']] as const;

/** Every `{ provide, useClass | useExisting | useFactory | useValue }` of the project, by token. */
export function collectProviders(program: Program): Map<string, Provider[]> {
  const providers = new Map<string, Provider[]>();
  for (const facts of program.files.values()) {
    visitFile(facts, (expression) => {
      if (expression.kind !== 'object') return;
      const property = (name: string): Expression | undefined => expression.properties.find((p) => p.name === name)?.value;
      const provide = property('provide');
      const token = provide === undefined ? null : tokenKey(program, facts.file, provide);
      if (token === null) return;
      for (const [name, use] of USES) {
        const value = property(name);
        if (value !== undefined) providers.set(token, [...(providers.get(token) ?? []), { file: facts.file, use, expression: value }]);
      }
    });
  }
  return providers;
}

/** Key of an injection token: its text, or the symbol it names. Null when it can't be told. */
export function tokenKey(program: Program, file: string, expression: Expression): string | null {
  const text = constantText(program, file, expression);
  if (text !== null) return `"${text}`;
  const name = dotted(expression);
  const symbol = name === null ? null : program.lookup(file, name);
  return symbol === null ? null : symbolKey(symbol);
}

/** Text of a string, a constant or an enum member; null for anything else. */
export function constantText(program: Program, file: string, expression: Expression, depth = 0): string | null {
  if (expression.kind === 'string') return expression.value;
  if (expression.kind === 'cast') return constantText(program, file, expression.of, depth);
  if (depth > 8) return null;
  if (expression.kind === 'name') {
    const symbol = program.lookup(file, expression.name);
    const value = symbol?.kind === 'variable' ? variableValue(program, symbol.file, symbol.name) : null;
    return value === null || symbol?.kind !== 'variable' ? null : constantText(program, symbol.file, value, depth + 1);
  }
  return expression.kind === 'member' ? memberText(program, file, expression, depth) : null;
}

function memberText(program: Program, file: string, expression: Extract<Expression, { kind: 'member' }>, depth: number): string | null {
  const name = dotted(expression.object);
  const symbol = name === null ? null : program.lookup(file, name);
  if (symbol?.kind === 'enum') {
    return program.facts(symbol.file).enums.find((e) => e.name === symbol.name)?.members.find((m) => m.name === expression.name)?.value ?? null;
  }
  if (symbol?.kind === 'class') {
    const field = program.classFact(symbol).fields.find((f) => f.isStatic && f.name === expression.name);
    return field?.value == null ? null : constantText(program, symbol.file, field.value, depth + 1);
  }
  const object = symbol?.kind === 'variable' ? variableValue(program, symbol.file, symbol.name) : null;
  const literal = object?.kind === 'cast' ? object.of : object;
  if (literal?.kind !== 'object' || symbol?.kind !== 'variable') return null;
  const value = literal.properties.find((p) => p.name === expression.name)?.value;
  return value === undefined ? null : constantText(program, symbol.file, value, depth + 1);
}

/** What a `const` at the top of a module is declared as. */
export function variableValue(program: Program, file: string, name: string): Expression | null {
  return declarationOf(program.facts(file), name)?.value ?? null;
}

/** What the container puts into a parameter or field. */
export function injectedValue(machine: Machine, file: string, type: TypeFact | null, decorators: readonly DecoratorFact[], evaluate: (file: string, expression: Expression) => Value): Value {
  let token: Expression | null = null;
  for (const decorator of decorators) {
    const symbol = machine.program.lookup(file, decorator.name);
    if (symbol?.kind !== 'external') continue;
    const name = symbolKey(symbol);
    const given = machine.catalog.injected(name);
    if (given !== undefined) return externalOf(given.yields, given.ambient ? { transaction: { kind: 'ambient' } } : {});
    if (machine.catalog.isInjector(name)) token = decorator.args[0] ?? null;
  }
  const declared = typeValue(machine, file, type);
  const key = token === null ? classToken(machine, file, type) : tokenKey(machine.program, file, token);
  const bound = key === null ? UNKNOWN : boundValue(machine, file, key, evaluate, 0);
  if (bound.kind !== 'unknown' && !alternatives(declared).some((value) => value.kind === 'external')) return bound;
  const text = token === null ? null : (constantText(machine.program, file, token) ?? dotted(token));
  const withToken = alternatives(declared).map((value): Value => (value.kind === 'external' ? { ...value, token: text } : value));
  const result = union(...withToken);
  return result.kind === 'unknown' ? bound : result;
}

function classToken(machine: Machine, file: string, type: TypeFact | null): string | null {
  const symbol = type?.kind === 'reference' ? machine.program.lookup(file, type.name) : null;
  return symbol?.kind === 'class' ? symbolKey(symbol) : null;
}

/** What the providers of a token yield. Of several, those nearest to the injecting file count: services of a monorepo share token names. */
function boundValue(machine: Machine, file: string, key: string, evaluate: (file: string, expression: Expression) => Value, depth: number): Value {
  const all = machine.providers.get(key) ?? [];
  const nearest = Math.max(...all.map((provider) => commonFolders(provider.file, file)));
  const chosen = all.filter((provider) => commonFolders(provider.file, file) === nearest);
  return union(...chosen.map((provider): Value => {
    if (provider.use === 'value') return evaluate(provider.file, provider.expression);
    if (provider.use === 'factory') return factoryValue(machine, provider, evaluate);
    if (provider.use === 'existing') {
      const target = tokenKey(machine.program, provider.file, provider.expression);
      if (target !== null && depth < 4 && machine.providers.has(target)) return boundValue(machine, provider.file, target, evaluate, depth + 1);
    }
    const name = dotted(provider.expression);
    const symbol = name === null ? null : machine.program.lookup(provider.file, name);
    return symbol === null ? UNKNOWN : instancesOf(machine, symbol);
  }));
}

function factoryValue(machine: Machine, provider: Provider, evaluate: (file: string, expression: Expression) => Value): Value {
  const value = evaluate(provider.file, provider.expression);
  if (value.kind !== 'function') return UNKNOWN;
  const fact = machine.program.functionFact(value.file, value.id);
  if (fact.returns !== null) return typeValue(machine, value.file, fact.returns);
  return runFunction(machine, { value, args: [], home: homeOf(machine, value.file, fact), isEntry: true }).value;
}

function commonFolders(a: string, b: string): number {
  const left = a.split('/');
  const right = b.split('/');
  let count = 0;
  while (count < left.length && left[count] === right[count]) count += 1;
  return count;
}
