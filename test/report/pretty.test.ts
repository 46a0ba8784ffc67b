import { describe, expect, test } from 'vitest';
import { codeLine } from '../../src/report/excerpt.js';
import { countFigures, figuresSentence } from '../../src/report/figures.js';
import { renderPretty } from '../../src/report/pretty.js';
import { createStyle } from '../../src/report/text.js';
import { emptyResult, hostileResult, hostileTexts, lostEvent, orderService, phantomEvent, sampleResult, spanOf } from './sample.js';

const style = createStyle(false);
const read = (file: string): string | null => (file.endsWith('order.service.ts') ? orderService : null);

test('shows the lines that matter, the crash between them and what to do', () => {
  expect(renderPretty(sampleResult, { style, read })).toBe(
    `src/orders/order.service.ts
  OrderService.place                                     lost-event · nestjs-microservices · order.placed
     7 │ await this.orders.add(draft)                    1  committed (OrdersRepository.add, orders.repository.ts:19)
       │                                                 ✗  a crash here loses order.placed, and no log says so
     8 │ this.client.emit('order.placed', {…})           2  published, not awaited
    explain 7f3a2c0011aa · rewrite OrderService.place --to dual-publish

  OrderService.cancel                                    phantom-event · nestjs-microservices · order.cancelled · medium confidence
    15 │ await this.client.emit('order.cancelled', {…})  1  published
       │                                                 ✗  a failure here leaves order.cancelled announced, and nothing saved
    16 │ await this.table.update(id, {…})                2  committed
    explain b00b135e0042 · rewrite OrderService.cancel --to dual-publish

1 handler can lose an event, 1 can announce one that never happened, 1 publish is safe. 1,204 files, 0.9 s.
1 call could be a publish or a write and can't be resolved: see 'unresolved' in --format json or markdown.
Passed over: src/generated.ts (5.0 MB; files over 2 MB are passed over).
Next: outboxify plan`,
  );
});

test('says of each write what had become of it when the event left', () => {
  const [write] = lostEvent.writes;
  if (write === undefined) throw new Error('no write');
  const orders = ['committed', 'pending', 'after'] as const;
  const finding = { ...lostEvent, writes: orders.map((order) => ({ ...write, path: [], order })) };
  const steps = renderPretty({ ...sampleResult, findings: [finding] }, { style, read }).split('\n').flatMap((line) => /\d {2}(\S.*)$/.exec(line)?.[1] ?? []);
  expect(steps).toEqual(['committed', 'written, not committed yet', 'published, not awaited', 'written afterwards']);
});

test('the excerpt of a file with CRLF is the same', () => {
  const crlf = orderService.replaceAll('\n', '\r\n');
  const at = crlf.indexOf("this.client.emit('order.placed'");
  const span = { file: 'a.ts', start: at, end: crlf.indexOf('});') + 2 };
  expect(codeLine(crlf, span, 20)).toBe("this.client.emit('order.placed', {…})");
  expect(codeLine(orderService, spanOf(orderService, 'this.orders.add(draft)'))).toBe('await this.orders.add(draft)');
});

test('a multi-line call chain is joined', () => {
  const source = 'await manager\n  .createQueryBuilder()\n  .insert()\n  .execute()';
  expect(codeLine(source, { file: 'a.ts', start: 6, end: source.length })).toBe('await manager.createQueryBuilder().insert().execute()');
});

test.each(hostileTexts.map((text) => ({ text })))('$text can not steer the terminal or break the lines', ({ text }) => {
  const lines = (value: string): number => renderPretty(hostileResult(value), { style, read: () => null }).split('\n').length;
  expect(lines(text)).toBe(lines('plain'));
  expect(renderPretty(hostileResult(text), { style, read: () => text.repeat(3) })).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});

test('links only where asked for, colour only where wanted', () => {
  const linked = renderPretty(sampleResult, { style: createStyle(true), read, urlOf: ({ file, line }) => `file:///project/${file}#L${line}` });
  expect(linked).toContain('\u001b]8;;file:///project/src/orders/order.service.ts#L8\u001b\\');
  expect(linked).toContain('\u001b[31m');
  expect(renderPretty(sampleResult, { style, read })).not.toContain('\u001b');
});

test('many writes are cut short and counted', () => {
  const [write] = lostEvent.writes;
  if (!write) throw new Error('no write');
  const text = renderPretty({ ...emptyResult, findings: [{ ...lostEvent, writes: [write, write, write, write, write] }] }, { style, read });
  expect(text).toContain('and 2 more writes');
  expect(text).toContain('4  published');
});

describe('the sentence with the numbers', () => {
  test.each([
    { name: 'nothing', result: emptyResult, sentence: 'No handler can lose an event or announce one that never happened.' },
    { name: 'two publishes of one handler', result: { ...emptyResult, findings: [lostEvent, { ...lostEvent, id: '000000000000' }] }, sentence: '1 handler can lose an event.' },
    { name: 'phantoms only', result: { ...emptyResult, findings: [phantomEvent] }, sentence: '1 handler can announce one that never happened.' },
    {
      name: 'a handler that is at dual-publish',
      result: { ...emptyResult, findings: [phantomEvent, { ...lostEvent, stage: 'dual-publish' as const }] },
      sentence: '1 handler can announce one that never happened, 1 stores the event and still publishes it.',
    },
  ])('for $name', ({ result, sentence }) => {
    expect(figuresSentence(countFigures(result))).toBe(sentence);
  });
});

test('a handler that stores its event is not shown as losing it', () => {
  const text = renderPretty({ ...emptyResult, findings: [{ ...lostEvent, severity: 'warning', stage: 'dual-publish' }] }, { style, read });
  expect(text).toContain('dual-publish · nestjs-microservices · order.placed');
  expect(text).toContain('✓  a crash here loses nothing: order.placed is in the outbox');
  expect(text).toContain('rewrite OrderService.place --to outbox-only');
  expect(text).not.toContain('✗');
});
