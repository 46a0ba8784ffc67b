import { ts } from 'ts-morph';
import type { CodemodContext, SubscriberCodemod } from '../../src/rewrite/codemod.js';
import { decoratorNames, lineOf } from '../../src/rewrite/ast.js';
import { planSubscriber } from '../../src/rewrite/inbox.js';
import { standalone } from '../../src/rewrite/jscodeshift.js';
import { parameterDecorator, payloadName } from '../../src/rewrite/payload.js';
import { guarded, refuse } from '../../src/rewrite/refusal.js';
import { withDerived, type Delivery, type SubscriberCode } from '../../src/rewrite/subscriber.js';
import { returnsIn } from '../../src/rewrite/work.js';

/** Puts a subscriber of @golevelup/nestjs-rabbitmq behind the inbox. */
export const inboxRabbitSubscribe = {
  id: 'inbox-rabbit-subscribe',
  title: "Ask the inbox first, in the transaction of a '@RabbitSubscribe' method",
  plan: (subscriber, context) => guarded(() => planSubscriber(subscriber, context, (code) => readDelivery(code, context))),
} as const satisfies SubscriberCodemod;

function readDelivery(code: SubscriberCode, context: CodemodContext): Delivery {
  const { fn } = code;
  const at = `${code.file}:${lineOf(fn)}`;
  if (decoratorNames(fn).includes('RabbitRPC')) refuse('subscriber-result-used', `'${code.name}' (${at}) also answers requests, and a duplicate would get no answer. Give the event a method of its own.`);
  guardResult(code, at);
  const isDecorated = fn.parameters.some((parameter) => decoratorNames(parameter).length > 0);
  const payload = isDecorated ? fn.parameters.find((parameter) => parameterDecorator(parameter, 'RabbitPayload') !== undefined) : fn.parameters[0];
  if (payload === undefined) refuse('message-part', `'${code.name}' (${at}) does not take its message. Take it as the first parameter, so that its eventId can be seen.`);
  const others = fn.parameters.filter((parameter) => parameter !== payload).flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
  return { message: payloadName(code, payload, 'RabbitPayload', context), declaration: null, inline: null, handles: withDerived(fn, others), followUps: [] };
}

/** A `Nack` that is returned tells the broker to reject the message. */
function guardResult({ fn, body, name, file }: SubscriberCode, at: string): void {
  const type = fn.type?.getText().replace(/\s+/g, '') ?? 'Promise<void>';
  if (!/^Promise<(?:void|undefined)>$/.test(type)) refuse('subscriber-result-used', `'${name}' (${at}) is declared to return '${type}': what it returns (a 'Nack') tells the broker what to do with the message. Throw instead, and set an 'errorHandler' or 'errorBehavior'.`);
  const nack = returnsIn(body).find(({ expression }) => expression !== undefined && (fn.type === undefined || /\bNack\b/.test(expression.getText())));
  if (nack !== undefined) refuse('subscriber-result-used', `'${nack.getText()}' (${file}:${lineOf(nack)}) may give the broker a 'Nack'. Declare that the method returns 'Promise<void>', and throw where the message is to be rejected.`);
}

export default standalone(inboxRabbitSubscribe);
