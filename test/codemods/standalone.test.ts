import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createProject, fixtures, readCases, root } from './harness.js';

const saveThenEmit = () => {
  const found = readCases().find(({ codemod, name }) => codemod === 'dual-publish-direct' && name === 'save-then-emit');
  if (found === undefined) throw new Error('the fixture save-then-emit is missing');
  return found;
};
const source = 'src/parcels.service.ts';
const expected = path.join(fixtures, 'dual-publish-direct/save-then-emit/expected');

async function transform(folder: string): Promise<{ readonly text: string | undefined; readonly reports: readonly string[] }> {
  const { default: run } = await import('../../codemods/dual-publish-direct/index.js');
  const reports: string[] = [];
  const file = path.join(folder, source);
  const j = {} as never;
  const text = await run({ path: file, source: readFileSync(file, 'utf8') }, { j, jscodeshift: j, stats: () => undefined, report: (message) => reports.push(message) }, {});
  return { text, reports };
}

describe('a codemod alone', () => {
  it('leaves the file alone when another one would have to change, and says which', async () => {
    const project = createProject(saveThenEmit(), 'plain', false);
    try {
      const { text, reports } = await transform(project.folder);
      expect(text).toBeUndefined();
      expect(reports).toEqual(["ParcelsService.pack: 'src/outbox/routes.ts' would change, too. Run 'outboxify rewrite ParcelsService.pack --to dual-publish'."]);
    } finally {
      project.remove();
    }
  });

  it('rewrites the file when all edits fall in it', async () => {
    const project = createProject(saveThenEmit(), 'plain', false);
    try {
      writeFileSync(path.join(project.folder, 'src/outbox/routes.ts'), readFileSync(path.join(expected, 'src/outbox/routes.ts')));
      const { text, reports } = await transform(project.folder);
      expect(reports).toEqual([]);
      expect(text).toBe(readFileSync(path.join(expected, source), 'utf8'));
    } finally {
      project.remove();
    }
  });

  it.runIf(existsSync(path.join(root, 'dist/codemods/dual-publish-direct/index.js')))('runs with the jscodeshift command', () => {
    const project = createProject(saveThenEmit(), 'plain', false);
    try {
      writeFileSync(path.join(project.folder, 'src/outbox/routes.ts'), readFileSync(path.join(expected, 'src/outbox/routes.ts')));
      const command = path.join(root, 'node_modules/jscodeshift/bin/jscodeshift.js');
      execFileSync(process.execPath, [command, '--no-babel', '--extensions=ts', '--run-in-band', '-t', path.join(root, 'dist/codemods/dual-publish-direct/index.js'), path.join(project.folder, source)], { encoding: 'utf8' });
      expect(readFileSync(path.join(project.folder, source), 'utf8')).toBe(readFileSync(path.join(expected, source), 'utf8'));
    } finally {
      project.remove();
    }
  });
});

describe.each(readdirSync(path.join(root, 'codemods')))('%s', (id) => {
  it('is what its folder says, with a page that has every part', async () => {
    const module = (await import(pathToFileURL(path.join(root, 'codemods', id, 'index.ts')).href)) as Record<string, unknown>;
    expect(typeof module['default']).toBe('function');
    const codemod = Object.entries(module).find(([name]) => name !== 'default')?.[1];
    expect(codemod).toMatchObject({ id });
    const page = readFileSync(path.join(root, 'codemods', id, 'README.md'), 'utf8');
    expect(page.startsWith(`# ${id}\n`)).toBe(true);
    for (const heading of ['Problem', 'Before', 'After', 'Never changes', 'Undo']) expect(page).toContain(`\n## ${heading}\n`);
  });

  it('has fixtures that rewrite and fixtures that refuse', () => {
    const names = readCases().filter(({ codemod }) => codemod === id).map(({ name }) => name);
    expect(names.some((name) => name.startsWith('skip-'))).toBe(true);
    expect(names.some((name) => !name.startsWith('skip-'))).toBe(true);
  });
});
