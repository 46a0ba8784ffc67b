import type { Node } from './effects.js';
import { alternatives, type Value } from './values.js';

type Scope = Extract<Node, { kind: 'scope' }>;

/** What an ambient transaction does where it is not the default, by the names that both libraries take from Spring: `NOT_SUPPORTED`, `NotSupported`. */
const propagations: Readonly<Record<string, 'joins' | 'none' | 'own'>> = { supports: 'joins', notsupported: 'none', never: 'none', requiresnew: 'own' };

/** What a decorator or a call that was given these arguments puts around its body: a transaction, nothing, or code that no transaction holds. */
export function ambientScope(scope: Scope, args: readonly Value[]): readonly Node[] {
  const told = args.flatMap(alternatives).flatMap((value) => (value.kind === 'object' ? alternatives(value.fields.get('propagation') ?? value) : [value]));
  const names = told.map((value) => (value.kind === 'string' ? value.value : value.kind === 'symbol' ? value.name : ''));
  const propagation = names.map((name) => propagations[name.slice(name.lastIndexOf('.') + 1).replaceAll('_', '').toLowerCase()]).find((found) => found !== undefined);
  switch (propagation) {
    case 'joins': return scope.body;
    case 'none': return [{ kind: 'outside', body: scope.body }];
    case 'own': return [{ ...scope, isOwn: true }];
    case undefined: return [scope];
  }
}
