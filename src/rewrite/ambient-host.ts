import { ts } from 'ts-morph';
import { decoratorNames, enclosingClass, findFunction, findNode, lineOf, unwrap, type FunctionNode } from './ast.js';
import { propertyOf } from './bind.js';
import { callsOf, guardCalls, usesDatabase, type LocatedCall, type TransactionCode } from './calls.js';
import type { CodemodContext } from './codemod.js';
import type { EditSet } from './edits.js';
import { guardThrows } from './hand-down.js';
import { injectMember, type Owner } from './owner.js';
import { projectOf } from './project.js';
import { refuse } from './refusal.js';

const library = '@nestjs-cls/transactional';

/** How the project's own code declares the transaction host. */
export interface HostDeclaration {
  /** `TransactionHost<TransactionalAdapterTypeOrm>` */
  readonly type: string;
  /** File that the names of the type are imported in. */
  readonly file: string;
}

/**
 * The transaction host of @nestjs-cls/transactional that every database call of the code goes through, however deep; null when
 * one goes elsewhere. A transaction that the host opens then holds them all, and nothing has to be handed down.
 */
export function ambientHost(edits: EditSet, code: TransactionCode, context: CodemodContext): HostDeclaration | null {
  const hosts = hostsOf({ edits, context, seen: new Set() }, code);
  const [first] = hosts ?? [];
  return first !== undefined && hosts?.every(({ type }) => type === first.type) === true ? first : null;
}

interface Search {
  readonly edits: EditSet;
  readonly context: CodemodContext;
  readonly seen: Set<string>;
}

function hostsOf(search: Search, code: TransactionCode): readonly HostDeclaration[] | null {
  const found: HostDeclaration[] = [];
  for (const located of callsOf(search.edits, code, search.context).filter(({ call }) => usesDatabase(call))) {
    const hosts = located.call.callee.kind === 'project' ? hostsBehind(search, located) : hostOfCall(search, code.file, located);
    if (hosts === null) return null;
    found.push(...hosts);
  }
  return found;
}

function hostsBehind(search: Search, { call }: LocatedCall): readonly HostDeclaration[] | null {
  if (call.callee.kind !== 'project' || call.callee.functions.length === 0) return null;
  const all = call.callee.functions.map((ref) => {
    const key = `${ref.file}:${ref.span.start}`;
    if (search.seen.has(key)) return [];
    search.seen.add(key);
    const code = bodyOf(ref.file, findFunction(search.edits.open(ref.file).source, ref.span));
    return code === null ? null : hostsOf(search, code);
  });
  return all.some((hosts) => hosts === null) ? null : all.flatMap((hosts) => hosts ?? []);
}

function bodyOf(file: string, fn: FunctionNode | null): TransactionCode | null {
  return fn?.body === undefined ? null : { file, fn, roots: [fn.body], returnIsAwaited: true };
}

function hostOfCall({ edits, context }: Search, file: string, { call }: LocatedCall): readonly HostDeclaration[] | null {
  const node = call.receiver?.span.file === file ? findNode(edits.open(file).source, call.receiver.span) : null;
  const host = node !== null && ts.isExpression(node) ? hostOf(file, node, context, 0) : null;
  return host === null ? null : [host];
}

/** `this.txHost` of `this.txHost.tx.getRepository(Order)`, also through a variable or a getter. */
function hostOf(file: string, expression: ts.Expression, context: CodemodContext, depth: number): HostDeclaration | null {
  const inner = unwrap(expression);
  if (depth > 8) return null;
  if (ts.isCallExpression(inner)) return hostOf(file, inner.expression, context, depth + 1);
  if (!ts.isPropertyAccessExpression(inner)) return null;
  const owner = enclosingClass(inner);
  if (inner.expression.kind === ts.SyntaxKind.ThisKeyword) {
    const getter = owner?.members.find((member) => ts.isGetAccessor(member) && member.name.getText() === inner.name.text);
    const [only, ...more] = getter !== undefined && ts.isGetAccessor(getter) ? (getter.body?.statements ?? []) : [];
    return only !== undefined && more.length === 0 && ts.isReturnStatement(only) && only.expression !== undefined ? hostOf(file, only.expression, context, depth + 1) : null;
  }
  const holder = unwrap(inner.expression);
  if (inner.name.text !== 'tx' || !ts.isPropertyAccessExpression(holder) || holder.expression.kind !== ts.SyntaxKind.ThisKeyword) return hostOf(file, holder, context, depth + 1);
  const property = propertyOf(owner, holder.name.text);
  return property !== null && isHost(file, property, context) ? { type: property.type?.getText() ?? '', file } : null;
}

/** A host of the default connection: one that a decorator injects belongs to a named one. */
export function isHost(file: string, property: ts.ParameterDeclaration | ts.PropertyDeclaration, context: CodemodContext): boolean {
  return /^TransactionHost\b/.test(property.type?.getText() ?? '') && decoratorNames(property).length === 0 && projectOf(context.workspace).moduleOf(file, 'TransactionHost') === library;
}

/** Guards for code that will run in the host's transaction, and for every function that it calls. */
export function guardAmbient(edits: EditSet, code: TransactionCode, context: CodemodContext, seen = new Set<string>()): void {
  const calls = callsOf(edits, code, context);
  guardCalls(code, calls, context);
  for (const { call } of calls) {
    if (call.callee.kind !== 'project' || !usesDatabase(call)) continue;
    for (const ref of call.callee.functions) {
      const key = `${ref.file}:${ref.span.start}`;
      const fn = seen.has(key) ? null : findFunction(edits.open(ref.file).source, ref.span);
      const inner = bodyOf(ref.file, fn);
      seen.add(key);
      if (fn === null || inner === null) continue;
      guardThrows(fn, ref, context);
      guardAmbient(edits, inner, context, seen);
    }
  }
}

/** The host as a field of the handler's class: its own, or one that is injected as the project's own classes do. */
export function hostOwner(edits: EditSet, at: { readonly file: string; readonly fn: FunctionNode }, host: HostDeclaration, context: CodemodContext): Owner {
  const owner = enclosingClass(at.fn);
  if (owner === null || !ts.isMethodDeclaration(at.fn) || (ts.getModifiers(at.fn) ?? []).some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword)) {
    refuse('no-data-source', `No transaction host is at hand in ${at.file}:${lineOf(at.fn)}: it is no method of a class that could be given one.`);
  }
  const fields = owner.members.flatMap((member): readonly (ts.ParameterDeclaration | ts.PropertyDeclaration)[] => (ts.isConstructorDeclaration(member) ? member.parameters.filter((parameter) => ts.isParameterPropertyDeclaration(parameter, member)) : ts.isPropertyDeclaration(member) ? [member] : []));
  const present = fields.find((field) => isHost(at.file, field, context) && field.type?.getText() === host.type);
  if (present !== undefined) return { expression: `this.${present.name.getText()}`, followUps: [] };
  const imports = (host.type.match(/[A-Za-z_$][\w$]*/g) ?? []).map((name) => [name, projectOf(context.workspace).moduleOf(host.file, name)] as const);
  const known = imports.flatMap(([name, module]) => (module === null || module.startsWith('.') ? [] : [{ name, module }]));
  if (known.length < imports.length) refuse('no-data-source', `'${host.type}' (${host.file}) can not be imported in ${at.file}. Inject it into '${owner.name?.text ?? ''}', and run this again.`);
  return injectMember(edits, { file: at.file, owner }, { name: 'txHost', type: host.type, imports: known, what: 'TransactionHost' }, context);
}
