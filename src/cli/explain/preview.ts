import type { Analysis } from '../../analysis/analysis.js';
import type { Config } from '../../core/config.js';
import type { Finding, Subscriber } from '../../core/finding.js';
import type { RewriteVerdict } from '../../report/json.js';
import { joinPath } from '../../workspace/paths.js';
import { resolveServices, serviceOf } from '../../workspace/services.js';
import { overlay, type Workspace } from '../../workspace/workspace.js';
import type { CommandContext } from '../context.js';

/** What the next rewrite of a finding's handler would do. */
export interface Preview extends RewriteVerdict {
  /** Unified diff; empty when it is not possible. */
  readonly patch: string;
}

export type PreviewOf = (finding: Finding) => Preview;

/**
 * Asks the rewrite for each finding that is shown. Where the tables' code is not there yet, the answer is what the
 * rewrite would do once it is, with that as a reason. Loaded here, so that a plain scan need not wait for it.
 */
export async function createPreview(analysis: Analysis, { workspace, config }: Pick<CommandContext, 'workspace' | 'config'>): Promise<PreviewOf> {
  const { previewRewrite } = await import('../../rewrite/execute.js');
  const services = resolveServices(workspace, config);
  const complete: Config = { ...config, services };
  const withOutbox = await addOutbox(workspace, complete);
  return (finding) => {
    const preview = previewRewrite({ analysis, workspace: withOutbox, config: complete }, finding);
    const service = serviceOf(services, finding.handler.file);
    if (!preview.possible || !service || workspace.read(storeOf(service.outbox)) !== null) return preview;
    const message = `'${storeOf(service.outbox)}' is missing. Run 'outboxify migration outbox --service ${service.name} --write' first.`;
    return { ...preview, reasons: [{ code: 'no-outbox', message }] };
  };
}

/** Asks for each subscriber whether its inbox can be put in. Where the inbox's code is not there yet, the answer is as if it were. */
export async function createInboxPreview(analysis: Analysis, { workspace, config }: Pick<CommandContext, 'workspace' | 'config'>): Promise<(subscriber: Subscriber) => RewriteVerdict> {
  const { previewInbox } = await import('../../rewrite/execute.js');
  const services = resolveServices(workspace, config);
  const missing = services.map(({ outbox }) => joinPath(outbox, 'inbox.ts')).filter((file) => workspace.read(file) === null);
  const withInbox = overlay(workspace, new Map(missing.map((file) => [file, 'export async function isFirstDelivery() {}\n'])));
  return (subscriber) => previewInbox({ analysis, workspace: withInbox, config: { ...config, services } }, subscriber);
}

async function addOutbox(workspace: Workspace, { services, tables }: Config): Promise<Workspace> {
  const missing = services.filter(({ orm, outbox }) => orm !== null && workspace.read(storeOf(outbox)) === null);
  if (missing.length === 0) return workspace;
  const [{ renderOutboxFiles }, { codeStyleOf }] = await Promise.all([import('../../templates/place.js'), import('../../templates/code-style.js')]);
  const files = missing.flatMap((service) => renderOutboxFiles(service, tables, codeStyleOf(workspace, service)));
  return overlay(workspace, new Map(files.map(({ file, content }) => [file, content])));
}

function storeOf(outbox: string): string {
  return joinPath(outbox, 'store.ts');
}
