import type { Progress } from '../plan/next.js';
import { baselineFile, parseBaseline } from '../workspace/baseline.js';
import { configFileName } from '../workspace/config.js';
import type { CommandContext } from './context.js';
import { createInboxPreview, createPreview } from './explain/preview.js';
import type { ReadProject } from './facts.js';
import { planFile } from './plan/index.js';

/** How far the project is, and what can be done next. */
export async function readProgress(context: CommandContext, { analysis, facts }: ReadProject): Promise<Progress> {
  const { workspace } = context;
  const preview = await createPreview(analysis, context);
  const inboxPreview = await createInboxPreview(analysis, context);
  return {
    facts,
    hasConfig: workspace.read(configFileName) !== null,
    hasPlan: workspace.read(planFile) !== null,
    hasBaseline: parseBaseline(workspace.read(baselineFile)) !== null,
    // The gate has its own place; the rewrite knows of none and refuses for it.
    canInbox: (subscriber) => inboxPreview(subscriber).possible,
    canRewrite: ({ findings }) => findings.map(preview).every(({ possible, reasons }) => possible || reasons.every(({ code }) => code === 'gate-not-met')),
  };
}
