import type { Workspace } from '../workspace/workspace.js';

/** How the text of one file is written, so that new lines look like the old ones. */
export interface TextStyle {
  readonly eol: '\n' | '\r\n';
  /** One level of indentation. */
  readonly indent: string;
  readonly quote: "'" | '"';
  readonly semicolon: ';' | '';
  /** Comma after the last element of a broken list. */
  readonly trailingComma: ',' | '';
  /** Columns that a line may have. */
  readonly width: number;
}

export function styleOf(text: string, width: number): TextStyle {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  const single = count(text, /from '|require\('/g);
  const double = count(text, /from "|require\("/g);
  const ends = lines.filter((line) => /^\s*(?:import|export|const|let|return|await|this)\b.*[\w)\]'"};]$/.test(line));
  const closed = ends.filter((line) => line.endsWith(';'));
  const withComma = count(text, /,\s*\n\s*[}\])]/g);
  const withoutComma = count(text, /[\w)\]}'"]\s*\n\s*[}\])]\s*[),;]/g);
  return {
    eol,
    indent: indentOf(lines),
    quote: double > single ? '"' : "'",
    semicolon: ends.length > 0 && closed.length * 2 < ends.length ? '' : ';',
    trailingComma: withoutComma > withComma ? '' : ',',
    width,
  };
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function indentOf(lines: readonly string[]): string {
  const widths = new Map<number, number>();
  let tabs = 0;
  let spaces = 0;
  let previous = 0;
  for (const line of lines) {
    if (/^\t/.test(line)) tabs += 1;
    const leading = /^ +(?=[^\s*])/.exec(line)?.[0].length ?? (/^\S/.test(line) ? 0 : null);
    if (leading === null) continue;
    if (leading > 0) spaces += 1;
    if (leading > previous) widths.set(leading - previous, (widths.get(leading - previous) ?? 0) + 1);
    previous = leading;
  }
  if (tabs > spaces) return '\t';
  const [best] = [...widths].filter(([width]) => width === 2 || width === 4 || width === 8).sort((a, b) => b[1] - a[1]);
  return ' '.repeat(best?.[0] ?? 2);
}

/** The `printWidth` of the nearest Prettier configuration that is plain JSON; 80 when Prettier says nothing, 100 without Prettier. */
export function printWidth(workspace: Workspace, file: string): number {
  for (const directory of directoriesUp(file)) {
    const manifest = parseJson(workspace.read(`${directory}package.json`));
    const configured = parseJson(workspace.read(`${directory}.prettierrc`)) ?? parseJson(workspace.read(`${directory}.prettierrc.json`)) ?? property(manifest, 'prettier');
    if (configured === null) continue;
    const width = property(configured, 'printWidth');
    return typeof width === 'number' ? width : 80;
  }
  return 100;
}

/** `a/b/`, `a/` and the empty string for `a/b/c.ts`. */
export function directoriesUp(file: string): readonly string[] {
  const parts = file.split('/').slice(0, -1);
  return [...parts.map((_, index) => `${parts.slice(0, parts.length - index).join('/')}/`), ''];
}

export function parseJson(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A field of something that came out of JSON; null when there is none. */
export function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && key in value ? (value as Readonly<Record<string, unknown>>)[key] ?? null : null;
}

/** A string literal in the quotes of the file. */
export function quoted(style: TextStyle, value: string): string {
  const escaped = value.replaceAll('\\', '\\\\').replaceAll(style.quote, `\\${style.quote}`).replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `${style.quote}${escaped}${style.quote}`;
}

/** The white space that the line of an offset begins with. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** Text that moves to another depth: its lines after the first get the new indentation. Lines of template literals stay. */
export function reindent(text: string, from: string, to: string): string {
  if (from === to || text.includes('`')) return text;
  return text.replace(/(\r?\n)([ \t]*)(?=\S)/g, (line, eol: string, indent: string) => (indent.startsWith(from) ? `${eol}${to}${indent.slice(from.length)}` : line));
}
