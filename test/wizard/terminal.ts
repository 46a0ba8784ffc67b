import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';

/** Whether this machine can give a program a terminal: `script` of util-linux. */
export const hasTerminal = ((): boolean => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

export interface Terminal {
  /** Everything that was shown, without escape sequences. */
  shown(): string;
  /** Waits until the text is shown after what was waited for before. */
  until(text: string): Promise<void>;
  type(keys: string): void;
  /** Exit code. */
  readonly done: Promise<number | null>;
}

export const keys = { enter: '\r', down: '\u001b[B', up: '\u001b[A', interrupt: '\u0003' } as const;

/** Runs the built command line on a real terminal. */
export function onTerminal(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Terminal {
  const command = [process.execPath, path.resolve('bin/outboxify.js'), ...args].map((part) => `'${part}'`).join(' ');
  const child = spawn('script', ['-qec', `stty cols 200 rows 50; exec ${command}`, '/dev/null'], { cwd, stdio: ['pipe', 'pipe', 'inherit'], env: { PATH: process.env['PATH'], TERM: 'xterm', ...env } });
  let shown = '';
  let position = 0;
  let wake = (): void => undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text.replace(/\u001b(?:\[[0-9;?]*[A-Za-z]|\]8;;[^\u001b]*\u001b\\)/g, '').replaceAll('\r\n', '\n');
    wake();
  });
  let isOver = false;
  const done = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', (code) => {
      isOver = true;
      wake();
      resolve(code);
    });
  });
  child.stdin.on('error', () => undefined);
  return {
    shown: () => shown,
    done,
    type: (text) => void child.stdin.write(text),
    async until(text) {
      const deadline = Date.now() + 40_000;
      for (;;) {
        const found = shown.indexOf(text, position);
        if (found >= 0) {
          position = found + text.length;
          return;
        }
        if (isOver || Date.now() > deadline) throw new Error(`'${text}' was not shown; what was: ${shown.slice(position)}`);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, 500);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
  };
}
