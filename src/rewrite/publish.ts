import { ts } from 'ts-morph';
import type { Finding } from '../core/finding.js';
import { isWithin } from '../core/place.js';
import { findCall, findNode, isStatementList, lineOf, unwrap, walk, type FunctionNode, type StatementList } from './ast.js';
import type { CodemodContext } from './codemod.js';
import type { EditSet } from './edits.js';
import { fallible } from './fallible.js';
import { guardMessageFlow } from './message-flow.js';
import { readMessage, short, type Message } from './message.js';
import { refuse } from './refusal.js';

/** A publish in the handler, as a statement of its own. */
export interface PublishSite {
  readonly finding: Finding;
  readonly call: ts.CallExpression;
  readonly message: Message;
  readonly statement: ts.ExpressionStatement;
  readonly list: StatementList;
  /** The statement of `list` that it is: itself, or the `if` that holds nothing else. */
  readonly anchor: ts.Statement;
  /** Condition of that `if`. */
  readonly condition: ts.Expression | null;
  /** What of the message, or of the condition, may fail when it is computed; null: nothing. */
  readonly fallible: ts.Node | null;
  /** Options of the publish that its route has to carry. */
  readonly options: Readonly<Record<string, string>>;
}

export interface ReadPublishOptions {
  /** The publish may be in the callback of a transaction. */
  readonly inTransactionCallback: boolean;
  /** The message may be encoded in a statement before the publish: `const body = JSON.stringify({ … })`. */
  readonly messageBefore: boolean;
  /** The publish may stand in an `if` without `else` that holds nothing else. */
  readonly conditional: boolean;
}

/** Finds the publish statement of a finding. Guards: the result is not used, the message can take an `eventId`, no option is lost. */
export function readPublish(edits: EditSet, fn: FunctionNode, finding: Finding, context: CodemodContext, allowed: ReadPublishOptions): PublishSite {
  const { file } = finding.handler;
  const span = finding.publish.path[0]?.span ?? finding.publish.span;
  const source = edits.open(file).source;
  const call = span.file === file ? findCall(source, span) : null;
  if (call === null || call.pos < fn.pos || call.end > fn.end) {
    refuse('publish-not-found', `The publish of '${finding.handler.name}' (${finding.publish.file}:${finding.publish.line}) could not be found in the function.`);
  }
  if (finding.publish.isCommand) refuse('command', `'${short(call)}' (${file}:${lineOf(call)}) sends a request whose reply nobody reads. The relay can not send requests; make it an event with 'emit', at its subscribers too, and run this again.`);
  guardNotInClosure(call, fn, finding, allowed);
  guardNotOptional(call, `${file}:${lineOf(call)}`);
  const { expression } = finding.publish.message === null ? { expression: null } : { expression: messageNode(source, finding) };
  if (expression === null || !(isInside(expression, call) || (allowed.messageBefore && isInside(expression, fn)))) {
    refuse('message-built-elsewhere', `'${short(call.expression)}' (${file}:${lineOf(call)}) builds the message itself, in ${finding.publish.file}:${finding.publish.line}. Let it take the finished event as an argument, and build the event in '${finding.handler.name}'.`);
  }
  if (isInside(expression, call)) guardMessageFlow(finding, call, expression, context);
  else if (finding.publish.path.length > 0 || ts.findAncestor(expression, (node) => node === fn || ts.isFunctionLike(node)) !== fn) refuse('message-built-elsewhere', `The message of '${short(call.expression)}' (${file}:${lineOf(call)}) is made in line ${lineOf(expression)}, out of reach. Make it where it is published.`);
  const statement = publishStatement(call);
  const around = allowed.conditional ? ifAround(statement) : null;
  const anchor = around ?? statement;
  const list = anchor.parent;
  if (!isStatementList(list)) refuse('conditional-publish', `The publish (${file}:${lineOf(call)}) is the only statement of a branch without braces, which the write does not share.`);
  return { finding, call, message: readMessage(edits, file, expression, context), statement, list, anchor, condition: around?.expression ?? null, fallible: fallible(expression, file, context) ?? (around === null ? null : fallible(around.expression, file, context)), options: publishOptions(call, finding) };
}

function messageNode(source: ts.SourceFile, finding: Finding): ts.Expression | null {
  const message = finding.publish.message;
  if (message === null || !isWithin(message.span, finding.handler.span)) return null;
  const node = findNode(source, message.span);
  return node !== null && ts.isExpression(node) ? node : null;
}

function isInside(inner: ts.Node, outer: ts.Node): boolean {
  return inner.pos >= outer.pos && inner.end <= outer.end;
}

function guardNotInClosure(call: ts.Node, fn: FunctionNode, finding: Finding, allowed: ReadPublishOptions): void {
  for (let node = call.parent; node !== fn && node !== undefined; node = node.parent) {
    if (ts.isFunctionLike(node) && !(allowed.inTransactionCallback && isTransactionCallback(node))) {
      refuse('publish-in-closure', `The publish (${finding.handler.file}:${lineOf(call)}) is in a callback inside '${finding.handler.name}'. Publish after it, in the function itself.`);
    }
  }
}

/** `this.client?.emit(…)` publishes only where there is a client; the event would be stored everywhere. */
function guardNotOptional(call: ts.CallExpression, at: string): void {
  for (let node: ts.Expression = call; ts.isCallExpression(node) || ts.isPropertyAccessExpression(node) || ts.isNonNullExpression(node) || ts.isParenthesizedExpression(node); node = node.expression) {
    if (ts.isNonNullExpression(node) || ts.isParenthesizedExpression(node) || node.questionDotToken === undefined) continue;
    const condition = node.expression.getText();
    refuse('conditional-publish', `'${short(call)}' (${at}) publishes only where '${condition}' is there, and the event would be stored in any case. Write 'if (${condition}) …' around the publish.`);
  }
}

/** The `if` without `else` that holds the publish, and logging at most. */
function ifAround(statement: ts.Statement): ts.IfStatement | null {
  const { parent } = statement;
  const branch = ts.isBlock(parent) ? parent : statement;
  const around = branch.parent;
  if (!ts.isIfStatement(around) || around.thenStatement !== branch || around.elseStatement !== undefined) return null;
  const isAlone = branch === statement || (ts.isBlock(branch) && branch.statements.every((other) => other === statement || isLogStatement(other)));
  return isAlone ? around : null;
}

function isLogStatement(statement: ts.Statement): boolean {
  return ts.isExpressionStatement(statement) && ts.isCallExpression(statement.expression) && isLogging(statement.expression);
}

function isTransactionCallback(node: ts.Node): boolean {
  const call = node.parent;
  return ts.isCallExpression(call) && call.arguments[call.arguments.length - 1] === node && /\.(?:transaction|withTransaction)$|^runInTransaction$/.test(call.expression.getText());
}

/** Climbs from the call over everything that just waits for it or ignores it, to the statement. */
export function publishStatement(call: ts.CallExpression): ts.ExpressionStatement {
  let node: ts.Expression = call;
  for (;;) {
    const { parent } = node;
    if (ts.isExpressionStatement(parent)) return parent;
    if ((ts.isAwaitExpression(parent) || ts.isVoidExpression(parent) || ts.isParenthesizedExpression(parent) || ts.isNonNullExpression(parent)) ) {
      node = parent;
    } else if (ts.isCallExpression(parent) && parent.arguments[0] === node && parent.arguments.slice(1).every(isPlainConfig) && /^(?:firstValueFrom|lastValueFrom)$/.test(parent.expression.getText())) {
      node = parent;
    } else if (ts.isPropertyAccessExpression(parent) && ts.isCallExpression(parent.parent) && parent.parent.expression === parent && ignoresResult(parent.parent, parent.name.text)) {
      node = parent.parent;
    } else {
      refuse('publish-result-used', `The result of '${short(call)}' (line ${lineOf(call)}) is used, and an event in the outbox has none. Make the publish a statement of its own.`);
    }
  }
}

/** `{ defaultValue: null }`: what an observable that sends nothing is waited for with. */
function isPlainConfig(argument: ts.Expression): boolean {
  return ts.isObjectLiteralExpression(argument) && argument.properties.every((property) => ts.isPropertyAssignment(property) && !ts.isCallExpression(unwrap(property.initializer)) && !ts.isAwaitExpression(property.initializer));
}

/** `.subscribe()`, `.toPromise()`, and `.catch(…)` that only logs. */
function ignoresResult(chained: ts.CallExpression, member: string): boolean {
  if (member === 'toPromise' || (member === 'subscribe' && chained.arguments.length === 0)) return true;
  const [handler] = chained.arguments;
  if (member !== 'catch' || chained.arguments.length !== 1 || handler === undefined || !(ts.isArrowFunction(handler) || ts.isFunctionExpression(handler))) return false;
  let logsOnly = true;
  walk(handler, (node) => {
    if (ts.isCallExpression(node) && !isLogging(node)) logsOnly = false;
    if (ts.isThrowStatement(node)) logsOnly = false;
  });
  return logsOnly;
}

/** A call on a logger or on the console, by its receiver. */
export function isLogging(call: ts.CallExpression): boolean {
  const callee = unwrap(call.expression);
  if (!ts.isPropertyAccessExpression(callee)) return false;
  const receiver = unwrap(callee.expression);
  const last = ts.isPropertyAccessExpression(receiver) ? receiver.name.text : receiver.getText();
  return /^(?:console|_?log|.*[lL]ogger)$/.test(last) && /^(?:log|info|debug|verbose|trace|warn|error|fatal)$/.test(callee.name.text);
}

/** Options that a route can carry. */
const routedOptions = new Set(['persistent', 'mandatory', 'contentType', 'contentEncoding', 'type', 'priority', 'expiration', 'appId']);

/** Reads the options of an AMQP publish that stands in the handler itself; the relay has to repeat them. */
function publishOptions(call: ts.CallExpression, finding: Finding): Readonly<Record<string, string>> {
  if (finding.publish.path.length > 0) return {};
  const options = optionsArgument(call, finding);
  if (options === null) return {};
  const at = `${finding.publish.file}:${lineOf(options)}`;
  if (!ts.isObjectLiteralExpression(options)) {
    refuse('publish-options', `The options '${short(options)}' of the publish (${at}) are not written down there, so its route can not repeat them. Make them an object literal.`);
  }
  const carried: Record<string, string> = {};
  for (const property of options.properties) {
    const name = property.name?.getText().replace(/^['"]|['"]$/g, '') ?? '…';
    if (name === 'messageId') {
      refuse('publish-options', `The publish (${at}) has the option 'messageId', and the relay sends the event's own id there: to subscribers that tell messages apart by it, the two copies would be two messages. Let them go by 'eventId', and remove it.`);
    }
    const value = ts.isPropertyAssignment(property) ? unwrap(property.initializer) : null;
    const literal = value !== null && (ts.isStringLiteral(value) || ts.isNumericLiteral(value) || value.kind === ts.SyntaxKind.TrueKeyword || value.kind === ts.SyntaxKind.FalseKeyword);
    if (!routedOptions.has(name) || !literal) {
      refuse('publish-options', `The publish (${at}) has the option '${name}', which a row of the outbox does not carry. Remove it, or put it into the message.`);
    }
    carried[name] = value.getText();
  }
  return carried;
}

function optionsArgument(call: ts.CallExpression, finding: Finding): ts.Expression | null {
  const callee = unwrap(call.expression);
  const method = ts.isPropertyAccessExpression(callee) ? callee.name.text : '';
  if (finding.publish.route.transport !== 'amqp') return null;
  const index = method === 'sendToQueue' ? 2 : 3;
  const argument = call.arguments[index];
  return argument === undefined ? null : unwrap(argument);
}
