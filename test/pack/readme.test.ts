import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { outboxify } from '../cli/run.js';

const readme = readFileSync('README.md', 'utf8');
const program = createProgram(() => undefined);
const find = (name: string | undefined): Command | undefined => program.commands.find((command) => command.name() === name);

/** Every `outboxify …` of the README, in code blocks and in the text. */
const mentioned = [...readme.matchAll(/(?<![\w/-])outboxify ([a-z-]+(?: (?:[^`\n#]|`(?!`))*)?)/g)].map(([, text = '']) => text.replace(/\s+#.*$/, '').trim());
const commands = [...new Set(mentioned.map((text) => text.split('`')[0]?.trim() ?? ''))].filter((text) => find(text.split(' ')[0]) !== undefined);

describe('the README', () => {
  test('shows what a scan of the example shop says', async () => {
    const shown = /<!-- scan of fixtures\/apps\/shop -->\n```\n([\s\S]*?)\n```/.exec(readme)?.[1] ?? '';
    const { stdout } = await outboxify(['scan', '--cwd', 'fixtures/apps/shop']);
    const withoutTime = (text: string): string => text.replace(/\d+\.\d s\./, '… s.');
    const blocks = withoutTime(shown).split('\n\n').filter((block) => block !== '…');
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) expect(withoutTime(stdout)).toContain(block);
  });

  test('names commands and flags that exist', () => {
    expect(commands.length).toBeGreaterThan(12);
    for (const text of commands) {
      const [name, ...words] = text.split(/\s+/);
      const known = (find(name)?.options ?? []).map(({ long }) => long);
      const unknown = words.filter((word) => word.startsWith('--')).map((word) => word.replace(/[^a-z-].*$/, '')).filter((flag) => !known.includes(flag) && !['--help', '--version'].includes(flag));
      expect({ text, unknown }).toEqual({ text, unknown: [] });
    }
  });

  test('has every command in its table', () => {
    for (const { name } of program.commands.map((command) => ({ name: command.name() })).filter(({ name: id }) => id !== 'help')) expect(readme).toMatch(new RegExp(`^\\| \`${name}\\b`, 'm'));
  });

  test('links to files that are there', () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, target = '']) => target);
    expect(links.length).toBeGreaterThan(4);
    expect(links.filter((target) => !existsSync(path.resolve(target)))).toEqual([]);
  });

  test('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: Readonly<Record<string, string>> };
    const named = [...readme.matchAll(/npm (?:run )?(demo|test|build|lint|typecheck)\b/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});
