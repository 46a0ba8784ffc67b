import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const main = fileURLToPath(new URL('../../fixtures/apps/shop/demo/main.mjs', import.meta.url));
const limitMs = 600_000;

/** One run of the demo in a temporary directory of its own. */
interface Run {
  readonly code: number | null;
  readonly output: string;
}

describe('the demo', () => {
  let temporary: string;
  beforeEach(() => {
    temporary = mkdtempSync(path.join(tmpdir(), 'outboxify-test-demo-'));
    chmodSync(temporary, 0o755); // as root, PostgreSQL runs as another user
  });
  afterEach(() => rmSync(temporary, { recursive: true, force: true }));

  test('shows that every event arrives and has every effect once, and leaves nothing behind', async () => {
    const { code, output } = await demo();
    expect(output).toContain('order.placed is gone');
    expect(output).toContain('Every event arrived, and had every effect once');
    expect(code).toBe(0);
    expectNothingLeft();
  }, limitMs);

  test('fails when the relay publishes nothing', async () => {
    const { code, output } = await demo('--break', 'relay-never-publishes');
    expect(output).toContain('emil: payment lost');
    expect(output).not.toContain('Every event arrived');
    expect(code).toBe(1);
    expectNothingLeft();
  }, limitMs);

  test('fails when the inbox refuses no copy', async () => {
    const { code, output } = await demo('--break', 'inbox-never-refuses');
    expect(output).toContain('dora: payment 2 times');
    expect(code).toBe(1);
    expectNothingLeft();
  }, limitMs);

  test('fails when the relay starts without a cut-over', async () => {
    const { code, output } = await demo('--break', 'no-cut-over');
    expect(output).toContain('cleo: payment 2 times');
    expect(code).toBe(1);
    expectNothingLeft();
  }, limitMs);

  test('leaves nothing behind when it is interrupted', async () => {
    const { code, output } = await demoUntil('Ada orders', 'SIGINT');
    expect(code).toBe(130);
    expect(output).not.toContain('The demo failed');
    expectNothingLeft();
  }, limitMs);

  function demo(...args: string[]): Promise<Run> {
    return start(args, () => undefined);
  }

  function demoUntil(text: string, signal: NodeJS.Signals): Promise<Run> {
    return start([], (output, kill) => output.includes(text) && kill(signal));
  }

  function start(args: readonly string[], watch: (output: string, kill: (signal: NodeJS.Signals) => void) => unknown): Promise<Run> {
    const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, TMPDIR: temporary, TEMP: temporary, TMP: temporary } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        watch(output, (signal) => child.kill(signal));
      });
    }
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, output }));
    });
  }

  function expectNothingLeft(): void {
    expect(readdirSync(temporary)).toEqual([]);
    expect(processesOf(temporary)).toEqual([]);
  }
});

/** Command lines of running processes that name the directory; where the system does not tell, none. */
function processesOf(directory: string): string[] {
  if (process.platform !== 'linux') return [];
  const commandLine = (id: string): string => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return ''; // ended meanwhile
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(commandLine).filter((line) => line.includes(directory));
}
