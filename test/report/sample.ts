import type { Finding, Publish, Write } from '../../src/core/finding.js';
import type { Span } from '../../src/core/place.js';
import type { ScanResult } from '../../src/core/report.js';

export const orderService = `import { Repository } from 'typeorm';

export class OrderService {
  constructor(private readonly orders: OrdersRepository, private readonly client: ClientProxy) {}

  async place(draft: Draft): Promise<void> {
    const order = await this.orders.add(draft);
    this.client.emit('order.placed', {
      orderId: order.id,
      total: order.total,
    });
  }

  async cancel(id: string): Promise<void> {
    await this.client.emit('order.cancelled', { id });
    await this.table.update(id, { state: 'cancelled' });
  }
}
`;

const file = 'src/orders/order.service.ts';

/** The span of the first occurrence of a text. */
export function spanOf(source: string, text: string, inFile = file): Span {
  const start = source.indexOf(text);
  if (start === -1) throw new Error(`not in the source: ${text}`);
  return { file: inFile, start, end: start + text.length };
}

const route = { transport: 'nest', client: 'ORDERS', pattern: 'order.placed', exchange: null, routingKey: null, queue: null } as const;

const emitted = orderService.slice(orderService.indexOf('this.client.emit(\'order.placed\''), orderService.indexOf('});') + 2);

export const placed: Publish = {
  file, line: 8, bus: 'nestjs-microservices', transport: 'broker', destination: 'order.placed', awaited: false, path: [],
  span: spanOf(orderService, emitted), message: null, route, isCommand: false,
};

const added: Write = {
  file: 'src/orders/orders.repository.ts', line: 19, orm: 'typeorm', operation: 'save', target: 'Order',
  path: [
    { file, line: 7, function: 'OrderService.place', span: spanOf(orderService, 'this.orders.add(draft)') },
    { file: 'src/orders/orders.repository.ts', line: 12, function: 'OrdersRepository.add', span: { file: 'src/orders/orders.repository.ts', start: 0, end: 1 } },
  ],
  span: { file: 'src/orders/orders.repository.ts', start: 5, end: 9 }, receiver: null, transaction: null, order: 'committed',
};

export const lostEvent: Finding = {
  id: '7f3a2c0011aa', kind: 'lost-event', severity: 'error', confidence: 'high', stage: 'legacy',
  handler: { file, line: 6, name: 'OrderService.place', entry: 'http', span: spanOf(orderService, 'place(draft') },
  publish: placed,
  writes: [added],
  witness: [
    { step: 1, file, line: 6, role: 'entry', text: 'OrderService.place is called' },
    { step: 2, file: 'src/orders/orders.repository.ts', line: 19, role: 'commit', text: 'Order is committed' },
    { step: 3, file, line: 7, role: 'crash', text: 'a crash here loses order.placed' },
    { step: 4, file, line: 8, role: 'publish', text: 'order.placed is published' },
  ],
};

export const phantomEvent: Finding = {
  id: 'b00b135e0042', kind: 'phantom-event', severity: 'warning', confidence: 'medium', stage: 'legacy',
  handler: { file, line: 14, name: 'OrderService.cancel', entry: 'command', span: spanOf(orderService, 'cancel(id') },
  publish: {
    ...placed, line: 15, destination: 'order.cancelled', awaited: true, span: spanOf(orderService, "this.client.emit('order.cancelled', { id })"),
    route: { ...route, pattern: 'order.cancelled' },
  },
  writes: [{ ...added, file, line: 16, operation: 'update', path: [], span: spanOf(orderService, "this.table.update(id, { state: 'cancelled' })") }],
  witness: [
    { step: 1, file, line: 15, role: 'publish', text: 'order.cancelled is published' },
    { step: 2, file, line: 16, role: 'write', text: 'Order is updated' },
  ],
};

export const emptyResult: ScanResult = {
  root: '/project', stats: { files: 0, parsed: 0, milliseconds: 0 }, findings: [], safe: [], subscribers: [], unresolved: [], skipped: [], unread: [], beside: null, stacks: { hasOrm: true, unsupported: [], supported: ['TypeORM'] },
};

export const sampleResult: ScanResult = {
  root: '/project',
  stats: { files: 1204, parsed: 37, milliseconds: 912.6 },
  findings: [lostEvent, phantomEvent],
  safe: [{ file: 'src/ping.ts', line: 3, bus: 'amqplib', reason: 'no-write', destination: null, handler: null, span: { file: 'src/ping.ts', start: 1, end: 2 } }],
  subscribers: [{ file: 'src/mail.ts', line: 9, name: 'Mail.onPlaced', bus: 'amqplib', destination: null, inbox: false, writes: true, span: { file: 'src/mail.ts', start: 1, end: 2 } }],
  unresolved: [{ file: 'src/odd.ts', line: 4, text: 'this.sender.push(event)', hint: "Name it under 'publishers' in outboxify.json." }],
  skipped: [{ file: 'src/generated.ts', reason: 'too-large', message: '5.0 MB; files over 2 MB are passed over' }],
  unread: [], beside: null, stacks: { hasOrm: true, unsupported: [], supported: ['TypeORM'] },
};

/** What a hostile or careless author may call things. */
export const hostileTexts = [
  'plain',
  'two\nlines',
  'carriage\r\nreturn',
  'a\rb',
  '::error file=x::gotcha',
  '\n::error file=x,line=1::gotcha',
  '%0A::warning::x',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "it's \"quoted\"",
  'a|b|c',
  '`code` and ``more``',
  '*bold* _em_ [link](x) # no',
  '</td></table>',
  '&amp; & &#39;',
  '\u001b[31mred\u001b[0m',
  'ends with a backslash\\',
  'right\u202eleft',
  'comma, colon: and %',
  '',
] as const;

/** The sample with one text in every place that comes from the project. */
export function hostileResult(text: string): ScanResult {
  const path = text.replace(/[/\\]/g, '') || 'empty';
  const place = { file: `src/${path}.ts`, line: 3 };
  const finding: Finding = {
    ...lostEvent,
    handler: { ...lostEvent.handler, ...place, name: text },
    publish: { ...lostEvent.publish, ...place, bus: text, destination: text },
    writes: [{ ...added, ...place, target: text, orm: text, operation: text, path: [{ ...place, function: text, span: { file: place.file, start: 0, end: 5 } }] }],
    witness: [{ ...place, step: 1, role: 'write', text }],
  };
  return {
    ...sampleResult,
    root: `/project/${path}`,
    findings: [finding],
    safe: [{ ...place, bus: text, reason: 'no-write', destination: null, handler: null, span: { file: place.file, start: 0, end: 1 } }],
    subscribers: [{ ...place, name: text, bus: text, destination: text, inbox: true, writes: false, span: { file: place.file, start: 0, end: 1 } }],
    unresolved: [{ ...place, text, hint: text }],
    skipped: [{ file: place.file, reason: 'unparsable', message: text }],
  };
}
