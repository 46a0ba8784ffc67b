import { describe, expect, it } from 'vitest';
import { integrationEvent, isUuid } from '../../templates/typeorm/outbox/integration-event.js';

describe('integrationEvent', () => {
  it('copies the message and leaves it as it is', () => {
    const message = Object.freeze({ orderId: 7, lines: Object.freeze([{ sku: 'tea' }]) });
    const event = integrationEvent(message);
    expect(event).toEqual({ orderId: 7, lines: [{ sku: 'tea' }], eventId: expect.any(String) as string, occurredAt: expect.any(String) as string });
    expect(event.lines).toBe(message.lines);
    expect(Object.keys(message)).toEqual(['orderId', 'lines']);
    expect(new Date(event.occurredAt).toISOString()).toBe(event.occurredAt);
  });

  it('keeps the class, from which some publishers derive the destination, and its methods', () => {
    class OrderPlaced {
      constructor(readonly orderId: number) {}
      get label(): string { return `order ${this.orderId}`; }
    }
    const event = integrationEvent(new OrderPlaced(7));
    expect(event).toBeInstanceOf(OrderPlaced);
    expect(event.constructor.name).toBe('OrderPlaced');
    expect(event.label).toBe('order 7');
    expect(JSON.parse(JSON.stringify(event))).toMatchObject({ orderId: 7, eventId: event.eventId });
  });

  it('takes a message without a prototype and symbols', () => {
    const tag = Symbol('tag');
    const message = Object.assign(Object.create(null) as object, { orderId: 7, [tag]: 1 });
    expect(Object.getPrototypeOf(integrationEvent(message))).toBeNull();
    expect((integrationEvent(message) as { [tag]?: number })[tag]).toBe(1);
  });

  it.each([
    [new Date('2026-02-03T04:05:06.007Z'), '2026-02-03T04:05:06.007Z'],
    ['2026-02-03T04:05:06+02:00', '2026-02-03T04:05:06+02:00'],
  ])('keeps the time %s that the message has', (occurredAt, expected) => {
    expect(integrationEvent({ occurredAt }).occurredAt).toBe(expected);
  });

  it.each([[1_700_000_000], [new Date(Number.NaN)], [{}]])('refuses the time %s', (occurredAt) => {
    expect(() => integrationEvent({ occurredAt })).toThrow(/'occurredAt' that is neither/);
  });

  it('gives an id of its own to an event that was copied from another one', () => {
    const first = integrationEvent({ orderId: 7 });
    const second = integrationEvent({ ...first });
    expect(second.eventId).not.toBe(first.eventId);
    expect(second.occurredAt).toBe(first.occurredAt);
  });

  it.each([['concert-42'], [42], [{}]])('refuses an eventId %s that means something else', (eventId) => {
    expect(() => integrationEvent({ eventId })).toThrow(/'eventId' that is not a UUID/);
  });

  it.each([[[1, 2]], [Buffer.from('x')]])('refuses %s: it has no named fields', (message) => {
    expect(() => integrationEvent(message)).toThrow(/named fields/);
  });

  it('makes UUIDv7s that are unique and sort in the order of the calls', () => {
    const before = Date.now();
    const ids = Array.from({ length: 20_000 }, () => integrationEvent({}).eventId);
    expect(ids.every((id) => isUuid(id) && /^.{14}7.{4}[89ab]/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
    const time = Number.parseInt((ids[0] ?? '').replaceAll('-', '').slice(0, 12), 16);
    expect(Math.abs(time - before)).toBeLessThan(5_000);
  });
});
