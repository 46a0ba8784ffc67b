import type { Finding } from '../../src/core/finding.js';
import type { ScanResult } from '../../src/core/report.js';

/** One `// expect:` comment; it speaks of the next line that is not a comment. */
interface Expectation {
  readonly place: string;
  /** `lost-event`, `phantom-event`, `none`, `safe` or `unresolved`. */
  readonly kind: string;
  /** Why a publish is safe. */
  readonly reason: string;
  /** `key=value` words; every one of them must hold. */
  readonly details: ReadonlyMap<string, string>;
}

const COMMENT = /\/\/\s*expect:\s*(.+?)\s*$/;

/** The expectations of a project, from the comments in its sources. */
export function expectationsOf(files: Readonly<Record<string, string>>): Expectation[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const lines = text.split(/\r?\n/);
    return lines.flatMap((line, index): Expectation[] => {
      const words = COMMENT.exec(line)?.[1]?.split(/\s+/);
      if (words === undefined) return [];
      const target = lines.findIndex((other, at) => at > index && !/^\s*\/\//.test(other));
      const [kind = '', ...rest] = words;
      const details = rest.filter((word) => word.includes('=')).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] as const);
      return [{ place: `${file}:${target + 1}`, kind, reason: rest.find((word) => !word.includes('=')) ?? '', details: new Map(details) }];
    });
  });
}

/** Where a finding is expected: at the call in its handler that leads to the publish. */
export function placeOf({ publish }: Finding): string {
  const at = publish.path[0] ?? publish;
  return `${at.file}:${at.line}`;
}

/** What the scan says and no comment expects, and the other way round. Empty when both agree. */
export function differences(files: Readonly<Record<string, string>>, result: ScanResult): string[] {
  const expected = expectationsOf(files);
  const problems: string[] = [];
  const open = new Set(expected.filter(({ kind }) => kind !== 'none'));
  const claim = (kind: string, place: string, holds: (expectation: Expectation) => string | null): void => {
    const here = [...open].filter((e) => e.place === place && e.kind === kind);
    const met = here.find((e) => holds(e) === null);
    if (met !== undefined) open.delete(met);
    else problems.push(`${place}: ${kind} ${here.length === 0 ? 'has no comment' : here.map(holds).join('; ')}`);
  };
  for (const finding of result.findings) claim(finding.kind, placeOf(finding), (e) => mismatch(e, finding));
  for (const safe of result.safe) claim('safe', `${safe.file}:${safe.line}`, (e) => (e.reason === safe.reason ? null : `is ${safe.reason}, not ${e.reason}`));
  for (const each of result.unresolved) claim('unresolved', `${each.file}:${each.line}`, () => null);
  return [...problems, ...[...open].map((e) => `${e.place}: '${e.kind} ${e.reason}' is expected and not there`)];
}

/** The first detail of a comment that the finding does not have. */
function mismatch(expectation: Expectation, finding: Finding): string | null {
  const here = expectation.place.slice(0, expectation.place.lastIndexOf(':'));
  const place = (text: string): string => (/^L\d+$/.test(text) ? `${here}:${text.slice(1)}` : text);
  for (const [key, wanted] of expectation.details) {
    const found = detailOf(finding, key);
    if (!found.includes(key === 'write' || key === 'publish' ? place(wanted) : wanted)) return `${key} is '${found.join(', ')}', not '${wanted}'`;
  }
  return null;
}

function detailOf(finding: Finding, key: string): string[] {
  const { publish } = finding;
  switch (key) {
    case 'handler': return [finding.handler.name];
    case 'write': return finding.writes.map((write) => `${write.file}:${write.line}`);
    case 'writes': return [String(finding.writes.length)];
    case 'table': return finding.writes.map((write) => write.target ?? '');
    case 'publish': return [`${publish.file}:${publish.line}`];
    case 'to': return [publish.destination ?? ''];
    case 'bus': return [publish.bus];
    case 'client': return [publish.route.client ?? ''];
    case 'awaited': return [String(publish.awaited)];
    case 'stage': return [finding.stage];
    case 'confidence': return [finding.confidence];
    case 'entry': return [finding.handler.entry];
    case 'joins': return finding.writes.map((write) => write.transaction?.style ?? 'none');
    default: throw new Error(`'${key}' is no detail of a finding: correct the comment`);
  }
}
