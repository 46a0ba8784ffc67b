import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { changedFiles, createProject, findHandler, openProject, planCase, prepareCase, readCases, readTree, undo, updateExpected, variants, write, type Case, type Variant } from './harness.js';
import { applyEdits } from '../../src/core/edit.js';
import { refusalReasons } from '../../src/rewrite/reasons.js';

const cases = readCases();
const update = process.env['UPDATE_FIXTURES'] === '1';

describe.each(cases.filter(({ name }) => !name.startsWith('skip-')))('$codemod/$name', (fixture) => {
  it.each(update ? (['plain'] as const) : (['plain', 'crlf', 'tabs'] as const))('%s', async (variant) => {
    await rewrite(fixture, variant);
  });
});

async function rewrite(fixture: Case, variant: Variant): Promise<void> {
  const project = createProject(fixture, variant, variant === 'plain');
  try {
    const input = openProject(project.folder);
    if (fixture.handler !== undefined) {
      expect([...new Set(input.analysis.result.findings.map(({ handler, kind, stage }) => `${handler.name} ${kind} ${stage}`))], 'scan finds exactly the marked handler')
        .toEqual([`${fixture.handler} ${fixture.kind ?? 'lost-event'} ${fixture.to === 'outbox-only' ? 'dual-publish' : 'legacy'}`]);
    }
    const planned = planCase(input, fixture);
    const prepared = await prepareCase(input, fixture);
    expect(prepared.reasons, 'the rewrite is proved').toEqual([]);
    expect(prepared.codemod).toBe(fixture.codemod);
    expect(prepared.typesChecked).toBe(variant === 'plain');
    if (planned?.result.kind !== 'edits') throw new Error('no edits');
    for (const file of new Set(planned.result.edits.map((edit) => edit.file))) {
      const own = planned.result.edits.filter((edit) => edit.file === file);
      const before = project.input.get(file) ?? '';
      const after = prepared.changes.find((change) => change.file === file)?.after ?? '';
expect(applyEdits(before, own), `${file}: bytes outside of the edits are unchanged`).toBe(after);
    }
    write(project.folder, input, prepared);
    const changed = changedFiles(project.input, readTree(project.folder));
    if (update) return updateExpected(fixture, changed);
    const expected = new Map([...readTree(path.join(fixture.folder, 'expected'))].map(([file, text]) => [file, variants[variant](text)]));
    expect(Object.fromEntries(changed)).toEqual(Object.fromEntries(expected));
    const again = planCase(openProject(project.folder), fixture);
    expect(again === null ? [] : again.result.kind === 'edits' ? again.result.edits : [], 'a second run makes no edit').toEqual([]);
    undo(project.folder);
    expect(Object.fromEntries(readTree(project.folder)), 'undo gives back the input').toEqual(Object.fromEntries(project.input));
  } finally {
    project.remove();
  }
}

describe.each(cases.filter(({ name }) => name.startsWith('skip-')))('$codemod/$name', (fixture) => {
  it('is refused with its reason, and nothing is changed', async () => {
    expect(Object.keys(refusalReasons)).toContain(fixture.reason);
    const project = createProject(fixture, 'plain', fixture.types === true);
    try {
      const input = openProject(project.folder);
      if (fixture.handler !== undefined) expect(findHandler(input, fixture), 'scan finds the marked handler').toBeDefined();
      const prepared = await prepareCase(input, fixture);
      expect({ reasons: prepared.reasons.map(({ code }) => code), changes: prepared.changes }).toEqual({ reasons: [fixture.reason], changes: [] });
      expect(prepared.reasons.map(({ message }) => message).join()).toContain(fixture.says ?? '');
      expect(Object.fromEntries(readTree(project.folder))).toEqual(Object.fromEntries(project.input));
    } finally {
      project.remove();
    }
  });
});

it('at least two of five cases are refusals', () => {
  expect(cases.filter(({ name }) => name.startsWith('skip-')).length / cases.length).toBeGreaterThanOrEqual(0.4);
});
