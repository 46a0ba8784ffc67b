import { describe, expect, it } from 'vitest';
import { relayGate } from '../../src/cli/relay/gate.js';
import type { Subscriber } from '../../src/core/finding.js';
import type { RouteEntry } from '../../src/templates/routes.js';

const placed: RouteEntry = { type: 'order.placed', transport: 'nest', destination: 'order.placed', address: 'pattern' };
const paid: RouteEntry = { type: 'order.paid', transport: 'amqp', destination: 'orders.paid', address: 'routing-key' };

function subscriber(destination: string | null, more: Partial<Subscriber> = {}): Subscriber {
  return { name: 'Mails.on', file: 'mails.ts', line: 3, bus: 'nest-clientproxy', destination, inbox: false, writes: true, span: { file: 'mails.ts', start: 0, end: 1 }, ...more };
}

describe('relayGate', () => {
  it('passes when every subscriber of the recorded events has its inbox', () => {
    expect(relayGate([placed], [subscriber('order.placed', { inbox: true }), subscriber('order.cancelled')])).toEqual([]);
  });

  it.each([
    ['of the event', placed, subscriber('order.placed')],
    ['that writes nothing', placed, subscriber('order.placed', { writes: false })],
    ['of a topic pattern', placed, subscriber('order.*')],
    ['of every event', placed, subscriber('#')],
    ['of the whole aggregate', { ...placed, destination: 'order.placed.v2' }, subscriber('order.#')],
    ['whose destination the code does not tell', placed, subscriber(null)],
    ['of the routing key', paid, subscriber('orders.paid', { bus: 'golevelup-rabbitmq' })],
    ['of a queue that the exchange may feed', paid, subscriber('mails', { bus: 'amqplib' })],
  ])('stops at a subscriber %s that has no inbox', (_, route, without) => {
    expect(relayGate([route], [without])).toMatchObject([{ code: 'subscriber-without-inbox', message: expect.stringContaining("'Mails.on' (mails.ts:3)") as string }]);
  });

  it.each([
    ['another event', placed, subscriber('order.placed.v2')],
    ['another pattern', placed, subscriber('payment.*')],
    ['fewer words', { ...placed, destination: 'order', type: 'order' }, subscriber('order.*')],
    ['another queue than the one that is sent to', { ...paid, address: 'queue' } as const, subscriber('mails', { bus: 'amqplib' })],
  ])('lets %s be', (_, route, other) => {
    expect(relayGate([route], [other])).toEqual([]);
  });

  it('stops without routes, and at one that is not resolved', () => {
    expect(relayGate([], [])).toMatchObject([{ code: 'no-routes' }]);
    expect(relayGate([placed, { ...paid, transport: 'unresolved', destination: null, address: null }], [])).toMatchObject([{ code: 'unresolved-route', message: expect.stringContaining("'order.paid'") as string }]);
  });
});
