import { ts } from 'ts-morph';
import type { CodemodContext, SubscriberCodemod } from '../../src/rewrite/codemod.js';
import { decoratorNames, lineOf } from '../../src/rewrite/ast.js';
import { planSubscriber } from '../../src/rewrite/inbox.js';
import { standalone } from '../../src/rewrite/jscodeshift.js';
import { parameterDecorator, payloadName } from '../../src/rewrite/payload.js';
import { guarded, refuse } from '../../src/rewrite/refusal.js';
import { withDerived, type Delivery, type SubscriberCode } from '../../src/rewrite/subscriber.js';

/** Puts a subscriber of Nest's transports behind the inbox. */
export const inboxEventPattern = {
  id: 'inbox-event-pattern',
  title: "Ask the inbox first, in the transaction of an '@EventPattern' method",
  plan: (subscriber, context) => guarded(() => planSubscriber(subscriber, context, (code) => readDelivery(code, context))),
} as const satisfies SubscriberCodemod;

function readDelivery(code: SubscriberCode, context: CodemodContext): Delivery {
  const { fn } = code;
  const at = `${code.file}:${lineOf(fn)}`;
  if (decoratorNames(fn).includes('MessagePattern')) refuse('subscriber-result-used', `'${code.name}' (${at}) also answers requests, and a duplicate would get no answer. Give the event a method of its own.`);
  guardResult(code, at);
  const payload = fn.parameters.find((parameter) => parameterDecorator(parameter, 'Payload') !== undefined) ?? (fn.parameters.some(isDecorated) ? undefined : fn.parameters[0]);
  if (payload === undefined) refuse('message-part', `'${code.name}' (${at}) does not take its message. Take it with '@Payload()', so that its eventId can be seen.`);
  const contexts = fn.parameters.filter((parameter) => parameter !== payload && (parameterDecorator(parameter, 'Ctx') !== undefined || !isDecorated(parameter)));
  const handles = withDerived(fn, contexts.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : [])));
  return { message: payloadName(code, payload, 'Payload', context), declaration: null, inline: null, handles, followUps: [] };
}

function isDecorated(parameter: ts.ParameterDeclaration): boolean {
  return decoratorNames(parameter).length > 0;
}

/** Nest looks at what an event's method returns in no way; code of the project that calls the method may. */
function guardResult({ fn, name }: SubscriberCode, at: string): void {
  const type = fn.type?.getText().replace(/\s+/g, '') ?? 'Promise<void>';
  if (!/^Promise<(?:void|any|unknown|undefined)>$/.test(type)) refuse('subscriber-result-used', `'${name}' (${at}) is declared to return '${type}', and a duplicate has no such value. Declare it as 'Promise<void>'; nobody gets the value of an event's method.`);
}

export default standalone(inboxEventPattern);
