import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyse } from '../../src/analysis/analyse.js';
import type { Finding, Subscriber } from '../../src/core/finding.js';
import { contextFor, prepareInbox, prepareRewrite, type Prepared, type RewriteInput } from '../../src/rewrite/execute.js';
import { findingsOfHandler, planInbox, planRewrite, type Planned } from '../../src/rewrite/planner.js';
import { findRecord, planUndo, recordUndo } from '../../src/rewrite/undo.js';
import { completeConfig, readConfig } from '../../src/workspace/config.js';
import { openWorkspace } from '../../src/workspace/disk.js';
import { diskSink } from '../../src/workspace/sink.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const fixtures = path.join(root, 'fixtures/codemods');

/** What `case.json` says of a fixture. */
export interface CaseFile {
  /** Handler or subscriber that is rewritten. */
  readonly handler?: string;
  readonly subscriber?: string;
  /** Kind that the scan gives the handler. */
  readonly kind?: 'lost-event' | 'phantom-event';
  /** Stage to reach; `dual-publish` when missing. */
  readonly to?: 'dual-publish' | 'outbox-only';
  readonly event?: string;
  readonly force?: string;
  /** Reason id of a skip. */
  readonly reason?: string;
  /** What the message of a skip says, in part. */
  readonly says?: string;
  /** The refusal of a skip comes from the compiler. */
  readonly types?: boolean;
}

export interface Case extends CaseFile {
  readonly codemod: string;
  readonly name: string;
  readonly folder: string;
}

export function readCases(): readonly Case[] {
  return readdirSync(fixtures).filter((codemod) => !codemod.startsWith('_')).flatMap((codemod) => readdirSync(path.join(fixtures, codemod)).map((name) => {
    const folder = path.join(fixtures, codemod, name);
    return { codemod, name, folder, ...(JSON.parse(readFileSync(path.join(folder, 'case.json'), 'utf8')) as CaseFile) };
  }));
}

/** How the files of a case are written: as they stand, with CRLF, with tabs. */
export const variants = {
  plain: (text: string): string => text,
  crlf: (text: string): string => text.replaceAll('\n', '\r\n'),
  tabs: (text: string): string => text.replace(/^(?: {2})+/gm, (spaces) => '\t'.repeat(spaces.length / 2)),
} as const;

export type Variant = keyof typeof variants;

export type Tree = ReadonlyMap<string, string>;

export function readTree(folder: string, prefix = ''): Map<string, string> {
  const tree = new Map<string, string>();
  if (!existsSync(folder)) return tree;
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (name === 'node_modules') continue;
    if (statSync(file).isDirectory()) for (const [key, value] of readTree(file, `${prefix}${name}/`)) tree.set(key, value);
    else tree.set(`${prefix}${name}`, readFileSync(file, 'utf8'));
  }
  return tree;
}

/** A copy of a case's project in a folder of its own. Types can be had only where `withTypes` says so: they take seconds. */
export function createProject(fixture: Case, variant: Variant, withTypes: boolean): { readonly folder: string; readonly input: Tree; remove(): void } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'outboxify-codemod-'));
  const input = new Map([...readTree(path.join(fixtures, '_base')), ...readTree(path.join(fixture.folder, 'input'))]);
  const written = new Map([...input].map(([file, text]) => [file, file.endsWith('.ts') ? variants[variant](text) : text]));
  for (const [file, text] of written) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  if (withTypes) symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  return { folder, input: written, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export function openProject(folder: string): RewriteInput {
  const draft = readConfig(folder, undefined);
  const workspace = openWorkspace(folder, draft);
  const config = completeConfig(draft, workspace);
  return { workspace, config, analysis: analyse(workspace, config) };
}

export function findHandler(input: RewriteInput, fixture: Case): Finding | undefined {
  return input.analysis.result.findings.find(({ handler }) => handler.name === fixture.handler);
}

export function findSubscriber(input: RewriteInput, fixture: Case): Subscriber | undefined {
  return input.analysis.result.subscribers.find(({ name }) => name === fixture.subscriber);
}

export async function prepareCase(input: RewriteInput, fixture: Case): Promise<Prepared> {
  const wishes = { ...(fixture.event === undefined ? {} : { event: fixture.event }), ...(fixture.force === undefined ? {} : { force: fixture.force }) };
  if (fixture.subscriber !== undefined) {
    const subscriber = findSubscriber(input, fixture);
    if (subscriber === undefined) throw new Error(`no subscriber '${fixture.subscriber}'; there are: ${input.analysis.result.subscribers.map(({ name }) => name).join(', ')}`);
    return prepareInbox(input, subscriber, wishes);
  }
  const finding = findHandler(input, fixture);
  const findings = finding === undefined ? null : findingsOfHandler(input.analysis, finding);
  if (findings === null) throw new Error(`no finding of '${fixture.handler ?? ''}'; there are: ${input.analysis.result.findings.map(({ handler }) => handler.name).join(', ')}`);
  return prepareRewrite(input, findings, fixture.to ?? 'dual-publish', wishes);
}

/** The plan alone, without proof: null when nothing is left to plan. */
export function planCase(input: RewriteInput, fixture: Case): Planned | null {
  if (fixture.subscriber !== undefined) {
    const subscriber = findSubscriber(input, fixture);
    return subscriber === undefined ? null : planInbox(subscriber, contextFor(input, subscriber.file, {}));
  }
  const finding = findHandler(input, fixture);
  const findings = finding === undefined ? null : findingsOfHandler(input.analysis, finding);
  return finding === undefined || findings === null ? null : planRewrite(findings, fixture.to ?? 'dual-publish', contextFor(input, finding.handler.file, { ...(fixture.event === undefined ? {} : { event: fixture.event }), ...(fixture.force === undefined ? {} : { force: fixture.force }) }));
}

/** Writes what was prepared, with its undo record. */
export function write(folder: string, input: RewriteInput, prepared: Prepared): void {
  diskSink(folder).apply([...prepared.changes, recordUndo(input.workspace, { name: 'case', file: 'case.ts', destination: null, stage: 'test' }, prepared.changes)]);
}

export function undo(folder: string): void {
  const { workspace } = openProject(folder);
  diskSink(folder).apply(planUndo(workspace, findRecord(workspace, 'case', ['test'])).changes);
}

/** Files that differ from `input` in the tree after a rewrite, without the undo record. */
export function changedFiles(input: Tree, after: Tree): Map<string, string> {
  return new Map([...after].filter(([file, text]) => !file.startsWith('.outboxify/') && input.get(file) !== text));
}

/** Stores the result of a case as its `expected/`. */
export function updateExpected(fixture: Case, changed: Tree): void {
  if (process.env['CI'] === 'true') throw new Error('UPDATE_FIXTURES is refused in CI');
  const folder = path.join(fixture.folder, 'expected');
  rmSync(folder, { recursive: true, force: true });
  for (const [file, text] of changed) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
}

