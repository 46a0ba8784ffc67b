import { ts } from 'ts-morph';
import type { ResolvedCall } from '../core/finding.js';
import { findCall, findFunction, isFunctionNode, lineOf, unwrap, walk, type FunctionNode } from './ast.js';
import { isAwaited } from './calls.js';
import type { CodemodContext } from './codemod.js';
import { short } from './message.js';
import { all, below, heldBy, isDeclaredIn, isPartOf, placeOf, rootKey, type ObjectPath, type ObjectPlace } from './object-paths.js';
import type { PublishSite } from './publish.js';
import { refuse } from './refusal.js';
import { bindingNames, findVariable } from './scope.js';

/** Methods that change what they are called on. */
const mutators = /^(?:push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|clear|(?:set|add|remove|delete|append|assign|merge|update|apply|mark|reset|increment|decrement)(?:[A-Z].*)?)$/;
/** Functions that change their first argument. */
const assigners = /^(?:Object\.(?:assign|defineProperty|defineProperties|setPrototypeOf)|Reflect\.(?:set|deleteProperty)|(?:(?:_|lodash)\.)?(?:assign|assignIn|merge|mergeWith|defaults|defaultsDeep|extend|set|unset))$/;
const maximumDepth = 4;

interface Change {
  readonly node: ts.Node;
  /** The object that gets another value somewhere. */
  readonly object: ObjectPlace;
  /** The field that gets a value, and the value; null: it is not told. */
  readonly set: { readonly place: ObjectPlace; readonly value: ts.Expression } | null;
}

interface Code {
  readonly file: string;
  readonly calls: readonly ResolvedCall[];
  readonly context: CodemodContext;
  readonly depth: number;
}

/**
 * Guards: nothing behind a publish changes the message or an object that it holds. A client that encodes the message later sends
 * what it is by then, and the outbox keeps what it was.
 */
export function guardUnchangedBehind({ file, fn }: { readonly file: string; readonly fn: FunctionNode }, site: PublishSite, context: CodemodContext): void {
  if (isEncoded(site, context)) return;
  const { node } = site.message;
  const changes = changesIn(fn, { file, calls: context.analysis.callsIn({ file, start: fn.getStart(), end: fn.getEnd() }), context, depth: 0 });
  const reached = withWhatIsSet([...(ts.isObjectLiteralExpression(unwrap(node)) ? [] : [placeOf(node)]), ...heldBy(node)], changes);
  for (const change of changes) {
    if (!runsBehind(change, site.statement, fn) || !reached.some((place) => isPartOf(change.object, place))) continue;
    refuse('message-changed-behind', `'${short(change.node)}' (${file}:${lineOf(change.node)}) changes the message, or an object in it, behind the publish (line ${lineOf(site.statement)}). The client may encode the message later than that, and the outbox keeps what it was before: the two would differ. Change it before the write, or publish a copy.`);
  }
}

/** `message.order = order` makes the message hold that object, too. */
function withWhatIsSet(message: readonly ObjectPlace[], changes: readonly Change[]): readonly ObjectPlace[] {
  const reached = [...message];
  const left = new Set(changes.flatMap(({ set }) => (set === null ? [] : [set])));
  for (let size = -1; size < reached.length;) {
    size = reached.length;
    for (const set of left) {
      if (!reached.some((place) => isPartOf(set.place, place) || isPartOf(place, set.place))) continue;
      left.delete(set);
      reached.push(placeOf(set.value), ...heldBy(set.value));
    }
  }
  return reached;
}

/** Whether the bus has the message in its final form when the next statement runs. */
function isEncoded({ call, message, finding: { publish } }: PublishSite, context: CodemodContext): boolean {
  if (isStringified(message.node, call) || message.node.pos < call.pos || message.node.end > call.end) return true;
  if (publish.path.length === 0) return publish.bus === 'golevelup-rabbitmq' || isWaitedFor(call);
  const sites = [...publish.path.slice(1).map(({ span }) => span), publish.span];
  return isWaitedFor(call) && sites.every((span, index) => {
    const source = context.analysis.sourceFile(span.file);
    const inner = source === null ? null : findCall(source, span);
    if (inner === null) return false;
    const isLast = index === sites.length - 1;
    return (isLast && inner.arguments.some((argument) => /\bJSON\.stringify\(/.test(argument.getText()))) || isWaitedFor(inner, isLast ? publish.route.transport === 'nest' : false);
  });
}

function isStringified(message: ts.Node, call: ts.Node): boolean {
  return ts.findAncestor(message, (node) => node === call || (ts.isCallExpression(node) && node.expression.getText() === 'JSON.stringify')) !== call;
}

/** `await firstValueFrom(client.emit(…))`; of an observable, an `await` alone waits for nothing. */
function isWaitedFor(call: ts.CallExpression, isObservable = !isPromiseCall(call)): boolean {
  let node: ts.CallExpression = call;
  let isPromise = !isObservable;
  for (;;) {
    const { parent } = node;
    if (ts.isCallExpression(parent) && parent.arguments[0] === node && /^(?:firstValueFrom|lastValueFrom)$/.test(parent.expression.getText())) node = parent;
    else if (ts.isPropertyAccessExpression(parent) && parent.name.text === 'toPromise' && ts.isCallExpression(parent.parent)) node = parent.parent;
    else return isPromise && isAwaited(node, true);
    isPromise = true;
  }
}

function isPromiseCall(call: ts.CallExpression): boolean {
  return ts.isPropertyAccessExpression(call.expression) && call.expression.name.text !== 'emit';
}

/** Whether a node may run when the publish has: it stands behind it, in a function of its own that is used there, or in a loop around both. */
function runsBehind({ node, object }: Change, publish: ts.Node, fn: FunctionNode): boolean {
  if (isDeferred(node, fn)) return true;
  const own = ts.findAncestor(node, (ancestor) => ancestor === fn || (isFunctionNode(ancestor) && !isArgument(ancestor)));
  // What is declared in the loop is another object in the next round.
  const isLoop = (ancestor: ts.Node): boolean => ts.isIterationStatement(ancestor, false) && ancestor.pos <= node.pos && ancestor.end >= node.end && !isDeclaredIn(object.own, ancestor);
  if (own !== fn) return false; // counted where it is called
  for (let ancestor: ts.Node = publish; ancestor !== fn; ancestor = ancestor.parent) {
    if (isLoop(ancestor)) return true;
    if (ts.isIfStatement(ancestor.parent) && ancestor.parent.thenStatement === ancestor && isInside(node, ancestor.parent.elseStatement)) return false;
    if (ts.isCaseOrDefaultClause(ancestor) && endsFlow(ancestor.statements) && isInside(node, ancestor.parent) && !isInside(node, ancestor)) return false;
  }
  return node.pos >= publish.end;
}

/** In a callback that runs some time later, wherever it stands. */
function isDeferred(node: ts.Node, fn: FunctionNode): boolean {
  return ts.findAncestor(node, (ancestor) => (ancestor === fn ? 'quit' : isFunctionNode(ancestor) && ts.isCallExpression(ancestor.parent) && isArgument(ancestor) && /^(?:setTimeout|setImmediate|setInterval|queueMicrotask|process\.nextTick)$|\.(?:on|once|then|finally|subscribe)$/.test(ancestor.parent.expression.getText()))) !== undefined;
}

function endsFlow(statements: readonly ts.Statement[]): boolean {
  const last = statements[statements.length - 1];
  if (last !== undefined && ts.isBlock(last)) return endsFlow(last.statements);
  return last !== undefined && (ts.isBreakStatement(last) || ts.isReturnStatement(last) || ts.isThrowStatement(last) || ts.isContinueStatement(last));
}

function isInside(node: ts.Node, outer: ts.Node | undefined): boolean {
  return outer !== undefined && node.pos >= outer.pos && node.end <= outer.end;
}

function isArgument(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && node.parent.arguments.some((argument) => argument === node);
}

/** Every change of an object below a node, with those of the functions that it calls, at the place of the call. */
function changesIn(root: ts.Node, code: Code): readonly Change[] {
  const found: Change[] = [];
  walk(root, (node) => {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment && node.operatorToken.kind <= ts.SyntaxKind.LastAssignment) add(found, node, node.left, node.right);
    if ((ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) && (node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken)) add(found, node, node.operand);
    if (ts.isDeleteExpression(node)) add(found, node, node.expression);
    if (ts.isCallExpression(node)) found.push(...changesOfCall(node, code));
  });
  return found;
}

function add(found: Change[], node: ts.Node, target: ts.Expression, value?: ts.Expression): void {
  const inner = unwrap(target);
  if (ts.isPropertyAccessExpression(inner) || ts.isElementAccessExpression(inner)) found.push({ node, object: placeOf(inner.expression), set: value === undefined ? null : { place: placeOf(inner), value } });
}

function changesOfCall(node: ts.CallExpression, code: Code): readonly Change[] {
  const callee = unwrap(node.expression);
  const [first] = node.arguments;
  if (assigners.test(callee.getText()) && first !== undefined) return withArguments(node, placeOf(first), node.arguments.slice(1));
  const receiver = ts.isPropertyAccessExpression(callee) ? callee.expression : null;
  const call = code.calls.find(({ span }) => span.start === node.getStart() && span.end === node.getEnd());
  if (call?.callee.kind === 'project') return call.callee.functions.flatMap((ref) => changesBy(node, receiver, findRef(ref, code), { ...code, file: ref.file, calls: code.context.analysis.callsIn(ref.span) }));
  const member = ts.isPropertyAccessExpression(callee) ? callee.name.text : '';
  if (call?.receiver?.module === 'typeorm') return member === 'merge' && first !== undefined ? [{ node, object: placeOf(first), set: null }] : [];
  if (receiver !== null && mutators.test(member)) return withArguments(node, placeOf(receiver), node.arguments);
  const declaration = ts.isIdentifier(callee) ? findVariable(callee, callee.text) : null;
  const value = declaration !== null && ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined ? unwrap(declaration.initializer) : null;
  return value !== null && isFunctionNode(value) ? changesBy(node, null, value, code) : [];
}

/** An object that is changed, and gets what the arguments are. */
function withArguments(node: ts.Node, object: ObjectPlace, values: readonly ts.Expression[]): readonly Change[] {
  return [{ node, object, set: null }, ...values.filter((value) => !isFunctionNode(value) && !ts.isSpreadElement(value)).map((value) => ({ node, object, set: { place: below(object, ['*']), value } }))];
}

function findRef(ref: { readonly file: string; readonly span: { readonly start: number; readonly end: number } }, { context }: Code): FunctionNode | null {
  const source = context.analysis.sourceFile(ref.file);
  return source === null ? null : findFunction(source, ref.span);
}

/** What a called function changes, as the caller sees it: its parameters are the arguments, its `this` the receiver. */
function changesBy(node: ts.CallExpression, receiver: ts.Expression | null, fn: FunctionNode | null, code: Code): readonly Change[] {
  if (fn?.body === undefined || code.depth >= maximumDepth) return [];
  const given = new Map<string, ObjectPlace>();
  if (receiver !== null) given.set('this', placeOf(receiver));
  fn.parameters.forEach((parameter, index) => {
    const argument = node.arguments[index];
    if (argument === undefined || ts.isSpreadElement(argument)) return;
    if (ts.isIdentifier(parameter.name)) given.set(rootKey(parameter.name.text, parameter), placeOf(argument));
    else for (const name of bindingNames(parameter.name)) {
      const element = findVariable(fn.body ?? fn, name);
      const { others, own } = placeOf(argument);
      given.set(rootKey(name, element), { own: null, others: [...(own === null ? [] : [own]), ...others].map((path) => ({ ...path, fields: [...path.fields, '*'] })) });
    }
  });
  return changesIn(fn.body, { ...code, depth: code.depth + 1 }).map(({ object }) => ({ node, object: seenFrom(object, given), set: null }));
}

/** A place in a called function as a place of the caller. What belongs to neither stays: a closure sees the caller's variables. */
function seenFrom(object: ObjectPlace, given: ReadonlyMap<string, ObjectPlace>): ObjectPlace {
  const move = (path: ObjectPath): ObjectPlace => {
    const place = given.get(path.root);
    if (place === undefined) return path.root === 'this' ? { own: null, others: [] } : { own: path, others: [] };
    return below(place, path.fields);
  };
  const own = object.own === null ? { own: null, others: [] } : move(object.own);
  return { own: own.own, others: [...own.others, ...object.others.flatMap((path) => all(move(path)))] };
}
