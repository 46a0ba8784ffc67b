import { findingRules, safeReasons, stageTexts } from '../../report/rules.js';
import { refusalReasons } from '../../rewrite/reasons.js';

/** A rule, reason or stage that `explain` knows by its id. */
export interface ExplainedRule {
  readonly id: string;
  readonly group: 'finding' | 'safe publish' | 'stage' | 'refusal of a rewrite';
  readonly text: string;
  readonly pain: string | null;
  readonly cure: string | null;
}

/** Looks an id up among findings, reasons for a safe publish, stages and refusals. */
export function findRule(id: string): ExplainedRule | null {
  return allRules().find((rule) => rule.id === id) ?? null;
}

export function ruleIds(): readonly string[] {
  return allRules().map(({ id }) => id);
}

function allRules(): readonly ExplainedRule[] {
  return [
    ...Object.values(findingRules).map(({ id, problem, pain, cure }): ExplainedRule => ({ id, group: 'finding', text: problem, pain, cure })),
    ...plain('safe publish', safeReasons),
    ...plain('stage', stageTexts),
    ...plain('refusal of a rewrite', refusalReasons),
  ];
}

function plain(group: ExplainedRule['group'], texts: Readonly<Record<string, string>>): readonly ExplainedRule[] {
  return Object.entries(texts).map(([id, text]) => ({ id, group, text, pain: null, cure: null }));
}
