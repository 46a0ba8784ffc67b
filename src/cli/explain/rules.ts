import { codeRules } from '../../plan/code-rules.js';
import { gateReasons } from '../../plan/reasons.js';
import { findingRules, safeReasons, stageTexts } from '../../report/rules.js';
import { refusalReasons } from '../../rewrite/reasons.js';
import { readRulePage } from '../../schema/rule-page.js';
import { schemaRules } from '../../schema/rules.js';

/** A rule, reason or stage that `explain` knows by its id. */
export interface ExplainedRule {
  readonly id: string;
  readonly group: 'finding' | 'safe publish' | 'stage' | 'refusal of a rewrite' | 'gate that is not met' | 'rule of check';
  readonly text: string;
  readonly pain: string | null;
  readonly cure: string | null;
}

/** Looks an id up among findings, reasons for a safe publish, stages and refusals. */
export function findRule(id: string): ExplainedRule | null {
  const schemaRule = schemaRules.find((rule) => rule.id === id);
  if (schemaRule === undefined) return allRules().find((rule) => rule.id === id) ?? null;
  const { problem, solution } = readRulePage(id);
  return { id, group: 'rule of check', text: `${schemaRule.title}.`, pain: indented(problem), cure: indented(solution) };
}

export function ruleIds(): readonly string[] {
  return [...allRules(), ...schemaRules].map(({ id }) => id);
}

function allRules(): readonly ExplainedRule[] {
  return [
    ...Object.values(findingRules).map(({ id, problem, pain, cure }): ExplainedRule => ({ id, group: 'finding', text: problem, pain, cure })),
    ...plain('safe publish', safeReasons),
    ...plain('stage', stageTexts),
    ...plain('refusal of a rewrite', refusalReasons),
    ...plain('gate that is not met', gateReasons),
    ...codeRules.map(({ id, title, problem, solution }): ExplainedRule => ({ id, group: 'rule of check', text: `${title}.`, pain: problem, cure: solution.replaceAll('`', "'") })),
  ];
}

/** A page without its code fences, below a heading. */
function indented(text: string): string {
  return text.replace(/^```\w*\n?/gm, '').replaceAll(/\n+/g, '\n  ').trim();
}

function plain(group: ExplainedRule['group'], texts: Readonly<Record<string, string>>): readonly ExplainedRule[] {
  return Object.entries(texts).map(([id, text]) => ({ id, group, text, pain: null, cure: null }));
}
