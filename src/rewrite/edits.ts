import { ts } from 'ts-morph';
import { applyEdits, type Edit } from '../core/edit.js';
import type { Workspace } from '../workspace/workspace.js';
import type { Analysis } from '../analysis/analysis.js';
import { refuse } from './refusal.js';
import { printWidth, styleOf, type TextStyle } from './style.js';

/** One file that is being rewritten. */
export interface EditedFile {
  readonly file: string;
  readonly text: string;
  readonly source: ts.SourceFile;
  readonly style: TextStyle;
}

/** One name that a file needs. */
export interface NeededImport {
  readonly name: string;
  readonly module: string;
}

/** Collects the edits of one rewrite over all of its files. */
export class EditSet {
  private readonly collected: Edit[] = [];
  private readonly opened = new Map<string, EditedFile>();
  /** Names that files will need, by file. */
  readonly imports = new Map<string, NeededImport[]>();

  constructor(private readonly workspace: Workspace, private readonly analysis: Analysis | null) {}

  /** The file as it is before the edits. Refuses when it is not one of the project's. */
  open(file: string): EditedFile {
    const known = this.opened.get(file);
    if (known !== undefined) return known;
    const text = this.workspace.read(file);
    if (text === null) refuse('helper-unresolved', `'${file}' can not be read.`);
    const source = this.analysis?.sourceFile(file) ?? parse(file, text);
    const opened: EditedFile = { file, text, source, style: styleOf(text, printWidth(this.workspace, file)) };
    this.opened.set(file, opened);
    return opened;
  }

  replace(file: string, range: { readonly start: number; readonly end: number }, text: string): void {
    const edit: Edit = { file, start: range.start, end: range.end, text };
    const same = this.collected.some((other) => other.file === file && other.start === edit.start && other.end === edit.end && other.text === text && edit.end > edit.start);
    if (!same) this.collected.push(edit);
  }

  insert(file: string, offset: number, text: string): void {
    this.collected.push({ file, start: offset, end: offset, text });
  }

  /** Asks for a name to be importable in a file; `finishEdits` adds the statements. */
  need(file: string, name: string, module: string): void {
    this.imports.set(file, [...(this.imports.get(file) ?? []), { name, module }]);
  }

  /** The text of a range with the edits made inside it so far: for code that moves. */
  rendered(file: string, range: { readonly start: number; readonly end: number }): string {
    const inner = this.collected.filter((edit) => edit.file === file && edit.start >= range.start && edit.end <= range.end);
    return applyEdits(this.open(file).text.slice(range.start, range.end), inner.map((edit) => ({ ...edit, start: edit.start - range.start, end: edit.end - range.start })));
  }

  /** Takes the edits inside a range back: their text moved along with `rendered`. */
  drop(file: string, range: { readonly start: number; readonly end: number }): void {
    const kept = this.collected.filter((edit) => !(edit.file === file && edit.start >= range.start && edit.end <= range.end));
    this.collected.splice(0, this.collected.length, ...kept);
  }

  /** Moves lines that were inserted in a range to the depth that the range is moved to. */
  shift(file: string, range: { readonly start: number; readonly end: number }, indent: string): void {
    const shifted = this.collected.map((edit) => (edit.file === file && edit.start > range.start && edit.end < range.end ? { ...edit, text: edit.text.replace(/\n(?=[^\r\n])/g, `\n${indent}`) } : edit));
    this.collected.splice(0, this.collected.length, ...shifted);
  }

  all(): readonly Edit[] {
    return [...this.collected];
  }
}

export function parse(file: string, text: string): ts.SourceFile {
  const kind = /\.[cm]?jsx?$/.test(file) ? ts.ScriptKind.JSX : file.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
}

/**
 * Indents the lines of a range by one level. Lines that begin inside a template literal or a comment block stay as they are,
 * because there white space is content.
 */
export function indentLines(edits: EditSet, file: string, range: { readonly start: number; readonly end: number }): void {
  const { text, source, style } = edits.open(file);
  edits.shift(file, range, style.indent);
  const frozen = literalRanges(source, range);
  for (let newline = text.indexOf('\n', range.start); newline !== -1 && newline < range.end - 1; newline = text.indexOf('\n', newline + 1)) {
    const start = newline + 1;
    if (frozen.some((literal) => start > literal.start && start < literal.end)) continue;
    if (/^[ \t]*\r?$/.test(text.slice(start, endOfLine(text, start)))) continue;
    edits.insert(file, start, style.indent);
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function literalRanges(source: ts.SourceFile, range: { readonly start: number; readonly end: number }): readonly { readonly start: number; readonly end: number }[] {
  const found: { start: number; end: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (node.end < range.start || node.pos > range.end) return;
    if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node) || ts.isStringLiteral(node)) {
      found.push({ start: node.getStart(), end: node.getEnd() });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}
