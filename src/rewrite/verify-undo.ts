import { ts } from 'ts-morph';
import { analyse } from '../analysis/analyse.js';
import type { Analysis } from '../analysis/analysis.js';
import type { Config } from '../core/config.js';
import { ToolError } from '../core/errors.js';
import type { Stage } from '../core/finding.js';
import type { Reason } from '../core/outcome.js';
import { resolveServices, serviceOf } from '../workspace/services.js';
import type { Change } from '../workspace/sink.js';
import type { Workspace } from '../workspace/workspace.js';
import { parse } from './edits.js';
import { isSource, projectOf } from './project.js';
import type { RefusalCode } from './reasons.js';
import { checkTypes, syntaxErrors } from './types-check.js';
import { findRecord, hash, planUndo, undoRecords, type UndoPlan, type UndoRecord } from './undo.js';
import { leftover } from './undo-leftovers.js';
import { changed, difference, findingKey, subscriberKey } from './verify.js';

/** Whether an undo may be written. */
export interface UndoProof {
  /** Why it must not be; empty when it is proved. */
  readonly reasons: readonly Reason[];
  readonly typesChecked: boolean;
}

/** More files than this are not type-checked besides the changed ones. */
const maximumImporters = 60;

/** Proves an undo in memory: nothing that stays uses what goes, and scanning the result says that one handler or subscriber changed. */
export function proveUndo(workspace: Workspace, config: Config, plan: UndoPlan): UndoProof {
  const { changes } = plan;
  const after = changed(workspace, changes);
  for (const { file, after: text } of changes) {
    const [error] = text === null || !isSource(file) ? [] : syntaxErrors(parse(file, text));
    if (error !== undefined) return no(workspace, 'syntax-error', `'${file}' would not parse: ${error}.`, others(workspace, plan));
  }
  const used = leftover(after, changes);
  if (used !== null) return no(workspace, 'still-used', `Another rewrite uses what this one added: ${used}.`, culprits(workspace, plan));
  const types = checkTypes(workspace, [...changes.filter(({ file }) => isSource(file)), ...importers(workspace, changes)], serviceRoot(workspace, config, changes))?.errors ?? null;
  if (types !== null && types.length > 0) return no(workspace, 'type-errors', `The result would have new type errors: ${types.slice(0, 3).join('; ')}.`, others(workspace, plan).filter(({ files }) => files.some(({ file }) => types.some((error) => error.startsWith(`${file}: `)))));
  const differs = scanDifference(analyse(workspace, config), analyse(after, config), plan);
  if (differs !== null) return no(workspace, 'scan-differs', differs, others(workspace, plan));
  return { reasons: [], typesChecked: types !== null };
}

/** The changes that take a rewrite back. Where another rewrite has changed the same lines since, the error says which. */
export function prepareUndo(workspace: Workspace, subject: string, stages: readonly string[]): UndoPlan {
  const record = findRecord(workspace, subject, stages);
  try {
    return planUndo(workspace, record);
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'changed-since' || error.file === undefined) throw error;
    const now = hash(workspace.read(error.file) ?? '');
    const last = undoRecords(workspace).find((other) => other.path !== record.path && other.files.some(({ file, afterHash }) => file === error.file && afterHash === now));
    if (last === undefined) throw error;
    throw new ToolError(error.message, { code: 'changed-since', hint: `Undo '${last.name}' first, which changed it last: ${undoCommand(workspace, last)}. No file was changed.`, file: error.file });
  }
}

function undoCommand(workspace: Workspace, { name: short, file, stage }: UndoRecord): string {
  const isUnique = undoRecords(workspace).every((other) => other.name !== short || other.file === file);
  const name = isUnique ? short : `${file}#${short}`;
  return `'outboxify ${stage === 'inbox' ? `inbox ${name} --undo` : `rewrite ${name} --undo --to ${stage}`} --write'`;
}

function no(workspace: Workspace, code: RefusalCode, message: string, first: readonly UndoRecord[]): UndoProof {
  const commands = first.map((record) => undoCommand(workspace, record));
  const advice = commands.length === 0 ? 'Take it back by hand or with git.' : `Undo ${first.map(({ name }) => `'${name}'`).join(' or ')} first: ${commands.join(' or ')}.`;
  return { reasons: [{ code, message: `${message} ${advice} No file was changed.` }], typesChecked: false };
}

/** Rewrites whose undo would let this one through; where none does alone, all that share a file with it. */
function culprits(workspace: Workspace, plan: UndoPlan): readonly UndoRecord[] {
  const sharing = others(workspace, plan);
  const alone = sharing.filter((record) => {
    try {
      const without = changed(workspace, planUndo(workspace, record).changes);
      const { changes } = planUndo(without, plan.record);
      return leftover(changed(without, changes), changes) === null;
    } catch {
      return false; // its own lines have been edited since: undoing it is no way out
    }
  });
  return alone.length > 0 ? alone : sharing;
}

/** The other recorded rewrites that changed a file which this one changed. */
function others(workspace: Workspace, { record: own, changes }: UndoPlan): readonly UndoRecord[] {
  const files = new Set(changes.map(({ file }) => file));
  return undoRecords(workspace).filter((record) => record.path !== own.path && record.files.some(({ file }) => files.has(file)));
}

/** Files that may import a changed one, unchanged: they must compile with it, too. */
function importers(workspace: Workspace, changes: readonly Change[]): readonly Change[] {
  const own = new Set(changes.map(({ file }) => file));
  const names = [...own].filter(isSource).map((file) => (file.split('/').at(-1) ?? file).replace(/\.[^.]+$/, ''));
  const project = projectOf(workspace);
  const files = new Set(names.flatMap((name) => project.filesMentioning(`/${name}`)));
  // A file of the same name in another service is another module.
  const imports = (file: string): boolean => project.source(file)?.statements.some((statement) => {
    const specifier = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement) ? statement.moduleSpecifier : undefined;
    return specifier !== undefined && ts.isStringLiteral(specifier) && own.has(project.resolve(specifier.text, file) ?? '');
  }) ?? false;
  return [...files].filter((file) => !own.has(file) && imports(file)).slice(0, maximumImporters).map((file) => {
    const text = workspace.read(file);
    return { file, before: text, after: text };
  });
}

function serviceRoot(workspace: Workspace, config: Config, changes: readonly Change[]): string {
  const services = resolveServices(workspace, config);
  return (serviceOf(services, changes[0]?.file ?? '') ?? services[0])?.root ?? '.';
}

/** What scanning says to have changed besides the handler or subscriber; null: nothing, and it is where it was before its rewrite. */
function scanDifference(before: Analysis, after: Analysis, { record: { name, file, stage } }: UndoPlan): string | null {
  const isOwn = (symbol: { readonly file: string; readonly name: string }): boolean => symbol.name === name && symbol.file === file;
  const isHandler = stage !== 'inbox';
  const target: Stage = stage === 'outbox-only' ? 'dual-publish' : 'legacy';
  const wrong = isHandler ? after.result.findings.find((finding) => isOwn(finding.handler) && finding.stage !== target) : undefined;
  if (wrong !== undefined) return `'${name}' would be at '${wrong.stage}' and not at '${target}' (publish in ${wrong.publish.file}:${wrong.publish.line}).`;
  const guarded = isHandler ? undefined : after.result.subscribers.find((subscriber) => isOwn(subscriber) && subscriber.inbox);
  if (guarded !== undefined) return `'${name}' would still be behind its inbox (${guarded.file}:${guarded.line}).`;
  const handlers = (analysis: Analysis): readonly string[] => analysis.result.findings.filter(({ handler }) => !isOwn(handler)).map(findingKey);
  const subscribers = (analysis: Analysis): readonly string[] => analysis.result.subscribers.filter((subscriber) => isHandler || !isOwn(subscriber)).map(subscriberKey);
  const other = difference(handlers(before), handlers(after)) ?? difference(subscribers(before), subscribers(after));
  return other === null ? null : `Another handler or subscriber would change: ${other}.`;
}
