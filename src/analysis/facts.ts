/**
 * Facts: what one file says, without looking at any other. Plain data, so that they can be cached by content and made by any
 * front end (TypeScript, PHP). Offsets are UTF-16 code units.
 */

/** A declared type, as written. `name` is dotted (`amqp.Channel`); arguments are kept, everything else is flattened. */
export interface TypeFact {
  readonly kind: 'reference' | 'union' | 'array' | 'object' | 'typeof' | 'other';
  readonly name: string;
  readonly args: readonly TypeFact[];
  /** Members of an object type literal. */
  readonly members?: readonly MemberFact[];
}

export interface Range {
  readonly start: number;
  readonly end: number;
}

export type Expression =
  | (Range & { readonly kind: 'name'; readonly name: string })
  | (Range & { readonly kind: 'this' | 'super' })
  | (Range & { readonly kind: 'member'; readonly object: Expression; readonly name: string })
  | (Range & { readonly kind: 'index'; readonly object: Expression; readonly index: Expression })
  | CallFact
  | (Range & { readonly kind: 'new'; readonly callee: Expression; readonly args: readonly Expression[]; readonly line: number })
  | (Range & { readonly kind: 'string'; readonly value: string })
  /** A template or a concatenation: literal pieces and holes in order; in the text a hole is `${}`. */
  | (Range & { readonly kind: 'template'; readonly text: string; readonly parts: readonly Expression[] })
  | (Range & { readonly kind: 'object'; readonly properties: readonly PropertyFact[] })
  | (Range & { readonly kind: 'array'; readonly items: readonly Expression[] })
  | (Range & { readonly kind: 'function'; readonly id: number })
  | (Range & { readonly kind: 'class'; readonly id: number })
  | (Range & { readonly kind: 'await' | 'spread'; readonly of: Expression })
  /** `a ? b : c`, `a && b`, `a || b`, `a ?? b`: `first` always runs, then at most one arm. */
  | (Range & { readonly kind: 'choice'; readonly first: Expression; readonly arms: readonly Expression[]; readonly yieldsFirst: boolean })
  | (Range & { readonly kind: 'assign'; readonly target: Expression; readonly value: Expression })
  | (Range & { readonly kind: 'cast'; readonly of: Expression; readonly type: TypeFact })
  /** Anything else: its parts run in order. `operator` is that of a unary or binary expression. */
  | (Range & { readonly kind: 'other'; readonly parts: readonly Expression[]; readonly operator?: string })
  | (Range & { readonly kind: 'number'; readonly value: number });

export interface CallFact extends Range {
  readonly kind: 'call';
  readonly callee: Expression;
  readonly args: readonly Expression[];
  readonly typeArgs: readonly TypeFact[];
  readonly line: number;
  /** The caller waits for it: await, return, a chained `.then`, an awaited `Promise.all`, a promise kept in a variable. */
  readonly awaited: boolean;
  /** It stands under an `await` or a `return`, so it is a promise most likely. */
  readonly waited: boolean;
  /** Nobody looks at the result. */
  readonly discarded: boolean;
  /** What a variable is declared as that keeps the promise and is waited for later on: `const saving = …;`, `await saving;`. */
  readonly kept: Range | null;
  /** A tagged template: `args` are its template and holes. */
  readonly tagged: boolean;
}

export interface PropertyFact {
  /** Null for a spread. */
  readonly name: string | null;
  readonly value: Expression;
}

/** What a declaration binds: a name, or a pattern. */
export type BindingFact =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'object'; readonly properties: readonly { readonly key: string | null; readonly binding: BindingFact }[] }
  | { readonly kind: 'array'; readonly items: readonly (BindingFact | null)[] };

export type Step =
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'declare'; readonly binding: BindingFact; readonly type: TypeFact | null; readonly value: Expression | null }
  | { readonly kind: 'if'; readonly test: Expression; readonly then: readonly Step[]; readonly otherwise: readonly Step[] }
  | { readonly kind: 'switch'; readonly subject: Expression; readonly cases: readonly (readonly Step[])[]; readonly hasDefault: boolean }
  | { readonly kind: 'loop'; readonly binding: BindingFact | null; readonly over: Expression | null; readonly head: readonly Expression[]; readonly body: readonly Step[] }
  | { readonly kind: 'try'; readonly block: readonly Step[]; readonly handler: readonly Step[] | null; readonly finalizer: readonly Step[] | null }
  | { readonly kind: 'return'; readonly value: Expression | null }
  | { readonly kind: 'throw'; readonly value: Expression | null }
  | { readonly kind: 'jump'; readonly by: 'break' | 'continue' }
  | { readonly kind: 'block'; readonly body: readonly Step[] };

export interface DecoratorFact {
  /** Dotted name as written. */
  readonly name: string;
  readonly args: readonly Expression[];
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

export interface ParameterFact {
  readonly binding: BindingFact;
  readonly type: TypeFact | null;
  readonly defaultValue: Expression | null;
  readonly rest: boolean;
  readonly decorators: readonly DecoratorFact[];
  /** `private readonly x: X` in a constructor: also a field. */
  readonly isField: boolean;
}

export interface FunctionFact extends Range {
  readonly id: number;
  /** Own name; null for an anonymous one. */
  readonly name: string | null;
  /** Index of its class in the file, for methods. */
  readonly classId: number | null;
  /** Id of the function that encloses it; null at the top of the module. */
  readonly parent: number | null;
  readonly line: number;
  readonly parameters: readonly ParameterFact[];
  readonly body: readonly Step[];
  readonly isAsync: boolean;
  readonly isStatic: boolean;
  readonly isAccessor: boolean;
  /** An arrow function keeps the `this` of where it stands. */
  readonly isArrow: boolean;
  readonly hasBody: boolean;
  readonly returns: TypeFact | null;
  readonly decorators: readonly DecoratorFact[];
}

export interface FieldFact {
  readonly name: string;
  readonly type: TypeFact | null;
  readonly value: Expression | null;
  readonly decorators: readonly DecoratorFact[];
  readonly isStatic: boolean;
}

export interface ClassFact extends Range {
  readonly id: number;
  readonly name: string | null;
  readonly line: number;
  readonly isAbstract: boolean;
  readonly typeParameters: readonly string[];
  readonly base: Expression | null;
  readonly baseArgs: readonly TypeFact[];
  readonly interfaces: readonly TypeFact[];
  readonly decorators: readonly DecoratorFact[];
  readonly fields: readonly FieldFact[];
  readonly constructorId: number | null;
  readonly methods: readonly { readonly name: string; readonly id: number }[];
}

export interface MemberFact {
  readonly name: string;
  /** Type of the property, or what the method returns. */
  readonly type: TypeFact | null;
  readonly isMethod: boolean;
}

export interface InterfaceFact {
  readonly name: string;
  readonly line: number;
  readonly bases: readonly TypeFact[];
  readonly members: readonly MemberFact[];
}

export interface ImportFact {
  readonly local: string;
  readonly module: string;
  /** Exported name; `default`; `*` for the namespace. */
  readonly name: string;
}

export interface ExportFact {
  /** Exported name; `*` for `export * from`. */
  readonly name: string;
  /** Local name, or name in `module`. */
  readonly local: string;
  readonly module: string | null;
}

export interface FileFacts {
  readonly file: string;
  readonly imports: readonly ImportFact[];
  readonly exports: readonly ExportFact[];
  readonly functions: readonly FunctionFact[];
  readonly classes: readonly ClassFact[];
  readonly interfaces: readonly InterfaceFact[];
  readonly aliases: readonly { readonly name: string; readonly type: TypeFact }[];
  readonly enums: readonly { readonly name: string; readonly members: readonly { readonly name: string; readonly value: string | null }[] }[];
  /** Named functions and classes by their local name. */
  readonly declarations: Readonly<Record<string, { readonly kind: 'function' | 'class'; readonly id: number }>>;
  /** Statements at the top of the module. */
  readonly top: readonly Step[];
  /** Offset of the start of each line. */
  readonly lineStarts: readonly number[];
}
