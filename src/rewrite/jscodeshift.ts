import path from 'node:path';
import type { API, FileInfo, Options } from 'jscodeshift';
import type { HandlerCodemod, SubscriberCodemod } from './codemod.js';
import type { Prepared, RewriteInput } from './execute.js';

/** A transform of jscodeshift. `undefined` leaves the file alone. */
export type Transform = (file: FileInfo, api: API, options: Options) => Promise<string | undefined>;

/**
 * Makes a codemod run alone: `npx jscodeshift -t <this file> src/orders.service.ts`. It analyses the project around the
 * file (or `--project <dir>`) and rewrites what is at the codemod's stage in that file, proved as by the command.
 * What would change other files, too, is reported and left alone: `outboxify rewrite` and `outboxify inbox` do that.
 */
export function standalone(codemod: HandlerCodemod | SubscriberCodemod): Transform {
  return async (file, api, options) => {
    const { analyse } = await import('../analysis/analyse.js');
    const { completeConfig, readConfig } = await import('../workspace/config.js');
    const { openWorkspace } = await import('../workspace/disk.js');
    const { overlay } = await import('../workspace/workspace.js');
    const absolute = path.resolve(file.path);
    const root = typeof options['project'] === 'string' ? path.resolve(options['project']) : await projectRoot(absolute);
    const draft = readConfig(root, undefined);
    const disk = openWorkspace(root, draft);
    const relative = path.relative(disk.root, absolute).split(path.sep).join('/');
    let text = file.source;
    const refused = new Set<string>();
    // One at a time: the next one starts from the file as it is then.
    for (;;) {
      const workspace = overlay(disk, new Map([[relative, text]]));
      const config = completeConfig(draft, workspace);
      const next = await prepareNext({ workspace, config, analysis: analyse(workspace, config) }, { codemod: codemod.id, file: relative, refused, options });
      if (next === null) return text === file.source ? undefined : text;
      const other = next.prepared.changes.find((change) => change.file !== relative);
      const [reason] = next.prepared.reasons;
      const after = next.prepared.changes.find((change) => change.file === relative)?.after;
      if (reason !== undefined) api.report(`${next.name}: ${reason.message} (${reason.code})`);
      else if (other !== undefined) api.report(`${next.name}: '${other.file}' would change, too. Run 'outboxify ${next.command}'.`);
      else if (after != null) text = after;
      if (reason !== undefined || other !== undefined || after == null) refused.add(next.name);
    }
  };
}

interface Scope {
  readonly codemod: string;
  readonly file: string;
  readonly refused: ReadonlySet<string>;
  readonly options: Options;
}

interface Next {
  readonly name: string;
  readonly command: string;
  readonly prepared: Prepared;
}

/** The next handler or subscriber of the file that this codemod is for. */
async function prepareNext(input: RewriteInput, scope: Scope): Promise<Next | null> {
  const { contextFor, prepareInbox, prepareRewrite } = await import('./execute.js');
  const { findingsOfHandler, planInbox, planRewrite } = await import('./planner.js');
  const force = typeof scope.options['force'] === 'string' ? { force: scope.options['force'] } : {};
  const context = contextFor(input, scope.file, force);
  for (const finding of input.analysis.result.findings) {
    const { name, file } = finding.handler;
    const findings = findingsOfHandler(input.analysis, finding);
    if (file !== scope.file || scope.refused.has(name) || findings === null) continue;
    const to = finding.stage === 'legacy' ? 'dual-publish' : 'outbox-only';
    if (planRewrite(findings, to, context).codemod !== scope.codemod) continue;
    return { name, command: `rewrite ${name} --to ${to}`, prepared: await prepareRewrite(input, findings, to, force) };
  }
  for (const subscriber of input.analysis.result.subscribers) {
    const { name, file, inbox } = subscriber;
    if (file !== scope.file || inbox || scope.refused.has(name) || planInbox(subscriber, context).codemod !== scope.codemod) continue;
    return { name, command: `inbox ${name}`, prepared: await prepareInbox(input, subscriber, force) };
  }
  return null;
}

/** The nearest folder with a package.json. */
async function projectRoot(file: string): Promise<string> {
  const { openWorkspace } = await import('../workspace/disk.js');
  for (let folder = path.dirname(file); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    if (openWorkspace(folder, { exclude: [] }).read('package.json') !== null) return folder;
  }
  return path.dirname(file);
}
