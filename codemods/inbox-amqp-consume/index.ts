import { ts } from 'ts-morph';
import { lineOf, unwrap, walk } from '../../src/rewrite/ast.js';
import type { SubscriberCodemod } from '../../src/rewrite/codemod.js';
import { planSubscriber } from '../../src/rewrite/inbox.js';
import { mentionsHandle } from '../../src/rewrite/join.js';
import { standalone } from '../../src/rewrite/jscodeshift.js';
import { guarded, refuse } from '../../src/rewrite/refusal.js';
import { freeName, takenNames } from '../../src/rewrite/scope.js';
import type { Delivery, SubscriberCode } from '../../src/rewrite/subscriber.js';

/** Puts the callback of amqplib's `consume` behind the inbox. */
export const inboxAmqpConsume = {
  id: 'inbox-amqp-consume',
  title: "Ask the inbox first, in the transaction of a 'consume' callback",
  plan: (subscriber, context) => guarded(() => planSubscriber(subscriber, context, readDelivery)),
} as const satisfies SubscriberCodemod;

function readDelivery(code: SubscriberCode): Delivery {
  const { fn } = code;
  const at = `${code.file}:${lineOf(fn)}`;
  const raw = fn.parameters[0]?.name;
  if (raw === undefined || !ts.isIdentifier(raw)) refuse('message-part', `'${code.name}' (${at}) does not take its message by a name. Take it as the first parameter.`);
  const consume = ts.isCallExpression(fn.parent) ? fn.parent : null;
  const channel = consume !== null && ts.isPropertyAccessExpression(consume.expression) ? unwrap(consume.expression.expression) : null;
  const handles = new Set([raw.text, ...(channel !== null && ts.isIdentifier(channel) ? [channel.text] : [])]);
  return { ...readBody(code, raw.text, at), handles, followUps: noAckNote(code, consume) };
}

/** The body of the message: what `JSON.parse(msg.content.toString())` gives. */
function readBody(code: SubscriberCode, raw: string, at: string): Pick<Delivery, 'message' | 'declaration' | 'inline'> {
  const found: ts.CallExpression[] = [];
  walk(code.body, (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'JSON.parse' && node.arguments[0] !== undefined && mentionsHandle(node.arguments[0], raw)) found.push(node);
  });
  const [call] = found;
  if (call === undefined || found.length > 1) {
    refuse('message-shape-unknown', `'${code.name}' (${at}) ${call === undefined ? `does not read its message with 'JSON.parse(${raw}.content.toString())'` : 'reads its message several times'}, so it can not be told where its eventId is. Read it once, in that way, at the top of the callback.`);
  }
  let value: ts.Expression = call;
  while (ts.isAsExpression(value.parent) || ts.isParenthesizedExpression(value.parent) || ts.isSatisfiesExpression(value.parent)) value = value.parent;
  const { parent } = value;
  const place = `${code.file}:${lineOf(call)}`;
  if (ts.isVariableDeclaration(parent)) {
    if (!ts.isIdentifier(parent.name)) refuse('message-part', `The message is taken apart where it is read (${place}). Give the whole of it a name first.`);
    return { message: parent.name.text, declaration: statementOf(parent), inline: null };
  }
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isIdentifier(parent.left)) return { message: parent.left.text, declaration: statementOf(parent), inline: null };
  if (ts.isPropertyAccessExpression(parent)) refuse('message-part', `Only a part of the message is kept where it is read (${place}). Give the whole of it a name first.`);
  return { message: freeName(['message', 'event', 'body'], takenNames(code.fn)), declaration: null, inline: value };
}

function statementOf(node: ts.Node): ts.Statement {
  let inner = node;
  while (!ts.isVariableStatement(inner) && !ts.isExpressionStatement(inner)) inner = inner.parent;
  return inner;
}

/** With `noAck` the broker forgets a message when it hands it out: the inbox keeps out copies, and can not bring one back. */
function noAckNote(code: SubscriberCode, consume: ts.CallExpression | null): readonly string[] {
  const options = consume?.arguments[2];
  if (options === undefined || !/\bnoAck\s*:\s*true\b/.test(options.getText())) return [];
  return [`${code.file}:${lineOf(options)} consumes with 'noAck: true': a crash in the work still loses the message, because the broker forgets it when it hands it out. Acknowledge behind the transaction instead.`];
}

export default standalone(inboxAmqpConsume);
