import { exitCode, type ExitCode } from '../../core/exit-code.js';
import type { Finding } from '../../core/finding.js';
import { UsageError } from '../../core/errors.js';
import { nearestNames } from '../../core/nearest.js';
import { toJsonFinding } from '../../report/json.js';
import { version } from '../../workspace/package.js';
import { assertProject, openContext } from '../context.js';
import type { ExplainOptions } from '../options.js';
import { createPreview } from './preview.js';
import { findRule, ruleIds } from './rules.js';
import { findingText, ruleText } from './text.js';

/** `outboxify explain <finding|handler|rule>` */
export async function runExplain(options: ExplainOptions): Promise<ExitCode> {
  const context = await openContext(options);
  const { out, workspace, config } = context;
  const rule = findRule(options.subject);
  if (rule) {
    out.print(options.format === 'json' ? JSON.stringify({ schemaVersion: 1, rule }, null, 2) : ruleText(rule, out.style));
    return exitCode.ok;
  }
  assertProject(context);
  const { analyse } = await import('../../analysis/analyse.js');
  const analysis = analyse(workspace, config);
  const findings = findSubject(analysis.result.findings, options.subject);
  const preview = await createPreview(analysis, context);
  if (options.format === 'json') {
    const tool = { name: 'outboxify', version: version() };
    out.print(JSON.stringify({ schemaVersion: 1, tool, findings: findings.map((finding) => toJsonFinding(finding, preview(finding))) }, null, 2));
  } else {
    out.print(findings.map((finding) => findingText(finding, { style: out.style, rewrite: preview(finding) })).join('\n\n'));
  }
  return exitCode.ok;
}

/** Findings that a person means: by id or the beginning of one, by the handler's name or the last part of it. */
export function findSubject(findings: readonly Finding[], subject: string): readonly Finding[] {
  const matches: readonly ((finding: Finding) => boolean)[] = [
    ({ id }) => id === subject.toLowerCase(),
    ({ handler }) => handler.name === subject,
    ({ id }) => /^[0-9a-f]{4,}$/i.test(subject) && id.startsWith(subject.toLowerCase()),
    ({ handler }) => handler.name.split('.').at(-1) === subject,
  ];
  for (const isMatch of matches) {
    const found = findings.filter(isMatch);
    if (found.length > 0) return found;
  }
  throw unknownSubject(findings, subject);
}

function unknownSubject(findings: readonly Finding[], subject: string): UsageError {
  const near = nearestNames(subject, [...findings.map(({ handler }) => handler.name), ...ruleIds()]);
  const meant = near.length > 0 ? ` Did you mean ${near.map((name) => `'${name}'`).join(' or ')}?` : '';
  return new UsageError(`No finding, handler or rule is called '${subject}'.`, {
    code: 'unknown-subject',
    hint: `${meant} 'outboxify scan' lists the handlers and ids.`.trim(),
  });
}
