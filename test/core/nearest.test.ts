import { expect, test } from 'vitest';
import { nearestNames } from '../../src/core/nearest.js';

const names = ['OrderService.place', 'OrderService.replace', 'OrderService.cancel', 'PaymentsController.onOrderPlaced', 'pay'];

test.each([
  ['OrderService.plce', ['OrderService.place', 'OrderService.replace']],
  ['orderservice.place', ['OrderService.place']],
  ['plac', ['OrderService.place', 'pay']],
  ['onOrderPlaced', ['PaymentsController.onOrderPlaced']],
  ['paid', ['pay']],
  ['somethingElseEntirely', []],
  ['', []],
])('%s is near to %s', (wanted, expected) => {
  expect(nearestNames(wanted, names)).toEqual(expected);
});

test('at most three, each once', () => {
  expect(nearestNames('a', ['b', 'c', 'd', 'e', 'b'])).toEqual(['b', 'c', 'd']);
});
