import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { orderProject } from '../cli/project.js';
import { temporaryProject } from '../project.js';

const execute = promisify(execFile);
const isWindows = process.platform === 'win32';

interface Manifest {
  readonly version: string;
  readonly main: string;
  readonly types: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

async function npm(args: readonly string[], cwd: string): Promise<string> {
  return (await execute('npm', [...args], { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, shell: isWindows })).stdout;
}

/** Runs a package's binary as a user would; exit codes of the tool are answers. */
async function npx(args: readonly string[], cwd: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  try {
    const { stdout, stderr } = await execute('npx', ['--no-install', ...args], { cwd, encoding: 'utf8', shell: isWindows });
    return { code: 0, stdout, stderr };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && typeof error.code === 'number')) throw error;
    return { code: error.code, stdout: String(Reflect.get(error, 'stdout')), stderr: String(Reflect.get(error, 'stderr')) };
  }
}

describe('the packed package', () => {
  let packed: readonly string[] = [];
  let folder = '';

  beforeAll(async () => {
    folder = temporaryProject({ 'package.json': '{"name": "somewhere-else", "private": true}\n' });
    // Without scripts: the build would take dist/ away from the tests that run beside this one.
    const [answer] = JSON.parse(await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], process.cwd())) as [{ filename: string; files: readonly { path: string }[] }];
    packed = answer.files.map((file) => file.path);
    await npm(['install', `./${answer.filename}`, '--prefer-offline', '--no-audit', '--no-fund'], folder);
  }, 300_000);

  const installed = (file: string): string => path.join(folder, 'node_modules/outboxify', file);

  test('has every template, schema, page of a rule and codemod with its README', () => {
    const expected = [
      ...filesBelow('templates'), ...filesBelow('schemas'), ...readdirSync('src/schema/rules').filter((name) => name.endsWith('.md')).map((name) => `src/schema/rules/${name}`),
      ...codemods().flatMap((id) => [`codemods/${id}/README.md`, `dist/codemods/${id}/index.js`]), 'README.md', 'CHANGELOG.md', 'LICENSE',
    ];
    expect(expected.filter((file) => !packed.includes(file))).toEqual([]);
  });

  test('has what package.json points to, and nothing of the repository that a user has no use for', () => {
    const named = [manifest.main, manifest.types, ...Object.values(manifest.bin), ...Object.values(manifest.exports).flatMap((value) => (typeof value === 'string' ? [value] : Object.values(value)))];
    expect(named.filter((file) => !file.includes('*') && !existsSync(installed(file)))).toEqual([]);
    expect(packed.filter((file) => /^(test|fixtures|scripts|\.)|\.test\.|tsconfig\.build|vitest/.test(file))).toEqual([]);
  });

  test('npx outboxify --version, in an empty folder', async () => {
    expect(await npx(['outboxify', '--version'], folder)).toMatchObject({ code: 0, stdout: `${manifest.version}\n` });
  });

  test('scans a project and writes a migration, with templates from the package', async () => {
    const project = path.join(folder, 'shop');
    for (const [file, content] of Object.entries(orderProject)) {
      mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
      writeFileSync(path.join(project, file), content);
    }
    const scan = await npx(['outboxify', 'scan', '--cwd', 'shop'], folder);
    expect(scan).toMatchObject({ code: 1, stdout: expect.stringContaining('a crash here loses order.placed') });
    const migration = await npx(['outboxify', 'migration', 'outbox', '--cwd', 'shop'], folder);
    expect(migration).toMatchObject({ code: 0, stdout: expect.stringContaining('+++ b/src/outbox/store.ts') });
    expect(readdirSync(path.join(project, 'src')).sort()).toEqual(['order.service.ts', 'order.ts']);
  });

  test('its interface for programs can be imported', async () => {
    const script = "const { analyse, openWorkspace } = await import('outboxify'); process.stdout.write(`${typeof analyse} ${typeof openWorkspace}`);";
    expect((await execute(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder })).stdout).toBe('function function');
  });

  test('every codemod can be loaded on its own', async () => {
    const script = `for (const id of ${JSON.stringify(codemods())}) process.stdout.write(typeof (await import('./node_modules/outboxify/dist/codemods/' + id + '/index.js')).default + ' ');`;
    expect((await execute(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder })).stdout.trim().split(' ')).toEqual(codemods().map(() => 'function'));
  });

  test('jscodeshift runs a codemod from the package, and leaves a foreign file alone', async () => {
    const project = path.join(folder, 'by-jscodeshift');
    for (const [file, content] of Object.entries({ ...orderProject, 'src/plain.ts': 'export const plain = 1;\n' })) {
      mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
      writeFileSync(path.join(project, file), content);
    }
    await npx(['outboxify', 'migration', 'outbox', '--cwd', 'by-jscodeshift', '--write'], folder);
    // The event's route goes into routes.ts, a second file, which jscodeshift can't write: it is told to use the command.
    const { code, stdout, stderr } = await npx(['jscodeshift', '--no-babel', '--run-in-band', '--extensions=ts', '-t', installed('dist/codemods/dual-publish-direct/index.js'), path.join(project, 'src')], folder);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringMatching(/0 errors/), stderr: '' });
    expect(stdout).toContain("Run 'outboxify rewrite OrderService.place --to dual-publish'");
    expect(readFileSync(path.join(project, 'src/order.service.ts'), 'utf8')).toBe(orderProject['src/order.service.ts']);
    expect(readFileSync(path.join(project, 'src/plain.ts'), 'utf8')).toBe('export const plain = 1;\n');
  });
});

function codemods(): readonly string[] {
  return readdirSync('codemods', { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith('_')).map(({ name }) => name);
}

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => path.posix.join(entry.parentPath.replaceAll('\\', '/'), entry.name));
}
