import { describe, expect, it } from 'vitest';
import { analyse } from '../../src/analysis/analyse.js';
import type { ScanResult } from '../../src/core/report.js';
import { defaultConfig } from '../../src/workspace/config.js';
import { memoryWorkspace } from '../../src/workspace/workspace.js';

/** No scan below may take longer, on a slow machine with others at work. */
const LIMIT_MS = 20_000;

const manifest = { 'package.json': JSON.stringify({ name: 'bees', dependencies: { typeorm: '^0.3.20', amqplib: '^0.10.4' } }) };

const hive = `import type { Channel } from 'amqplib';
import { Repository } from 'typeorm';

export class Hive {
  constructor(private readonly combs: Repository<{ id: string }>, private readonly channel: Channel) {}

  async seal(id: string): Promise<void> {
    await this.combs.save({ id });
    this.channel.publish('bees', 'comb.sealed', Buffer.from(id));
  }
}
`;

function scan(files: Readonly<Record<string, string>>): ScanResult {
  const started = performance.now();
  const { result } = analyse(memoryWorkspace(files), defaultConfig);
  expect(performance.now() - started).toBeLessThan(LIMIT_MS);
  return result;
}

const handlers = (result: ScanResult): string[] => result.findings.map((finding) => finding.handler.name);
const lines = (count: number, line: (index: number) => string): string => Array.from({ length: count }, (_, index) => line(index)).join('\n');

it('reads folders of the source whatever they are called, and leaves out tests', () => {
  const code = ['src/test/a.ts', 'src/tests/deep/b.ts', 'apps/lab/src/e2e/c.ts', 'latest/d.ts'];
  const tests = ['test/e.ts', 'apps/lab/test/f.ts', 'tests/src/g.ts', 'src/__tests__/h.ts', 'src/tests/i.spec.ts', 'e2e/j.ts'];
  const result = scan({ ...manifest, ...Object.fromEntries([...code, ...tests].map((file) => [file, hive])) });
  expect(result.findings.map(({ handler }) => handler.file).sort()).toEqual([...code].sort());
});

describe('files that can not be read', () => {
  it('lists an unparsable file and passes it over', () => {
    const result = scan({ ...manifest, 'src/hive.ts': hive, 'src/broken.ts': 'export class Broken {\n  seal( {{{\n' });
    expect(result.skipped).toMatchObject([{ file: 'src/broken.ts', reason: 'unparsable' }]);
    expect(result.skipped[0]?.message).toMatch(/line \d+/);
    expect(handlers(result)).toEqual(['Hive.seal']);
  });

  it('lists a file of 5 MB and passes it over', () => {
    const result = scan({ ...manifest, 'src/hive.ts': hive, 'src/data.js': `module.exports = [${'"nectar",'.repeat(600_000)}];` });
    expect(result.skipped).toMatchObject([{ file: 'src/data.js', reason: 'too-large' }]);
    expect(handlers(result)).toEqual(['Hive.seal']);
  });

  it.each([
    ['parentheses', `export const deep = ${'('.repeat(10_000)}1${')'.repeat(10_000)};`],
    ['calls', `export const deep = (f: (x: number) => number) => ${'f('.repeat(2_000)}1${')'.repeat(2_000)};`],
    ['chained calls', `export const deep = (f: any) => f${'.then(() => 1)'.repeat(2_000)};`],
    ['blocks', `export function deep() { ${'{'.repeat(5_000)}${'}'.repeat(5_000)} }`],
    ['functions', `export const deep = ${'() => '.repeat(3_000)}1;`],
    ['concatenations', `export const deep = 'a'${" + 'b'".repeat(20_000)};`],
    ['else-ifs', `export function deep(x: number) { ${'if (x) { x -= 1; } else '.repeat(3_000)}{ x += 1; } }`],
    ['objects', `export const deep = ${'{ a: '.repeat(4_000)}1${' }'.repeat(4_000)};`],
    ['types', `export type Deep = ${'Array<'.repeat(4_000)}string${'>'.repeat(4_000)};`],
  ])('survives deeply nested %s', (_what, source) => {
    const result = scan({ ...manifest, 'src/hive.ts': hive, 'src/deep.ts': source });
    expect(result.skipped.every(({ file }) => file === 'src/deep.ts')).toBe(true);
    expect(handlers(result)).toEqual(['Hive.seal']);
  });

  it('reads a file with a byte order mark, and an empty one', () => {
    const result = scan({ ...manifest, 'src/hive.ts': `\uFEFF${hive}`, 'src/empty.ts': '', 'src/blank.ts': '\n\n', 'src/comment.ts': '// nothing' });
    expect(result.skipped).toEqual([]);
    expect(result.findings).toMatchObject([{ handler: { name: 'Hive.seal', line: 7 }, publish: { line: 9 } }]);
  });
});

describe('projects of an odd shape', () => {
  it('needs neither a tsconfig nor a package.json', () => {
    expect(handlers(scan({ 'src/hive.ts': hive }))).toEqual(['Hive.seal']);
  });

  it('passes over a tsconfig and a package.json that can not be read', () => {
    expect(handlers(scan({ 'package.json': '{ "name": ', 'tsconfig.json': '{{{', 'src/hive.ts': hive }))).toEqual(['Hive.seal']);
  });

  it('has nothing to say of a project without files', () => {
    expect(scan({})).toMatchObject({ findings: [], safe: [], unresolved: [], skipped: [] });
  });

  it('ends a tsconfig that extends itself', () => {
    expect(handlers(scan({ ...manifest, 'tsconfig.json': '{ "extends": "./tsconfig.json" }', 'src/hive.ts': hive }))).toEqual(['Hive.seal']);
  });

  it('ends cycles of imports and of re-exports', () => {
    const result = scan({
      ...manifest,
      'src/a.ts': "export * from './b';\nexport { Hive } from './hive';\n",
      'src/b.ts': "export * from './a';\nexport { Nothing } from './a';\n",
      'src/hive.ts': `import { Keeper } from './keeper';\n${hive}\nexport const keeper = () => new Keeper();\n`,
      'src/keeper.ts': "import { Hive } from './b';\nexport class Keeper {\n  constructor(private readonly hive: Hive) {}\n  async close() {\n    await this.hive.seal('c');\n  }\n}\n",
    });
    expect(result.findings).toMatchObject([{ handler: { name: 'Hive.seal' } }]);
  });

  it('ends classes that extend themselves or each other', () => {
    const result = scan({ ...manifest, 'src/hive.ts': hive, 'src/loop.ts': 'export class A extends B { go() { this.x.y(); } }\nexport class B extends A {}\nexport class C extends C {}\ninterface I extends J {}\ninterface J extends I {}\nexport class D implements I {}\n' });
    expect(handlers(result)).toEqual(['Hive.seal']);
  });
});

describe('programs that are hard to follow', () => {
  it('follows a cycle of 1,000 functions', () => {
    const cycle = lines(1_000, (i) => `export async function step${i}(hive: Hive): Promise<void> { ${i === 500 ? 'await hive.seal(String(1)); ' : ''}await step${(i + 1) % 1_000}(hive); }`);
    expect(handlers(scan({ ...manifest, 'src/hive.ts': hive, 'src/cycle.ts': `import { Hive } from './hive';\n${cycle}\n` }))).toEqual(['Hive.seal']);
  });

  it('follows calls that branch at every step', () => {
    const tree = lines(40, (i) => `  async go${i}(x: number): Promise<void> { if (x > ${i}) await this.go${i + 1}(x); else await this.go${i + 1}(x - 1); await this.go${i + 1}(0); }`);
    const source = `import { Hive } from './hive';\nexport class Tree {\n  constructor(private readonly hive: Hive) {}\n${tree}\n  async go40(_x: number): Promise<void> { await this.hive.seal('z'); }\n}\n`;
    expect(handlers(scan({ ...manifest, 'src/hive.ts': hive, 'src/tree.ts': source }))).toContain('Hive.seal');
  });

  it('follows closures handed down that branch at every step', () => {
    const chain = lines(30, (i) => `export const wrap${i} = (work: () => Promise<void>) => wrap${i + 1}(async () => { await work(); await work(); });`);
    const source = `import { Hive } from './hive';\n${chain}\nexport const wrap30 = async (work: () => Promise<void>) => { await work(); };\nexport const start = (hive: Hive) => wrap0(() => hive.seal('z'));\n`;
    expect(handlers(scan({ ...manifest, 'src/hive.ts': hive, 'src/wrap.ts': source }))).toContain('Hive.seal');
  });

  it('looks at an interface with 200 implementations', () => {
    const classes = lines(200, (i) => `export class Bee${i} implements Bee { constructor(private readonly hive: Hive) {} async work(): Promise<void> { await this.hive.seal('${i}'); } }`);
    const source = `import { Hive } from './hive';\nexport interface Bee { work(): Promise<void> }\n${classes}\nexport class Queen { constructor(private readonly bees: Bee) {} async rule(): Promise<void> { await this.bees.work(); } }\n`;
    expect(handlers(scan({ ...manifest, 'src/hive.ts': hive, 'src/bees.ts': source }))).toEqual(['Hive.seal']);
  });

  it('ends values that contain themselves', () => {
    const source = "import { Hive } from './hive';\nexport async function knot(hive: Hive, items: unknown[]) {\n  const all = [];\n  const box = { all };\n  all.push(box, all);\n  box.self = box;\n  for (const one of all) await tie(hive, one, all, box);\n}\nasync function tie(hive: Hive, ...rest: unknown[]) {\n  await hive.seal(String(rest));\n}\n";
    expect(handlers(scan({ ...manifest, 'src/hive.ts': hive, 'src/knot.js': source.replace(/: [A-Za-z[\]]+(?=[,)])/g, '') }))).toEqual(['Hive.seal']);
  });

  it('follows a function with 3,000 statements of effects', () => {
    const source = `import { Hive } from './hive';\nexport async function long(hive: Hive) {\n${lines(3_000, (i) => `  await hive.seal('${i}');`)}\n}\n`;
    expect(handlers(scan({ ...manifest, 'src/hive.ts': hive, 'src/long.ts': source }))).toContain('Hive.seal');
  });
});
