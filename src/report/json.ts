import type { Finding, SafePublish, Subscriber } from '../core/finding.js';
import type { Reason } from '../core/outcome.js';
import type { CallSite } from '../core/place.js';
import type { ScanResult } from '../core/report.js';
import { stackSentence } from '../core/stacks.js';

/** Whether a finding can be rewritten, and why not. */
export interface RewriteVerdict {
  readonly possible: boolean;
  readonly reasons: readonly Reason[];
}

export type RewriteOf = (finding: Finding) => RewriteVerdict;

export interface ToolName {
  readonly name: string;
  readonly version: string;
}

export interface JsonOptions {
  readonly tool: ToolName;
  /** Asked for every finding. Without it, the verdict says that it was not looked at. */
  readonly rewriteOf?: RewriteOf;
}

/** The verdict where nobody asked the rewrite. */
export const notLookedAt: RewriteVerdict = { possible: false, reasons: [{ code: 'not-looked-at', message: 'Whether a rewrite is possible was not looked at.' }] };

/** The published shape of a scan (schemas/scan.schema.json): no offsets, nothing that is internal. */
export function toJsonReport(result: ScanResult, { tool, rewriteOf = () => notLookedAt }: JsonOptions): object {
  return {
    schemaVersion: 1,
    tool: { name: tool.name, version: tool.version },
    root: result.root,
    stats: { files: result.stats.files, parsed: result.stats.parsed, milliseconds: Math.round(result.stats.milliseconds) },
    findings: result.findings.map((finding) => toJsonFinding(finding, rewriteOf(finding))),
    safe: result.safe.map(toJsonSafe),
    subscribers: result.subscribers.map(toJsonSubscriber),
    unresolved: [
      ...result.unresolved.map(({ file, line, text, hint }) => ({ file, line, text, hint })),
      ...result.unread.map(({ file, line, specifier, hint }) => ({ file, line, text: `import '${specifier}'`, hint })),
      ...result.stacks.unsupported.map((stack) => ({ file: stack.file, line: 1, text: stack.title, hint: stackSentence(stack, result.stacks.supported) })),
      ...result.skipped.map(({ file, reason, message }) => ({ file, line: 1, text: reason, hint: `The file was passed over: ${message}.` })),
    ],
  };
}

export function renderJson(result: ScanResult, options: JsonOptions): string {
  return `${JSON.stringify(toJsonReport(result, options), null, 2)}\n`;
}

/** One finding in the published shape; `explain --format json` prints it, too. */
export function toJsonFinding(finding: Finding, rewrite: RewriteVerdict): object {
  const { id, kind, severity, confidence, handler, publish, writes, witness, stage } = finding;
  return {
    id,
    kind,
    severity,
    confidence,
    handler: { file: handler.file, line: handler.line, name: handler.name, entry: handler.entry },
    publish: {
      file: publish.file,
      line: publish.line,
      bus: publish.bus,
      transport: publish.transport,
      destination: publish.destination,
      awaited: publish.awaited,
      path: toJsonPath(publish.path),
    },
    writes: writes.map(({ file, line, orm, operation, target, path }) => ({ file, line, orm, operation, target, path: toJsonPath(path) })),
    witness: witness.map(({ step, file, line, text }) => ({ step, file, line, text })),
    stage,
    rewrite: { possible: rewrite.possible, reasons: rewrite.reasons.map(({ code, message }) => ({ code, message })) },
  };
}

export function toJsonSafe({ file, line, bus, reason }: SafePublish): object {
  return { file, line, bus, reason };
}

export function toJsonSubscriber({ file, line, name, bus, destination, inbox, writes }: Subscriber): object {
  return { file, line, name, bus, destination, inbox, writes };
}

function toJsonPath(path: readonly CallSite[]): object[] {
  return path.map(({ file, line, function: name }) => ({ file, line, function: name }));
}
