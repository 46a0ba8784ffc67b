import { spawn } from 'node:child_process';
import path from 'node:path';

export interface RunResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs as this user: root may write anywhere, so a test of read-only folders needs another one. */
  readonly uid?: number;
  /** A file that standard output goes to, instead of the result; `closed`: a reader that has gone away. */
  readonly output?: number | 'closed';
}

const bin = path.resolve('bin/outboxify.js');

/** Runs the built command line, standard input closed. */
export function outboxify(args: readonly string[], { cwd, env = {}, uid, output }: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], { cwd, uid, stdio: ['ignore', typeof output === 'number' ? output : 'pipe', 'pipe'], env: { PATH: process.env['PATH'], ...env } });
    let [stdout, stderr] = ['', ''];
    if (output === 'closed') child.stdout?.destroy();
    else child.stdout?.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => { stderr += text; });
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
