import { ts } from 'ts-morph';
import type { FunctionRef } from '../core/finding.js';
import { guardAfterFailures } from './after-failure.js';
import { decoratorNames, enclosingClass, findCall, findFunction, functionLabel, isAsync, lineOf, walk, type FunctionNode } from './ast.js';
import { callsOf, usesDatabase, type LocatedCall } from './calls.js';
import type { CodemodContext } from './codemod.js';
import type { EditSet } from './edits.js';
import { enlist } from './enlist.js';
import { failureBehindWrite } from './failures.js';
import { helperBinder } from './helper-binder.js';
import { mentionsHandle } from './join.js';
import { short } from './message.js';
import { findOverride } from './overrides.js';
import { isTestFile, projectOf, type Declared, type TypeDeclaration } from './project.js';
import { refuse } from './refusal.js';
import { freeName, takenNames } from './scope.js';
import { indentAt } from './style.js';

type Plain = ts.MethodDeclaration | ts.FunctionDeclaration;

/** Hands a transaction down into functions of the project, through an optional last parameter. */
export class HandDown {
  /** Functions that take the manager already, and the number of parameters before it. */
  private readonly done = new Map<string, number>();

  constructor(private readonly edits: EditSet, private readonly context: CodemodContext) {}

  /** Passes the manager to the function that a call calls. */
  pass(file: string, { call, node }: LocatedCall, manager: string): void {
    if (call.callee.kind !== 'project' || call.callee.functions.length === 0) refuse('helper-unresolved', `'${short(node)}' (${file}:${lineOf(node)}) calls a function that could not be found.`);
    if (node.arguments.some(ts.isSpreadElement)) refuse('helper-not-plain', `'${short(node)}' (${file}:${lineOf(node)}) spreads its arguments, so it can not be told which one the manager would be.`);
    const counts = call.callee.functions.filter((fn) => this.usesDatabase(fn)).map((fn) => this.accept(fn));
    const [count] = counts;
    if (count === undefined || counts.some((other) => other !== count)) refuse('helper-not-plain', `The functions that '${short(node)}' (${file}:${lineOf(node)}) may call have different numbers of parameters.`);
    if (node.arguments.length > count) refuse('helper-not-plain', `'${short(node)}' (${file}:${lineOf(node)}) passes more arguments than the function has parameters.`);
    const missing = Array.from({ length: count - node.arguments.length }, () => 'undefined');
    const added = [...missing, manager].join(', ');
    const last = node.arguments[node.arguments.length - 1];
    if (last === undefined) this.edits.insert(file, node.getEnd() - 1, added);
    else this.edits.insert(file, last.getEnd(), this.ownLine(file, node) ? `,${this.edits.open(file).style.eol}${indentAt(this.edits.open(file).text, last.getStart())}${added}` : `, ${added}`);
  }

  /** Whether the arguments of a call stand on lines of their own. */
  private ownLine(file: string, node: ts.CallExpression): boolean {
    const first = node.arguments[0];
    return first !== undefined && this.edits.open(file).text.slice(node.arguments.pos, first.getStart()).includes('\n');
  }

  /** Makes the function take a manager; the number of parameters that stand before it. */
  private accept(ref: FunctionRef): number {
    const key = `${ref.file}:${ref.span.start}`;
    const known = this.done.get(key);
    if (known !== undefined) return known;
    const { source, text } = this.edits.open(ref.file);
    const found = findFunction(source, ref.span);
    this.guardNotOverridden(found, ref);
    const taken = this.takenAlready(found, ref);
    if (taken !== null) {
      this.done.set(key, taken);
      return taken;
    }
    const fn = this.guardPlain(found, ref);
    const count = fn.parameters.length;
    this.done.set(key, count);
    const manager = freeName(['manager', 'entityManager', 'transactionManager'], takenNames(fn));
    addParameter(this.edits, ref.file, fn, manager);
    if (ts.isMethodDeclaration(fn)) this.acceptInBases(ref.file, fn, new Set());
    const body = fn.body;
    if (body === undefined) return count;
    guardThrows(fn, ref, this.context);
    const binder = helperBinder(this.edits, { file: ref.file, fn, body, manager, inline: !text.slice(body.getStart(), body.getEnd()).includes('\n') });
    enlist(this.edits, { file: ref.file, fn, roots: [body], returnIsAwaited: true }, { binder: binder.binder, handDown: this, manager }, this.context);
    binder.finish();
    return count;
  }

  /** A method that takes its place in a subclass gets the manager, too, and would go on writing outside of the transaction. */
  private guardNotOverridden(fn: FunctionNode | null, ref: FunctionRef): void {
    const override = fn !== null && ts.isMethodDeclaration(fn) ? findOverride(this.context.workspace, ref.file, fn) : null;
    if (override === null) return;
    refuse('helper-not-plain', `'${ref.name}' (${ref.file}:${ref.line}) is overridden in ${override.file}:${lineOf(override.node)}, which would ignore the transaction that is handed to it. Give both an optional last parameter 'manager?: EntityManager' by hand, and store the event by hand.`);
  }

  /** A function that an earlier rewrite gave its manager: the number of parameters before it. Null: it takes none, or not all of its database calls go through it. */
  private takenAlready(fn: FunctionNode | null, ref: FunctionRef, depth = 0): number | null {
    const last = fn?.parameters[fn.parameters.length - 1];
    if (fn?.body === undefined || last === undefined || !ts.isIdentifier(last.name) || last.questionToken === undefined || last.type?.getText() !== 'EntityManager') return null;
    const manager = last.name.text;
    const calls = callsOf(this.edits, { file: ref.file, fn, roots: [fn.body], returnIsAwaited: true }, this.context);
    const isJoined = calls.every(({ call, node }) => !call.effects.transaction && (!usesDatabase(call) || (mentionsHandle(node, manager) && this.allTake(call, depth))));
    if (!isJoined || !calls.some(({ call }) => usesDatabase(call))) return null;
    // The project may have written it: what it does when something fails has not been looked at yet.
    guardAfterFailures({ file: ref.file, fn, roots: [fn.body], returnIsAwaited: true }, calls);
    guardThrows(fn, ref, this.context);
    return fn.parameters.length - 1;
  }

  /** An implementation that uses no database ignores the manager: TypeScript lets it have fewer parameters. */
  private usesDatabase(ref: FunctionRef): boolean {
    return this.context.analysis.callsIn(ref.span).some(usesDatabase);
  }

  /** Whether the functions that a call may call take their manager, too. */
  private allTake({ callee }: LocatedCall['call'], depth = 0): boolean {
    return callee.kind !== 'project' || depth > 8 || callee.functions.filter((ref) => this.usesDatabase(ref)).every((ref) => this.takenAlready(findFunction(this.edits.open(ref.file).source, ref.span), ref, depth + 1) !== null);
  }

  private guardPlain(fn: FunctionNode | null, ref: FunctionRef): Plain {
    const at = `${ref.file}:${ref.line}`;
    if (fn === null || !(ts.isMethodDeclaration(fn) || ts.isFunctionDeclaration(fn)) || fn.body === undefined || fn.name === undefined) {
      refuse('helper-not-plain', `'${ref.name}' (${at}) is no plain function or method, so the transaction can not be handed to it.`);
    }
    if (fn.asteriskToken !== undefined) refuse('helper-not-plain', `'${ref.name}' (${at}) is a generator.`);
    if (fn.parameters.some((parameter) => parameter.dotDotDotToken !== undefined)) refuse('helper-not-plain', `'${ref.name}' (${at}) has a rest parameter, so no other can follow it.`);
    if (fn.parameters.some((parameter) => /\b(?:EntityManager|QueryRunner)\b/.test(parameter.type?.getText() ?? ''))) {
      refuse('helper-not-plain', `'${ref.name}' (${at}) takes a transaction already, in a way of its own. Pass it by hand and run this again.`);
    }
    if (decoratorNames(fn).length > 0) refuse('helper-decorated', `'${ref.name}' (${at}) has the decorator '@${decoratorNames(fn).join("', '@")}', which may change how it is called.`);
    if (!isAsync(fn) && !isPromiseReturn(fn)) refuse('helper-not-plain', `'${ref.name}' (${at}) is not async.`);
    this.guardNotReferenced(fn, ref);
    this.guardNoOverload(fn, ref);
    return fn;
  }

  /** A function that is passed around may be called with more arguments than it declares: `map(save)` passes the index. */
  private guardNotReferenced(fn: Plain, ref: FunctionRef): void {
    const name = fn.name?.getText() ?? '';
    const project = projectOf(this.context.workspace);
    for (const file of project.filesMentioning(name)) {
      const source = isTestFile(file) ? null : project.source(file);
      if (source === null) continue;
      walk(source, (node) => {
        const isName = ts.isMethodDeclaration(fn) ? ts.isPropertyAccessExpression(node) && node.name.text === name : ts.isIdentifier(node) && node.text === name;
        if (!isName || !isValue(node)) return;
        refuse('helper-referenced', `'${ref.name}' is passed around as a value in ${file}:${lineOf(node)} ('${short(node.parent)}'), so another parameter could get something else. Call it in an arrow function there.`);
      });
    }
  }

  private guardNoOverload(fn: Plain, ref: FunctionRef): void {
    const name = fn.name?.getText();
    const siblings: readonly ts.Node[] = ts.isMethodDeclaration(fn) && ts.isClassLike(fn.parent) ? fn.parent.members : fn.getSourceFile().statements;
    if (siblings.some((other) => other !== fn && (ts.isMethodDeclaration(other) || ts.isFunctionDeclaration(other)) && other.name?.getText() === name)) {
      refuse('helper-not-plain', `'${ref.name}' (${ref.file}:${ref.line}) is overloaded.`);
    }
  }

  /** Adds the parameter to the interface or abstract method that a method implements, at every level. */
  private acceptInBases(file: string, method: ts.MethodDeclaration, seen: Set<string>): void {
    const owner = enclosingClass(method);
    if (owner === null) return;
    this.acceptInHeritage({ file, node: owner }, method.name.getText(), method.parameters.length, seen);
  }

  private acceptInHeritage(declared: Declared<TypeDeclaration>, name: string, count: number, seen: Set<string>): void {
    const project = projectOf(this.context.workspace);
    for (const type of declared.node.heritageClauses?.flatMap((clause) => clause.types) ?? []) {
      const base = project.findType(declared.file, type.expression.getText());
      const key = base === null ? '' : `${base.file}:${base.node.pos}`;
      if (base === null || seen.has(key)) continue;
      seen.add(key);
      const found = this.edits.open(base.file).source.statements.find((statement) => statement.pos === base.node.pos);
      if (found === undefined || !(ts.isClassDeclaration(found) || ts.isInterfaceDeclaration(found))) continue;
      for (const member of found.members) if (member.name?.getText() === name) this.acceptInMember(base.file, member, count);
      this.acceptInHeritage(base, name, count, seen);
    }
  }

  private acceptInMember(file: string, member: ts.ClassElement | ts.TypeElement, count: number): void {
    const key = `${file}:${member.getStart()}`;
    if (this.done.has(key)) return;
    if (!(ts.isMethodSignature(member) || (ts.isMethodDeclaration(member) && member.body === undefined))) {
      refuse('helper-not-plain', `'${member.name?.getText() ?? ''}' (${file}:${lineOf(member)}), which the function on the way to the write overrides, is no plain method signature.`);
    }
    if (member.parameters.length !== count) refuse('helper-not-plain', `'${member.name.getText()}' (${file}:${lineOf(member)}) has another number of parameters than the method that implements it.`);
    this.done.set(key, count);
    addParameter(this.edits, file, member, freeName(['manager', 'entityManager'], new Set(member.parameters.map((parameter) => parameter.name.getText()))));
  }
}

function isPromiseReturn(fn: Plain): boolean {
  return /^Promise</.test(fn.type?.getText() ?? '');
}

function isValue(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isCallExpression(parent)) return parent.arguments.some((argument) => argument === node);
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isVariableDeclaration(parent)) return parent.initializer === node;
  return ts.isReturnStatement(parent) || ts.isArrayLiteralExpression(parent) || ts.isShorthandPropertyAssignment(parent) || ts.isConditionalExpression(parent);
}

/** A `throw` behind a write keeps the write today, and would take it back in the transaction. */
export function guardThrows(fn: FunctionNode, ref: FunctionRef, context: CodemodContext): void {
  const calls = context.analysis.callsIn({ file: ref.file, start: fn.getStart(), end: fn.getEnd() });
  const first = calls.find((call) => call.effects.write && usesDatabase(call));
  const write = first === undefined ? null : findCall(fn.getSourceFile(), first.span);
  if (write === null || fn.body === undefined) return;
  const failure = failureBehindWrite(ref.file, { body: fn.body, calls, write }, context);
  if (failure === null) return;
  refuse('exit-in-span', `'${functionLabel(fn)}' may fail behind its write (${ref.file}:${failure.line}): ${failure.cause}. In a transaction that would take the write back. Decide before the write.`);
}

function addParameter(edits: EditSet, file: string, fn: Plain | ts.MethodSignature, name: string): void {
  const { text, style } = edits.open(file);
  const last = fn.parameters[fn.parameters.length - 1];
  const parameter = `${name}?: EntityManager`;
  if (last === undefined) edits.insert(file, fn.parameters.pos, parameter);
  else {
    const ownLine = /\n[ \t]*$/.test(text.slice(fn.parameters.pos, last.getStart()));
    edits.insert(file, last.getEnd(), ownLine ? `,${style.eol}${indentAt(text, last.getStart())}${parameter}` : `, ${parameter}`);
  }
  edits.need(file, 'EntityManager', 'typeorm');
}
