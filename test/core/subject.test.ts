import { expect, test } from 'vitest';
import { handlerSubject, isAt, isFindingAt, labelOf, subscriberSubject } from '../../src/core/subject.js';
import type { Handler, Subscriber } from '../../src/core/finding.js';
import { lostEvent } from '../report/sample.js';

const handler = (name: string, file = 'src/a.ts', start = 10): Handler => ({ name, file, line: start, entry: 'http', span: { file, start, end: start + 5 } });

test.each<[string, Handler, readonly Handler[], string, string]>([
  ['a name that no other has', handler('Orders.place'), [handler('Orders.cancel')], 'Orders.place', 'Orders.place'],
  ['a handler with two findings', handler('Orders.place'), [handler('Orders.place')], 'Orders.place', 'Orders.place'],
  ['a private method', handler('Orders.#place'), [], 'Orders.#place', 'Orders.#place'],
  ['a name in two files', handler('Orders.place'), [handler('Orders.place', 'src/b.ts')], 'src/a.ts#Orders.place', 'src/a.ts#Orders.place'],
  ['a name twice in a file', handler('place'), [handler('place', 'src/a.ts', 30)], 'abc123', 'src/a.ts#place'],
  ['a name in two files that no shell takes', handler('place', 'src/[id]/a b.ts'), [handler('place', 'src/b.ts')], 'abc123', 'src/[id]/a b.ts#place'],
  ['a function without a name', handler('(anonymous)'), [], 'abc123', 'src/a.ts#(anonymous)'],
  ['a name with a dollar', handler('orders$'), [], 'abc123', 'src/a.ts#orders$'],
  ['a name beyond ASCII', handler('Größe.ändern'), [], 'abc123', 'src/a.ts#Größe.ändern'],
])('%s', (_, one, others, subject, label) => {
  expect(handlerSubject(one, 'abc123', [one, ...others])).toBe(subject);
  expect(labelOf(one, [one, ...others])).toBe(label);
});

test('what has no id is named by its line', () => {
  expect(handlerSubject(handler('(anonymous)'), null, [])).toBe('src/a.ts:10');
  const subscriber: Subscriber = { ...handler('(anonymous)'), bus: 'amqplib', destination: 'orders', inbox: false, writes: true };
  expect(subscriberSubject(subscriber, [subscriber])).toBe('src/a.ts:10');
});

test('a place is the line of a function, or one of its path', () => {
  expect(isAt('src/a.ts:10', handler('x'))).toBe(true);
  expect(isAt('./src/a.ts:10', handler('x'))).toBe(true);
  expect(isAt('src/a.ts:1', handler('x'))).toBe(false);
  const { handler: of, publish } = lostEvent;
  expect(isFindingAt(`${of.file}:${of.line}`, lostEvent)).toBe(true);
  expect(isFindingAt(`${publish.file}:${publish.line}`, lostEvent)).toBe(true);
  expect(isFindingAt(`${of.file}:99999`, lostEvent)).toBe(false);
});
