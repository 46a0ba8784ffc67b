import { ts } from 'ts-morph';

/** Larger files are generated ones: parsing them costs seconds and finds nothing. In UTF-16 code units. */
export const LARGEST_SOURCE = 1_500_000;

const KINDS: Readonly<Record<string, ts.ScriptKind>> = {
  ts: ts.ScriptKind.TS, mts: ts.ScriptKind.TS, cts: ts.ScriptKind.TS, tsx: ts.ScriptKind.TSX,
  js: ts.ScriptKind.JS, mjs: ts.ScriptKind.JS, cjs: ts.ScriptKind.JS, jsx: ts.ScriptKind.JSX,
};

/** Whether the TypeScript front end reads this file. Declaration files declare; they run nothing. */
export function isScript(file: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(file) && !/\.d\.[cm]?ts$/.test(file);
}

/** Parses one file, with parent pointers. Never throws on bad syntax: see `syntaxErrorOf`. */
export function parseScript(file: string, text: string): ts.SourceFile {
  const extension = file.slice(file.lastIndexOf('.') + 1);
  return ts.createSourceFile(file, text, { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone }, true, KINDS[extension] ?? ts.ScriptKind.TS);
}

/** First syntax error of a parsed file, for people; null when there is none. */
export function syntaxErrorOf(source: ts.SourceFile): string | null {
  const [first] = (source as ts.SourceFile & { readonly parseDiagnostics?: readonly ts.DiagnosticWithLocation[] }).parseDiagnostics ?? [];
  if (first === undefined) return null;
  const { line } = source.getLineAndCharacterOfPosition(first.start);
  return `line ${line + 1}: ${ts.flattenDiagnosticMessageText(first.messageText, ' ')}`;
}
