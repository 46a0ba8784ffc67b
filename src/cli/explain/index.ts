import { exitCode, type ExitCode } from '../../core/exit-code.js';
import type { ScanResult } from '../../core/report.js';
import { handlerSubject, subscriberSubject } from '../../core/subject.js';
import { toJsonFinding, toJsonSafe, toJsonSubscriber } from '../../report/json.js';
import { version } from '../../workspace/package.js';
import { assertProject, assertServices, openContext, type CommandContext } from '../context.js';
import type { ExplainOptions } from '../options.js';
import { createPreview, type PreviewOf } from './preview.js';
import { findRule } from './rules.js';
import { findSubject, type Subject } from './subject.js';
import { findingText, ruleText, safeText, subscriberText } from './text.js';

/** `outboxify explain <finding|handler|subscriber|rule>` */
export async function runExplain(options: ExplainOptions): Promise<ExitCode> {
  const context = await openContext(options);
  const { out, workspace, config } = context;
  const rule = findRule(options.subject);
  if (rule) {
    out.print(options.format === 'json' ? JSON.stringify({ schemaVersion: 1, rule }, null, 2) : ruleText(rule, out.style));
    return exitCode.ok;
  }
  assertProject(context);
  assertServices(context);
  const { analyse } = await import('../../analysis/analyse.js');
  const analysis = analyse(workspace, config);
  const subject = findSubject(analysis.result, options.subject);
  const preview = await createPreview(analysis, context);
  if (options.format === 'json') out.print(JSON.stringify(toJson(subject, preview), null, 2));
  else printSubject(subject, { context, preview, result: analysis.result });
  return exitCode.ok;
}

function toJson({ findings, safe, subscribers }: Subject, preview: PreviewOf): object {
  return {
    schemaVersion: 1,
    tool: { name: 'outboxify', version: version() },
    findings: findings.map((finding) => toJsonFinding(finding, preview(finding))),
    safe: safe.map(toJsonSafe),
    subscribers: subscribers.map(toJsonSubscriber),
  };
}

function printSubject({ findings, safe, subscribers }: Subject, { context, preview, result }: { readonly context: CommandContext; readonly preview: PreviewOf; readonly result: ScanResult }): void {
  const { style } = context.out;
  const handlers = result.findings.map(({ handler }) => handler);
  const parts = [
    ...findings.map((finding) => findingText(finding, { style, rewrite: preview(finding), subject: handlerSubject(finding.handler, finding.id, handlers) })),
    ...safe.map((publish) => safeText(publish, style)),
    ...subscribers.map((subscriber) => subscriberText(subscriber, subscriberSubject(subscriber, result.subscribers), style)),
  ];
  context.out.print(parts.join('\n\n'));
}
