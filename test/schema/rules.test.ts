import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRulePage } from '../../src/schema/rule-page.js';
import { schemaRules } from '../../src/schema/rules.js';

const directory = 'src/schema/rules';

describe('rules of the schema check', () => {
  it('are one file each, named after the rule', () => {
    const files = readdirSync(directory).filter((file) => file.endsWith('.ts')).map((file) => file.replace(/\.ts$/, ''));
    expect(schemaRules.map(({ id }) => id).sort()).toEqual(files.sort());
  });

  it.each(schemaRules.map(({ id, title }) => ({ id, title })))('$id has a page with problem and solution', ({ id, title }) => {
    const { problem, solution } = readRulePage(id);
    expect(problem).toMatch(/^\S.*\.$/m);
    expect(solution).toMatch(/```$/);
    const page = readFileSync(`${directory}/${id}.md`, 'utf8');
    expect(page.startsWith(`# ${title}\n\nRule \`${id}\`.\n\n## Problem\n\n`)).toBe(true);
    expect(page).toContain('\n## Solution\n\n');
  });

  it('are each reported by a fixture', () => {
    const fixtures = 'fixtures/schema/postgresql';
    expect(existsSync(fixtures)).toBe(true);
    const reported = new Set(readdirSync(fixtures).flatMap((file) => (/^-- expect: (.+)\n/.exec(readFileSync(`${fixtures}/${file}`, 'utf8'))?.[1] ?? '').split(' ')));
    expect(schemaRules.map(({ id }) => id).filter((id) => !reported.has(id))).toEqual([]);
  });
});
