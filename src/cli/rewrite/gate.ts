import type { Analysis } from '../../analysis/analysis.js';
import type { Finding } from '../../core/finding.js';
import type { Reason } from '../../core/outcome.js';
import { gateFor } from '../../plan/gates.js';
import type { Prepared } from '../../rewrite/execute.js';
import type { RewriteStage } from '../../rewrite/planner.js';
import type { CommandContext } from '../context.js';
import { projectFacts } from '../facts.js';
import { liveFigures } from '../figures.js';
import type { RewriteOptions } from '../options.js';

export interface GateQuestion {
  readonly analysis: Analysis;
  readonly finding: Finding;
  readonly to: RewriteStage;
}

/**
 * What stands against taking the legacy publish away. Dual-publish needs no gate here: the rewrite itself refuses without
 * the outbox's code, and until the table is migrated `store` fails where nothing is lost.
 */
export async function gateReasons(context: CommandContext, options: RewriteOptions, { analysis, finding, to }: GateQuestion): Promise<readonly Reason[]> {
  if (to !== 'outbox-only' || finding.stage !== 'dual-publish') return [];
  const handlerOf = (facts: ReturnType<typeof projectFacts>) => facts.handlers.find(({ file, findings }) => file === finding.handler.file && findings.includes(finding));
  const service = handlerOf(projectFacts(context, analysis))?.service;
  const { figures } = await liveFigures(context, { ...options, ...(service === undefined || service === '' ? {} : { service }) });
  const facts = projectFacts(context, analysis, figures);
  const handler = handlerOf(facts);
  return handler === undefined ? [] : gateFor(to, handler, facts);
}

/** The answer of a rewrite whose gate is closed. */
export function refusedBy(reasons: readonly Reason[]): Prepared {
  const hint: Reason = { code: 'gate-not-met', message: "The gate before outbox-only is not met; '--force <why>' passes it, and the commit says why." };
  return { changes: [], reasons: [...reasons, hint], codemod: null, followUps: [], typesChecked: false };
}
