import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import js from '@eslint/js';
import { ESLint } from 'eslint';
import ts from 'typescript';
import tseslint from 'typescript-eslint';
import { afterAll, describe, expect, it } from 'vitest';
import type { CodeStyle } from '../../src/templates/code-style.js';
import type { RelayTransport } from '../../src/templates/place.js';
import { renderAll } from './render.js';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const cache = path.join(repository, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const directory = mkdtempSync(path.join(cache, 'outboxify-compile-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const strict = {
  strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noUnusedLocals: true, noUnusedParameters: true, noImplicitOverride: true,
  noImplicitReturns: true, noPropertyAccessFromIndexSignature: true, experimentalDecorators: true, emitDecoratorMetadata: true, skipLibCheck: true, types: ['node'],
};
const nestStarter = { ...strict, target: 'ES2021', module: 'commonjs', moduleResolution: 'node10' };
const nodeEsm = { ...strict, target: 'ES2022', module: 'nodenext', moduleResolution: 'nodenext', verbatimModuleSyntax: true, isolatedModules: true };
const typeorm1 = { paths: { typeorm: ['../../../typeorm-1'] } };

interface Case {
  readonly name: string;
  readonly compilerOptions: object;
  readonly style: CodeStyle;
  readonly transports: readonly RelayTransport[];
  readonly esm?: boolean;
}

const cases: readonly Case[] = [
  { name: 'CommonJS as the Nest starter has it', compilerOptions: nestStarter, style: { importExtension: '', quotes: 'single' }, transports: ['nest', 'amqp'] },
  { name: 'CommonJS with double quotes, Nest clients only', compilerOptions: nestStarter, style: { importExtension: '', quotes: 'double' }, transports: ['nest'] },
  { name: 'CommonJS for an old target, without strict', compilerOptions: { ...nestStarter, target: 'ES2017', strict: false, strictNullChecks: true, noImplicitAny: false }, style: { importExtension: '', quotes: 'single' }, transports: ['amqp'] },
  { name: 'ESM by Node', compilerOptions: nodeEsm, style: { importExtension: '.js', quotes: 'single' }, transports: ['nest', 'amqp'], esm: true },
  { name: 'ESM by Node, amqplib only', compilerOptions: nodeEsm, style: { importExtension: '.js', quotes: 'double' }, transports: ['amqp'], esm: true },
  { name: 'CommonJS with TypeORM 1', compilerOptions: { ...nestStarter, ...typeorm1 }, style: { importExtension: '', quotes: 'single' }, transports: ['nest', 'amqp'] },
];

/** Writes the project; answers its folder. */
function place({ compilerOptions, style, transports, esm = false }: Case, name: string): string {
  const root = path.join(directory, name);
  const files = new Map(renderAll(style, transports).map(({ file, content }) => [file, content]));
  files.set('source/ledger.module.ts', 'export class LedgerModule {}\n');
  files.set('package.json', JSON.stringify({ name, type: esm ? 'module' : 'commonjs' }));
  files.set('tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, noEmit: true }, include: ['source'] }));
  for (const [file, content] of files) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), content);
  }
  return root;
}

function problemsOf(root: string): string[] {
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile) as { config: unknown };
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram(fileNames, options);
  return [...errors, ...ts.getPreEmitDiagnostics(program)].map((problem) => {
    const line = problem.file && problem.start !== undefined ? problem.file.getLineAndCharacterOfPosition(problem.start).line + 1 : 0;
    return `${path.basename(problem.file?.fileName ?? '')}:${line} ${ts.flattenDiagnosticMessageText(problem.messageText, '\n')}`;
  });
}

describe('the generated code', () => {
  it.each(cases)('compiles: $name', (project) => {
    expect(problemsOf(place(project, project.name.replaceAll(/\W+/g, '-')))).toEqual([]);
  });

  it('would not compile with a mistake in it', () => {
    const [project] = cases;
    if (project === undefined) throw new Error('no case');
    const root = place(project, 'mistake');
    writeFileSync(path.join(root, 'source/outbox/routes.ts'), "export type Route = { transport: 'nest' };\nexport const routes = {};\n");
    expect(problemsOf(root)).not.toEqual([]);
  });

  it('passes the type-checked rules of typescript-eslint, as they are and under both kinds of quotes', async () => {
    const roots = cases.slice(0, 2).map((project, index) => place(project, `lint-${index}`));
    const eslint = new ESLint({
      cwd: directory,
      overrideConfigFile: true,
      overrideConfig: [js.configs.recommended, ...tseslint.configs.recommendedTypeChecked, { languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: directory } } }] as never,
      ignore: false,
    });
    const results = await eslint.lintFiles(roots.map((root) => `${root}/source/**/*.ts`));
    expect(results.length).toBeGreaterThan(30);
    expect(results.flatMap(({ filePath, messages }) => messages.map(({ line, ruleId, message }) => `${path.basename(filePath)}:${line} ${ruleId ?? ''} ${message}`))).toEqual([]);
  });
});
