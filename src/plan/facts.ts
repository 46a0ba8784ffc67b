import { findCreatingMigration, readMigrations } from '../adapters/typeorm/migration-project.js';
import type { Config, ServiceConfig } from '../core/config.js';
import type { Subscriber } from '../core/finding.js';
import type { ScanResult } from '../core/report.js';
import type { TableRole } from '../schema/tables.js';
import type { EvidenceRecord } from '../workspace/evidence.js';
import { isInFolder, joinPath } from '../workspace/paths.js';
import { resolveServices, serviceOf } from '../workspace/services.js';
import type { Workspace } from '../workspace/workspace.js';
import type { ConsumerFigures, Figures, OutboxFigures } from '../schema/operations/figures.js';
import { handlersOf, type HandlerState } from './handlers.js';

/** What the code of a service shows of one table. */
export interface TableFacts {
  /** The migration that creates it; null: there is none. */
  readonly migration: string | null;
  /** Whether the generated code beside it is there. */
  readonly hasCode: boolean;
}

export interface ServiceFacts {
  readonly config: ServiceConfig;
  readonly outbox: TableFacts;
  readonly inbox: TableFacts;
  readonly hasRelay: boolean;
  /** Its handlers with a dual write or an outbox. */
  readonly handlers: readonly HandlerState[];
  readonly subscribers: readonly Subscriber[];
}

/** All that plan, gates, status and wizard decide by. */
export interface ProjectFacts {
  readonly services: readonly ServiceFacts[];
  /** Most painful first. */
  readonly handlers: readonly HandlerState[];
  readonly subscribers: readonly Subscriber[];
  readonly evidence: readonly EvidenceRecord[];
  /** What databases said just now, by service. */
  readonly figures: ReadonlyMap<string, Figures>;
  /** Milliseconds; what is older than a week is no evidence of how a relay does. */
  readonly now: number;
}

export interface FactsInput {
  readonly workspace: Workspace;
  readonly config: Config;
  readonly result: ScanResult;
  readonly evidence: readonly EvidenceRecord[];
  readonly figures?: ReadonlyMap<string, Figures>;
  readonly now: number;
}

export function factsOf({ workspace, config, result, evidence, figures = new Map(), now }: FactsInput): ProjectFacts {
  const services = resolveServices(workspace, config);
  const handlers = handlersOf(result, services);
  return {
    services: services.map((service) => ({
      config: service,
      outbox: tableFacts(workspace, config, { service, role: 'outbox', file: 'store.ts' }),
      inbox: tableFacts(workspace, config, { service, role: 'inbox', file: 'inbox.ts' }),
      hasRelay: workspace.files().some((file) => isInFolder(file, joinPath(service.outbox, 'relay'))),
      handlers: handlers.filter((handler) => handler.service === service.name),
      subscribers: result.subscribers.filter(({ file }) => serviceOf(services, file)?.name === service.name),
    })),
    handlers, subscribers: result.subscribers, evidence, figures, now,
  };
}

function tableFacts(workspace: Workspace, { tables }: Config, { service, role, file }: { readonly service: ServiceConfig; readonly role: TableRole; readonly file: string }): TableFacts {
  const directory = service.migrations?.directory;
  const migration = directory === undefined ? null : findCreatingMigration(readMigrations(workspace, directory), tables, role);
  return { migration: migration?.file ?? null, hasCode: workspace.read(joinPath(service.outbox, file)) !== null };
}

export function serviceFacts(facts: ProjectFacts, name: string): ServiceFacts | null {
  return facts.services.find(({ config }) => config.name === name) ?? null;
}

/** How a subscriber is named in the inbox table. */
export function consumerOf(facts: ProjectFacts, subscriber: Subscriber): string {
  const service = facts.services.find(({ subscribers }) => subscribers.includes(subscriber));
  return `${service?.config.name ?? ''}.${subscriber.name}`;
}

/** The cut-over of a service: the newest record of it. */
export function cutOverOf({ evidence }: ProjectFacts, service: string): EvidenceRecord | null {
  return evidence.findLast((record) => record.kind === 'cut-over' && record.service === service) ?? null;
}

/** What is known of a service's outbox: now, or as it was recorded within the last week. Undefined: nothing; null: the table is missing. */
export function outboxFigures(facts: ProjectFacts, service: string): Pick<OutboxFigures, 'oldestPendingSeconds' | 'lastSentAt'> & { readonly failed: number } | null | undefined {
  const live = facts.figures.get(service);
  if (live !== undefined) return live.outbox === null ? null : { ...live.outbox, failed: live.outbox.failed.count };
  const record = facts.evidence.findLast(({ kind, service: of }) => kind === 'outbox-figures' && of === service);
  if (record === undefined || !isRecent(facts, record)) return undefined;
  const { failed, oldestPendingSeconds, lastSentAt } = record.details;
  return { failed: Number(failed ?? 0), oldestPendingSeconds: oldestPendingSeconds === undefined ? null : Number(oldestPendingSeconds), lastSentAt: lastSentAt === undefined ? null : String(lastSentAt) };
}

/** What is known of the copies that a consumer's inbox turned away. Undefined: nothing. */
export function consumerFigures(facts: ProjectFacts, consumer: string): Pick<ConsumerFigures, 'messages' | 'duplicates'> | undefined {
  const seen = [...facts.figures.values()].flatMap(({ inbox }) => inbox?.consumers ?? []);
  const live = seen.find((figures) => figures.consumer === consumer);
  if (live !== undefined) return live;
  const record = facts.evidence.findLast(({ kind, subject }) => kind === 'inbox-figures' && subject === consumer);
  return record === undefined || !isRecent(facts, record) ? undefined : { messages: Number(record.details['messages'] ?? 0), duplicates: Number(record.details['duplicates'] ?? 0) };
}

const week = 7 * 24 * 60 * 60 * 1000;

function isRecent({ now }: ProjectFacts, { recordedAt }: EvidenceRecord): boolean {
  return now - Date.parse(recordedAt) <= week;
}
