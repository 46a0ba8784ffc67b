/** The programmatic interface: what `outboxify scan` and `outboxify check --db` are made of. */
export { analyse, type AnalyseOptions } from './analysis/analyse.js';
export type { Analysis } from './analysis/analysis.js';
export type { Config } from './core/config.js';
export type { Finding, FindingKind, SafePublish, Stage, Subscriber, Unresolved } from './core/finding.js';
export type { Problem } from './core/problem.js';
export type { ScanResult } from './core/report.js';
export { checkUrl, type SchemaCheck } from './schema/check.js';
export { completeConfig, readConfig } from './workspace/config.js';
export { openWorkspace } from './workspace/disk.js';
export type { Workspace } from './workspace/workspace.js';
