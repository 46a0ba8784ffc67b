import type { ServiceConfig } from '../../src/core/config.js';
import type { Finding, Stage, Subscriber } from '../../src/core/finding.js';
import type { ScanResult } from '../../src/core/report.js';
import { factsOf, type FactsInput, type ProjectFacts } from '../../src/plan/facts.js';
import { memoryWorkspace } from '../../src/workspace/workspace.js';
import { emptyResult, lostEvent } from '../report/sample.js';

export interface FindingSketch {
  readonly name: string;
  readonly event?: string;
  readonly kind?: Finding['kind'];
  readonly entry?: Finding['handler']['entry'];
  readonly awaited?: boolean;
  readonly stage?: Stage;
  readonly file?: string;
}

/** A finding by what matters to the plan. */
export function finding({ name, event = 'order.placed', kind = 'lost-event', entry = 'http', awaited = true, stage = 'legacy', file = 'src/orders.ts' }: FindingSketch): Finding {
  const span = { file, start: [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 100_000, end: 200_000 };
  return {
    ...lostEvent, id: `${file}:${name}:${event}`, kind, stage,
    handler: { file, line: 1, name, entry, span },
    publish: { ...lostEvent.publish, file, destination: event, awaited, route: { ...lostEvent.publish.route, pattern: event } },
  };
}

export function subscriber(name: string, destination: string | null, inbox = false, file = 'src/subscriber.ts'): Subscriber {
  return { file, line: 9, name, bus: 'nest', destination, inbox, writes: true, span: { file, start: 0, end: 9 } };
}

export const service: ServiceConfig = {
  name: 'orders', root: '.', orm: 'typeorm', buses: [], database: 'postgresql', outbox: 'src/outbox', databaseUrlEnv: 'DATABASE_URL',
  migrations: { tool: 'typeorm', directory: 'src/migrations' },
};

export const migrated: Readonly<Record<string, string>> = {
  'src/outbox/store.ts': 'export {};',
  'src/migrations/1-create-outbox.ts': 'class A { async up(q) { await q.query(`CREATE TABLE "outbox" (id uuid)`); } }',
};

/** Facts of a project with one service. */
export function facts(input: { readonly files?: Readonly<Record<string, string>>; readonly result?: Partial<ScanResult> } & Partial<Pick<FactsInput, 'evidence' | 'figures'>>): ProjectFacts {
  return factsOf({
    workspace: memoryWorkspace(input.files ?? {}),
    config: { schemaVersion: 1, exclude: [], publishers: [], writers: [], tables: { outbox: 'outbox', inbox: 'inbox', schema: null }, services: [service] },
    result: { ...emptyResult, ...input.result },
    evidence: input.evidence ?? [],
    now: Date.parse('2026-03-08T00:00:00Z'),
    ...(input.figures === undefined ? {} : { figures: input.figures }),
  });
}
