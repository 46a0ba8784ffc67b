import { createStyle, type TextStyle } from '../report/text.js';

/** Where a command prints. Results go to standard output, all else to standard error. */
export interface Ui {
  /** A result, followed by a line end. */
  print(text: string): void;
  /** A remark or a warning, followed by a line end; not printed with `--quiet`. */
  note(text: string): void;
  /** An error, followed by a line end. */
  error(text: string): void;
  /** One line that is replaced by the next one; shown on a terminal only. Null takes it away. */
  progress(text: string | null): void;
  /** Whether a person can be asked: standard input and output are both terminals. */
  readonly isTerminal: boolean;
  /** Whether standard output takes links to files (OSC 8). */
  readonly hasLinks: boolean;
  /** Whether standard output takes colour. */
  readonly color: boolean;
  /** Styles for standard output. */
  readonly style: TextStyle;
}

export interface UiOptions {
  readonly quiet?: boolean;
  /** False: none. Missing: when standard output is a terminal and NO_COLOR is not set, or FORCE_COLOR is. */
  readonly color?: boolean;
}

export function createUi({ quiet = false, color }: UiOptions = {}): Ui {
  const { env, stdout, stderr } = process;
  const usesColor = color !== false && wantsColor(env, stdout.isTTY);
  const showsProgress = !quiet && stdout.isTTY && stderr.isTTY && env['TERM'] !== 'dumb' && !env['CI'];
  let hasProgress = false;
  const clearProgress = (): void => {
    if (hasProgress) stderr.write('\r\x1b[2K');
    hasProgress = false;
  };
  return {
    print(text) {
      clearProgress();
      stdout.write(`${text}\n`);
    },
    note(text) {
      clearProgress();
      if (!quiet) stderr.write(`${text}\n`);
    },
    error(text) {
      clearProgress();
      stderr.write(`${text}\n`);
    },
    progress(text) {
      clearProgress();
      if (text === null || !showsProgress) return;
      stderr.write(text.slice(0, Math.max(10, (stderr.columns || 80) - 1)));
      hasProgress = true;
    },
    isTerminal: process.stdin.isTTY && stdout.isTTY,
    hasLinks: stdout.isTTY && knowsLinks(env),
    color: usesColor,
    style: createStyle(usesColor),
  };
}

function wantsColor(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

/** Terminals known to take OSC 8; the others may print it as rubbish, so a terminal that is not known gets none. */
function knowsLinks(env: NodeJS.ProcessEnv): boolean {
  if (env['FORCE_HYPERLINK'] !== undefined) return env['FORCE_HYPERLINK'] !== '0';
  if (env['CI'] || env['TERM'] === 'dumb') return false;
  if (env['WT_SESSION'] || env['KITTY_WINDOW_ID'] || env['WEZTERM_PANE'] || env['KONSOLE_VERSION']) return true;
  if (Number(env['VTE_VERSION'] ?? 0) >= 5000) return true;
  return ['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper'].includes(env['TERM_PROGRAM'] ?? '');
}
