import { ToolError } from '../core/errors.js';

/** One line with a box. */
export interface Item {
  readonly text: string;
  /** What code and evidence show; null: people tick it. */
  readonly done: boolean | null;
}

export type Line = string | Item;

/** A part of the document that outboxify keeps current. */
export interface Block {
  /** Unique in the document. */
  readonly key: string;
  readonly lines: readonly Line[];
}

type Segment = { readonly kind: 'text'; readonly lines: readonly string[] } | { readonly kind: 'block'; readonly key: string; readonly lines: readonly string[] };

const begin = (key: string): string => `<!-- outboxify:begin ${key} -->`;
const end = '<!-- outboxify:end -->';
const beginPattern = /^<!-- outboxify:begin (.+) -->$/;

/** The document with these blocks. What people wrote stays: text outside blocks, lines that begin with `>`, ticks on lines without a known state. */
export function mergeDocument(existing: string | null, blocks: readonly Block[], { title, file }: { readonly title: string; readonly file: string }): string {
  if (existing === null) return `# ${title}\n\n${blocks.map((block) => toText(renderBlock(block, []))).join('\n')}`;
  const lineEnd = existing.includes('\r\n') ? '\r\n' : '\n';
  const segments = parse(existing.replaceAll('\r\n', '\n'), file);
  const kept = keepAll(segments, blocks);
  const merged = withNew(kept, blocks, new Set(segments.flatMap((segment) => (segment.kind === 'block' ? [segment.key] : []))));
  return merged.flatMap(({ lines }) => lines).join('\n').replaceAll('\n', lineEnd);
}

function toText(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

/** Splits at the markers. A marker that is missing would swallow what people wrote behind it, so it is an error. */
function parse(text: string, file: string): readonly Segment[] {
  const segments: Segment[] = [];
  let lines: string[] = [];
  let open: { readonly key: string; readonly line: number } | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const key = beginPattern.exec(line.trimEnd())?.[1];
    if (key !== undefined) {
      if (open !== null) throw markerError(file, open.line, `'${begin(open.key)}' has no '${end}'`);
      if (segments.some((segment) => segment.kind === 'block' && segment.key === key)) throw markerError(file, index + 1, `'${begin(key)}' stands there twice`);
      segments.push({ kind: 'text', lines });
      [open, lines] = [{ key, line: index + 1 }, []];
    } else if (line.trimEnd() === end) {
      if (open === null) throw markerError(file, index + 1, `'${end}' ends nothing`);
      segments.push({ kind: 'block', key: open.key, lines });
      [open, lines] = [null, []];
    } else {
      lines.push(line);
    }
  }
  if (open !== null) throw markerError(file, open.line, `'${begin(open.key)}' has no '${end}'`);
  segments.push({ kind: 'text', lines });
  if (segments.length === 1) {
    throw new ToolError(`'${file}' is not a plan of outboxify: it has no line '${begin('…')}'.`, { code: 'file-exists', hint: "Move it away, or name another file with '--output <file>'.", file });
  }
  return segments.filter((segment) => segment.kind === 'block' || segment.lines.length > 0);
}

function markerError(file: string, line: number, what: string): ToolError {
  return new ToolError(`'${file}' can't be kept current: ${what} (line ${line}).`, { code: 'bad-markers', hint: 'Mend the markers, or move the file away to have it written afresh.', file, line });
}

function keepAll(segments: readonly Segment[], blocks: readonly Block[]): readonly Segment[] {
  const result: Segment[] = [];
  let isAfterGap = false;
  for (const segment of segments) {
    const kept = keep(segment, blocks);
    // The blank line behind a block that is gone goes with it.
    for (const one of kept) result.push(isAfterGap && one.kind === 'text' && one.lines[0] === '' && one.lines.length > 1 ? { ...one, lines: one.lines.slice(1) } : one);
    if (isAfterGap && segment.kind === 'text' && segment.lines.length === 1 && segment.lines[0] === '' && segments.at(-1) !== segment) result.pop();
    isAfterGap = kept.length === 0;
  }
  return result;
}

/** An existing segment with its new content; of a block that is not wanted any more, what people wrote. */
function keep(segment: Segment, blocks: readonly Block[]): readonly Segment[] {
  if (segment.kind === 'text') return [segment];
  const wanted = blocks.find(({ key }) => key === segment.key);
  if (wanted !== undefined) return [{ kind: 'block', key: segment.key, lines: renderBlock(wanted, segment.lines) }];
  const notes = segment.lines.filter(isNote);
  return notes.length > 0 ? [{ kind: 'text', lines: notes }] : [];
}

/** New blocks go before the next one in order that is there, else to the end. */
function withNew(segments: readonly Segment[], blocks: readonly Block[], known: ReadonlySet<string>): readonly Segment[] {
  const result = [...segments];
  for (const [index, block] of blocks.entries()) {
    if (known.has(block.key)) continue;
    const later = new Set(blocks.slice(index + 1).map(({ key }) => key));
    const position = result.findIndex((segment) => segment.kind === 'block' && known.has(segment.key) && later.has(segment.key));
    const added: Segment = { kind: 'block', key: block.key, lines: renderBlock(block, []) };
    const blank: Segment = { kind: 'text', lines: [''] };
    if (position >= 0) result.splice(position, 0, added, blank);
    else result.push(added, blank);
  }
  return result;
}

function renderBlock({ key, lines }: Block, before: readonly string[]): string[] {
  const ticked = new Set(before.filter((line) => /^- \[x\] /i.test(line)).map(identity));
  const rendered = lines.map((line) => (typeof line === 'string' ? line : `- [${(line.done ?? ticked.has(line.text)) ? 'x' : ' '}] ${line.text}`));
  return [begin(key), ...withNotes(rendered, before), end];
}

/** Notes stay behind the line that they were written behind; when it is gone, they go to the end of the block. */
function withNotes(rendered: readonly string[], before: readonly string[]): string[] {
  const notes = new Map<string, string[]>();
  const place = anchors();
  let anchor = place.start;
  for (const line of before) {
    if (isNote(line)) notes.set(anchor, [...(notes.get(anchor) ?? []), line]);
    else anchor = place.next(line);
  }
  const again = anchors();
  const result = [...take(notes, again.start), ...rendered.flatMap((line) => [line, ...take(notes, again.next(line))])];
  return [...result, ...[...notes.values()].flat()];
}

/** Names places between the lines of a block: the last line with text, and the blank lines behind it. */
function anchors(): { readonly start: string; next(line: string): string } {
  let anchor = '';
  return {
    start: '',
    next(line) {
      anchor = line.trim() === '' ? `${anchor}\n` : identity(line);
      return anchor;
    },
  };
}

function take(notes: Map<string, string[]>, anchor: string): readonly string[] {
  const found = notes.get(anchor) ?? [];
  notes.delete(anchor);
  return found;
}

function isNote(line: string): boolean {
  return /^\s*>/.test(line);
}

/** A line without its tick. */
function identity(line: string): string {
  return line.replace(/^- \[[ xX]\] /, '').trimEnd();
}
