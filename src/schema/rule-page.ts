import { readPackageFile } from '../workspace/package.js';

/** The page of a rule of the schema check. */
export interface RulePage {
  readonly problem: string;
  readonly solution: string;
}

/** Reads `rules/<id>.md`, which ships with the package. */
export function readRulePage(id: string): RulePage {
  const text = readPackageFile(`src/schema/rules/${id}.md`).replaceAll('\r\n', '\n');
  const [, problem, solution] = /\n## Problem\n\n([\s\S]*?)\n\n## Solution\n\n([\s\S]*?)\s*$/.exec(text) ?? [];
  if (problem === undefined || solution === undefined) throw new Error(`the page of rule '${id}' has no problem and solution`);
  return { problem, solution };
}
