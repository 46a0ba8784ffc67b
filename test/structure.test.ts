import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

/**
 * What each top folder may import, besides itself: cli → wizard, plan, rewrite, report → analysis, adapters, schema →
 * workspace → core. Codemods are the rewrites of one handler each; templates read and place the files that ship.
 */
const layers: Readonly<Record<string, readonly string[]>> = {
  'src/core': [],
  'src/workspace': ['src/core'],
  'src/schema': ['src/workspace', 'src/core'],
  'src/templates': ['src/schema', 'src/workspace', 'src/core'],
  'src/adapters': ['src/schema', 'src/templates', 'src/workspace', 'src/core'],
  'src/analysis': ['src/adapters', 'src/workspace', 'src/core'],
  'src/report': ['src/workspace', 'src/core'],
  codemods: ['src/rewrite', 'src/analysis', 'src/adapters', 'src/workspace', 'src/core'],
  'src/rewrite': ['codemods', 'src/templates', 'src/analysis', 'src/adapters', 'src/schema', 'src/workspace', 'src/core'],
  'src/plan': ['src/rewrite', 'src/analysis', 'src/adapters', 'src/schema', 'src/templates', 'src/workspace', 'src/core'],
  'src/wizard': ['src/plan', 'src/rewrite', 'src/report', 'src/analysis', 'src/adapters', 'src/schema', 'src/templates', 'src/workspace', 'src/core'],
  'src/index.ts': ['src/analysis', 'src/schema', 'src/workspace', 'src/core'],
  'src/cli': ['src/wizard', 'src/plan', 'src/rewrite', 'src/report', 'src/analysis', 'src/adapters', 'src/schema', 'src/templates', 'src/workspace', 'src/core'],
};

/** Modules that only some places may import. */
const reserved: readonly { readonly module: RegExp; readonly places: RegExp; readonly why: string }[] = [
  { module: /^(?:node:)?fs(?:\/promises)?$/, places: /^src\/workspace\//, why: 'only workspace touches the disk' },
  { module: /^(?:node:)?child_process$/, places: /^src\/workspace\/git\.ts$/, why: 'only workspace/git starts a process' },
  { module: /^commander$/, places: /^src\/cli\/(?:program|help|errors)\.ts$/, why: 'commander stays in program' },
  { module: /^(?:inquirer|@inquirer\/.*)$/, places: /^src\/wizard\/ask\.ts$/, why: 'only the wizard asks' },
  { module: /^chalk$/, places: /^src\/(?:report\/text|cli\/ui)\.ts$/, why: 'colour stays in two places' },
  { module: /^(?:node:)?(?:http|https|net|tls|dgram|dns)$/, places: /^$/, why: 'nothing speaks to the network but the database drivers' },
];

/** Things that only some places may say. */
const reservedCalls: readonly { readonly text: RegExp; readonly places: RegExp; readonly why: string }[] = [
  { text: /\bprocess\.exit(?:Code)?\b/, places: /^src\/(?:cli|wizard)\//, why: 'only cli and wizard exit' },
  { text: /\bconsole\.\w+\(|\bprocess\.(?:stdout|stderr)\b/, places: /^src\/(?:cli|wizard)\//, why: 'only cli and wizard print' },
  { text: /\bfetch\(/, places: /^$/, why: 'no network' },
  { text: /\beval\(|\bnew Function\(/, places: /^$/, why: 'no code is made at run time' },
];

interface Module {
  readonly file: string;
  /** Code without comments and texts. */
  readonly code: string;
  readonly imports: readonly string[];
}

const modules: readonly Module[] = globSync(['src/**/*.ts', 'codemods/**/*.ts'], { ignore: ['**/*.test.ts'] }).sort().map(readModule);

test('there are modules to look at', () => {
  expect(modules.length).toBeGreaterThan(50);
});

test.each(modules)('$file depends on what is below it only', ({ file, imports }) => {
  const layer = layerOf(file);
  const allowed = layers[layer];
  if (!allowed) throw new Error(`no layer: ${file}`);
  const reached = imports.filter((specifier) => specifier.startsWith('.')).map((specifier) => path.posix.join(path.posix.dirname(file), specifier));
  expect(reached.filter((target) => layerOf(target) !== layer && !allowed.includes(layerOf(target)))).toEqual([]);
});

describe.each(reserved)('$why', ({ module, places }) => {
  test.each(modules.filter(({ file }) => !places.test(file)))('$file', ({ imports }) => {
    expect(imports.filter((specifier) => module.test(specifier))).toEqual([]);
  });
});

describe.each(reservedCalls)('$why', ({ text, places }) => {
  test('everywhere else', () => {
    expect(modules.filter(({ file, code }) => !places.test(file) && text.test(code)).map(({ file }) => file)).toEqual([]);
  });
});

test('default exports are for adapters and codemods; no file is a barrel', () => {
  const isData = (file: string): boolean => /^(?:src\/adapters|codemods)\/[^/]+\/index\.ts$/.test(file);
  expect(modules.filter(({ file, code }) => /^export default\b/m.test(code) && !isData(file)).map(({ file }) => file)).toEqual([]);
  expect(modules.filter(({ code }) => /^export \* from\b/m.test(code)).map(({ file }) => file)).toEqual([]);
});

function layerOf(file: string): string {
  return file.startsWith('src/') ? file.split('/').slice(0, 2).join('/') : (file.split('/')[0] ?? file);
}

function readModule(file: string): Module {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, false);
  const imports: string[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = ts.isImportDeclaration(node) || ts.isExportDeclaration(node) ? node.moduleSpecifier : isDynamicImport(node) ? node.arguments[0] : undefined;
    if (specifier && ts.isStringLiteralLike(specifier)) imports.push(specifier.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { file, imports, code: withoutTexts(source) };
}

function isDynamicImport(node: ts.Node): node is ts.CallExpression {
  return ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
}

/** The tokens of a file, texts and comments left out: a message may well say `console.log`. */
function withoutTexts(source: ts.SourceFile): string {
  const dropped: [number, number][] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isRegularExpressionLiteral(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) {
      dropped.push([node.getStart(source), node.getEnd()]);
    }
    for (const comment of ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? []) dropped.push([comment.pos, comment.end]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  const characters = [...source.text.split('')];
  for (const [start, end] of dropped) characters.fill(' ', start, end);
  return characters.join('');
}
