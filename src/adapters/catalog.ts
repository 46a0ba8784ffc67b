import type { EffectMatcher, EntryMatcher, ExternalName, StackAdapter, SubscriberMatcher, TransactionMatcher, TypeShape, Yield } from './adapter.js';

type CallSubscriber = Extract<SubscriberMatcher, { by: 'call' }>;
type DecoratorSubscriber = Extract<SubscriberMatcher, { by: 'decorator' }>;

/** An effect of a library, and the library. */
export interface CatalogEffect {
  readonly matcher: EffectMatcher;
  readonly adapter: string;
}

/** All adapters, indexed by the names they match. Look-ups take a resolved name, never a variable's. */
export interface Catalog {
  /** The name a type is described under: older names and sub-types lead to one. */
  canonical(name: string): string;
  type(name: string): TypeShape | undefined;
  result(functionName: string): Yield | undefined;
  effect(type: string, member: string): CatalogEffect | undefined;
  transaction(type: string, member: string): TransactionMatcher | undefined;
  /** Whether a value of this type opens and ends transactions by calls of its own. */
  opensByCall(type: string): boolean;
  /** Matchers of functions exported by a module: `module:*` with the function as member. */
  decorator(name: string): Extract<TransactionMatcher, { style: 'decorator' }> | undefined;
  subscriberCall(type: string, member: string): CallSubscriber | undefined;
  subscriberDecorator(name: string): DecoratorSubscriber | undefined;
  entry(decorator: string): EntryMatcher | undefined;
  isInjector(decorator: string): boolean;
  isModule(decorator: string): boolean;
  injected(decorator: string): { readonly yields: ExternalName; readonly ambient: boolean } | undefined;
  ambientHandle(type: string, member: string): ExternalName | undefined;
  /** Whether no adapter knows anything of the package, or of its family. */
  isForeign(module: string): boolean;
  /** Whether what is known of the package is that it publishes: what comes out of it stores nothing. */
  isOnlyBus(module: string): boolean;
  /** Names of members that some adapter takes for a publish: what an unresolved receiver is checked against. */
  isPublishName(member: string): boolean;
}

/** Builds the index. */
export function buildCatalog(adapters: readonly StackAdapter[]): Catalog {
  const aliases = new Map<string, ExternalName>(adapters.flatMap((a) => Object.entries(a.aliases ?? {})));
  const types = new Map<string, TypeShape>(adapters.flatMap((a) => Object.entries(a.types ?? {})));
  const functions = new Map<string, Yield>(adapters.flatMap((a) => Object.entries(a.functions ?? {})));
  const effects = new Map<string, CatalogEffect>();
  const publishNames = new Set<string>();
  for (const { matcher, adapter } of adapters.flatMap((a) => (a.effects ?? []).map((matcher): CatalogEffect => ({ matcher, adapter: a.name })))) {
    for (const key of matcher.on.flatMap((on) => matcher.call.map((call) => `${on}.${call}`))) effects.set(key, { matcher, adapter });
    if (matcher.effect === 'publish') matcher.call.forEach((call) => publishNames.add(call));
  }
  const transactions = adapters.flatMap((a) => a.transactions ?? []);
  const byCall = new Map<string, TransactionMatcher>(transactions.flatMap((t) => membersOf(t).map((key) => [key, t] as const)));
  const runners = new Set<string>(transactions.flatMap((t) => (t.style === 'imperative' ? t.on : [])));
  const decorators = new Map(transactions.flatMap((t) => (t.style === 'decorator' ? [[t.decorator as string, t] as const] : [])));
  const subscribers = adapters.flatMap((a) => a.subscribers ?? []);
  const calls = new Map<string, CallSubscriber>(subscribers.flatMap((s) => (s.by === 'call' ? s.on.flatMap((on) => s.call.map((call) => [`${on}.${call}`, s] as const)) : [])));
  const decorated = new Map(subscribers.flatMap((s) => (s.by === 'decorator' ? [[s.decorator as string, s] as const] : [])));
  const entries = new Map(adapters.flatMap((a) => (a.entries ?? []).map((e) => [e.decorator as string, e] as const)));
  const injectors = new Set<string>(adapters.flatMap((a) => a.injectors ?? []));
  const modules = new Set<string>(adapters.flatMap((a) => a.modules ?? []));
  const injected = new Map(adapters.flatMap((a) => (a.injected ?? []).map((i) => [i.decorator as string, i] as const)));
  const handles = new Map<string, ExternalName>(adapters.flatMap((a) => (a.ambientHandles ?? []).map((h) => [`${h.on}.${h.member}`, h.yields] as const)));
  const modulesWith = (isOne: (matcher: CatalogEffect['matcher']) => boolean): ReadonlySet<string> => new Set([...effects].flatMap(([key, { matcher }]) => (isOne(matcher) ? [key.slice(0, key.lastIndexOf(':'))] : [])));
  const buses = modulesWith((matcher) => 'bus' in matcher);
  const stores = modulesWith((matcher) => !('bus' in matcher));
  const families = new Set(adapters.flatMap((a) => a.enablers.map(familyOf)));
  return {
    canonical: (name) => aliases.get(name) ?? name,
    type: (name) => types.get(name),
    result: (name) => functions.get(name),
    effect: (type, member) => effects.get(`${type}.${member}`),
    transaction: (type, member) => byCall.get(`${type}.${member}`),
    opensByCall: (type) => runners.has(type),
    decorator: (name) => decorators.get(name),
    subscriberCall: (type, member) => calls.get(`${type}.${member}`),
    subscriberDecorator: (name) => decorated.get(name),
    entry: (name) => entries.get(name),
    isInjector: (name) => injectors.has(name),
    isModule: (name) => modules.has(name),
    injected: (name) => injected.get(name),
    ambientHandle: (type, member) => handles.get(`${type}.${member}`),
    isForeign: (module) => !families.has(familyOf(module)),
    isOnlyBus: (module) => buses.has(module) && !stores.has(module),
    isPublishName: (member) => publishNames.has(member),
  };
}

/** `@nestjs/core` → `@nestjs`. */
function familyOf(module: string): string {
  return module.split('/')[0] as string;
}

function membersOf(matcher: TransactionMatcher): string[] {
  if (matcher.style === 'decorator') return [];
  const calls = matcher.style === 'imperative' ? [matcher.open, matcher.commit, matcher.rollback] : matcher.call;
  return matcher.on.flatMap((on) => calls.map((call) => `${on}.${call}`));
}
