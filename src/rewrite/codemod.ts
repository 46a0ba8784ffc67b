import type { Analysis } from '../analysis/analysis.js';
import type { ServiceConfig } from '../core/config.js';
import type { Finding, Subscriber } from '../core/finding.js';
import type { CodemodResult, Reason } from '../core/outcome.js';
import type { Workspace } from '../workspace/workspace.js';

/** What a codemod may look at. It reads nothing else. */
export interface CodemodContext {
  readonly workspace: Workspace;
  readonly analysis: Analysis;
  /** The service that the handler or subscriber belongs to. */
  readonly service: ServiceConfig;
  /** Name of the event, when the user gives one. */
  readonly event: string | null;
  /** What is not met yet of the gate before outbox-only. */
  readonly gate: readonly Reason[];
  /** Why the user overrides a gate; null: they do not. */
  readonly force: string | null;
  /** The aggregate of the stored event. */
  readonly aggregate: {
    /** What the user says; null: told from the code. */
    readonly type: string | null;
    readonly id: string | null;
    /** False: the event's own id stands for the aggregate, where the user gives none. */
    readonly infer: boolean;
  };
}

/** All findings of one handler: they are rewritten together or not at all. */
export type HandlerFindings = readonly [Finding, ...Finding[]];

/** A codemod for handlers. Pure: the same input gives the same result. */
export interface HandlerCodemod {
  readonly id: string;
  readonly title: string;
  plan(findings: HandlerFindings, context: CodemodContext): CodemodResult;
}

/** A codemod for subscribers. Pure: the same input gives the same result. */
export interface SubscriberCodemod {
  readonly id: string;
  readonly title: string;
  plan(subscriber: Subscriber, context: CodemodContext): CodemodResult;
}
