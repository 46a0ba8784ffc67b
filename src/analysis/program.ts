import type { ClassFact, Expression, FileFacts, FunctionFact, InterfaceFact, TypeFact } from './facts.js';
import { packageName, type ModuleResolver } from './resolve-modules.js';

/** What a name stands for, across files. */
export type Symbol =
  | { readonly kind: 'class' | 'function'; readonly file: string; readonly id: number }
  | { readonly kind: 'interface' | 'alias' | 'enum' | 'variable'; readonly file: string; readonly name: string }
  | { readonly kind: 'namespace'; readonly file: string }
  /** `name` is `*` for the namespace of the package; dotted for a member of it. */
  | { readonly kind: 'external'; readonly module: string; readonly name: string };

/** What a variable is declared as. */
export interface Declaration {
  readonly type: TypeFact | null;
  readonly value: Expression | null;
}

export interface ClassRef {
  readonly file: string;
  readonly id: number;
}

/** All facts of a project, linked: names, imports, heritage. */
export class Program {
  private readonly exported = new Map<string, Symbol | null>();
  private readonly locals = new Map<string, Map<string, Symbol | null>>();
  private readonly subclassesOf = new Map<string, ClassRef[]>();
  private readonly classesByName = new Map<string, ClassRef[]>();

  constructor(readonly files: ReadonlyMap<string, FileFacts>, private readonly resolveModule: ModuleResolver) {
    for (const facts of files.values()) for (const cls of facts.classes) this.recordHeritage(facts.file, cls);
  }

  facts(file: string): FileFacts {
    const facts = this.files.get(file);
    if (facts === undefined) throw new Error(`no facts of ${file}`);
    return facts;
  }

  classFact(ref: ClassRef): ClassFact {
    return this.facts(ref.file).classes[ref.id] as ClassFact;
  }

  functionFact(file: string, id: number): FunctionFact {
    return this.facts(file).functions[id] as FunctionFact;
  }

  /** Every class of a name. */
  classesNamed(name: string): readonly ClassRef[] {
    return this.classesByName.get(name) ?? [];
  }

  interfaceFact(file: string, name: string): InterfaceFact | undefined {
    return this.facts(file).interfaces.find((candidate) => candidate.name === name);
  }

  /** What a dotted name means at the top level of a file; null for a global or an unknown name. */
  lookup(file: string, dotted: string): Symbol | null {
    if (!dotted.includes('.')) return this.local(file, dotted);
    const [head, ...rest] = dotted.split('.') as [string, ...string[]];
    let symbol = this.local(file, head);
    for (const part of rest) symbol = symbol === null ? null : this.member(symbol, part);
    return symbol;
  }

  /** A member of a namespace or of an external module; null when it is not one. */
  member(symbol: Symbol, name: string): Symbol | null {
    if (symbol.kind === 'namespace') return this.exportOf(symbol.file, name);
    if (symbol.kind !== 'external') return null;
    const isModule = symbol.name === '*' || symbol.name === 'default';
    return { kind: 'external', module: symbol.module, name: isModule ? name : `${symbol.name}.${name}` };
  }

  private local(file: string, name: string): Symbol | null {
    let names = this.locals.get(file);
    if (names === undefined) {
      names = new Map();
      this.locals.set(file, names);
    }
    let symbol = names.get(name);
    if (symbol === undefined) {
      symbol = this.findLocal(file, name);
      names.set(name, symbol);
    }
    return symbol;
  }

  private findLocal(file: string, name: string): Symbol | null {
    const facts = this.files.get(file);
    if (facts === undefined) return null;
    const declared = facts.declarations[name];
    if (declared !== undefined) return { kind: declared.kind, file, id: declared.id };
    const imported = facts.imports.find((candidate) => candidate.local === name);
    if (imported !== undefined) return this.imported(file, imported.module, imported.name);
    if (facts.interfaces.some((candidate) => candidate.name === name)) return { kind: 'interface', file, name };
    if (facts.aliases.some((candidate) => candidate.name === name)) return { kind: 'alias', file, name };
    if (facts.enums.some((candidate) => candidate.name === name)) return { kind: 'enum', file, name };
    const declaration = declarationOf(facts, name);
    if (declaration === null) return null;
    const { value } = declaration;
    return value?.kind === 'class' || value?.kind === 'function' ? { kind: value.kind, file, id: value.id } : { kind: 'variable', file, name };
  }

  private imported(from: string, specifier: string, name: string): Symbol | null {
    const file = this.resolveModule(specifier, from);
    if (file === null) return specifier.startsWith('.') ? null : { kind: 'external', module: packageName(specifier), name };
    if (!this.files.has(file)) return null;
    if (name === '*') return this.exportOf(file, '*default') ?? { kind: 'namespace', file };
    return this.exportOf(file, name) ?? (name === 'default' ? this.exportOf(file, '*default') : null);
  }

  /** What a file exports under a name, through re-exports. */
  exportOf(file: string, name: string): Symbol | null {
    const key = `${file}\0${name}`;
    const known = this.exported.get(key);
    if (known !== undefined) return known;
    this.exported.set(key, null); // a cycle of re-exports ends here
    const found = this.findExport(file, name);
    this.exported.set(key, found);
    return found;
  }

  private findExport(file: string, name: string): Symbol | null {
    const facts = this.files.get(file);
    if (facts === undefined) return null;
    for (const entry of facts.exports) {
      if (entry.name !== name || entry.name === '*') continue;
      const found = entry.module === null ? this.local(file, entry.local) : this.imported(file, entry.module, entry.local);
      if (found !== null) return found;
    }
    for (const entry of facts.exports) {
      if (entry.name !== '*' || entry.module === null || name === 'default' || name === '*default') continue;
      const found = this.imported(file, entry.module, name);
      // `export * from 'typeorm'` passes on whatever is asked for.
      if (found !== null) return found;
    }
    return null;
  }

  /** Project class or interface a heritage clause names. */
  heritage(file: string, type: TypeFact): Symbol | null {
    return type.kind === 'reference' ? this.lookup(file, type.name) : null;
  }

  /** Symbol of the base class of a class; null when there is none or it can't be told. */
  baseOf(ref: ClassRef): Symbol | null {
    const { base } = this.classFact(ref);
    return base === null ? null : this.classBehind(ref.file, base);
  }

  /** What a heritage clause names: a class, or what a function of the project returns as one, `extends Crud(Order)`. */
  private classBehind(file: string, base: Expression): Symbol | null {
    const name = dotted(base.kind === 'call' ? base.callee : base);
    const symbol = name === null ? null : this.lookup(file, name);
    if (base.kind !== 'call') return symbol;
    if (symbol?.kind !== 'function') return null;
    const result = this.functionFact(symbol.file, symbol.id).body.find((step) => step.kind === 'return')?.value;
    if (result?.kind === 'class') return { kind: 'class', file: symbol.file, id: result.id };
    return result?.kind === 'name' ? this.lookup(symbol.file, result.name) : null;
  }

  /** What `require` or `import()` gives; null for a file that is not there. */
  moduleOf(file: string, specifier: string): Symbol | null {
    return this.imported(file, specifier, '*');
  }

  private recordHeritage(file: string, cls: ClassFact): void {
    if (cls.name !== null) this.classesByName.set(cls.name, [...this.classesNamed(cls.name), { file, id: cls.id }]);
    const above = [...cls.interfaces.map((type) => this.lookup(file, type.name)), cls.base === null ? null : this.classBehind(file, cls.base)];
    for (const symbol of above) {
      if (symbol === null || symbol.kind === 'external') continue;
      const key = symbolKey(symbol);
      const list = this.subclassesOf.get(key) ?? [];
      list.push({ file, id: cls.id });
      this.subclassesOf.set(key, list);
    }
    // An interface that extends another passes its implementations up.
    for (const type of cls.interfaces) this.recordInterfaceBases(file, type, { file, id: cls.id }, 0);
  }

  private recordInterfaceBases(file: string, type: TypeFact, ref: ClassRef, depth: number): void {
    const symbol = this.heritage(file, type);
    if (symbol?.kind !== 'interface' || depth > 10) return;
    for (const base of this.interfaceFact(symbol.file, symbol.name)?.bases ?? []) {
      const parent = this.heritage(symbol.file, base);
      if (parent === null || parent.kind === 'external') continue;
      const list = this.subclassesOf.get(symbolKey(parent)) ?? [];
      list.push(ref);
      this.subclassesOf.set(symbolKey(parent), list);
      this.recordInterfaceBases(symbol.file, base, ref, depth + 1);
    }
  }

  /** Concrete classes that implement or extend a class or interface, at any depth; a concrete class itself comes first. */
  concreteClasses(symbol: Symbol): readonly ClassRef[] {
    const result: ClassRef[] = [];
    const seen = new Set<string>();
    const visit = (current: Symbol): void => {
      const key = symbolKey(current);
      if (seen.has(key)) return;
      seen.add(key);
      if (current.kind === 'class' && !this.classFact(current).isAbstract) result.push(current);
      for (const sub of this.subclassesOf.get(key) ?? []) visit({ kind: 'class', ...sub });
    };
    visit(symbol);
    return result;
  }
}

/** The declaration of a variable at the top of a module; of `exports.a` also as a property of `module.exports = { a: … }`. */
export function declarationOf(facts: FileFacts, name: string): Declaration | null {
  for (const step of facts.top) {
    if (step.kind === 'declare' && step.binding.kind === 'name' && step.binding.name === name) return step;
  }
  const dot = name.indexOf('.');
  const whole = dot < 0 ? null : declarationOf(facts, name.slice(0, dot));
  if (whole?.value?.kind !== 'object') return null;
  const property = whole.value.properties.find((candidate) => candidate.name === name.slice(dot + 1));
  return property === undefined ? null : { type: null, value: property.value };
}

/** A key that is equal for equal symbols. */
export function symbolKey(symbol: Symbol): string {
  if (symbol.kind === 'external') return `${symbol.module}:${symbol.name}`;
  if (symbol.kind === 'namespace') return `${symbol.file}#*`;
  return 'id' in symbol ? `${symbol.file}#${symbol.kind}${symbol.id}` : `${symbol.file}#${symbol.name}`;
}

/** `a.b.c` of a chain of member accesses; null for anything else. */
export function dotted(expression: { readonly kind: string }): string | null {
  const e = expression as { kind: string; name?: string; object?: { readonly kind: string } };
  if (e.kind === 'name') return e.name ?? null;
  if (e.kind !== 'member' || e.object === undefined) return null;
  const left = dotted(e.object);
  return left === null ? null : `${left}.${e.name ?? ''}`;
}
