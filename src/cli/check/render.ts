import { createHash } from 'node:crypto';
import type { Problem } from '../../core/problem.js';
import { codeRules } from '../../plan/code-rules.js';
import type { KeyedProblem } from '../../plan/ratchet.js';
import type { Annotation } from '../../report/annotation.js';
import type { Format } from '../../report/format.js';
import { renderGithub } from '../../report/github.js';
import { renderGitlab } from '../../report/gitlab.js';
import type { RuleText } from '../../report/rules.js';
import { renderSarif } from '../../report/sarif.js';
import { printable, type TextStyle } from '../../report/text.js';
import { readRulePage } from '../../schema/rule-page.js';
import { schemaRules } from '../../schema/rules.js';
import { version } from '../../workspace/package.js';

export interface CheckResult {
  readonly problems: readonly (Problem & Partial<KeyedProblem>)[];
  /** Ids of the rules that were looked at. */
  readonly checked: readonly string[];
}

/** The result of a check in the format that was asked for. */
export function renderProblems(result: CheckResult, { format, style }: { readonly format: Format; readonly style: TextStyle }): string {
  const tool = { name: 'outboxify', version: version() };
  switch (format) {
    case 'json':
      return JSON.stringify({ schemaVersion: 1, tool, problems: result.problems.map(toJson), checked: result.checked }, null, 2);
    case 'sarif':
      return renderSarif({ tool, annotations: result.problems.map(toAnnotation), rules: rulesOf(result.checked) });
    case 'github':
      return renderGithub(result.problems.map(toAnnotation));
    case 'gitlab':
      return renderGitlab(result.problems.map(toAnnotation));
    default:
      return toText(result, style);
  }
}

function toJson({ rule, severity, subject, object, file, line, message, fix }: Problem): Problem {
  return { rule, severity, subject, object, file, line, message, fix };
}

function toAnnotation(problem: CheckResult['problems'][number]): Annotation {
  const { rule, severity, file, line, object, message, fix, key, handler } = problem;
  return {
    rule, level: severity, subject: handler ?? object, steps: [],
    place: file === '' ? null : { file, line },
    message: `${message}\nFix: ${fix}`,
    fingerprint: createHash('sha256').update([rule, object, key ?? ''].join('\0')).digest('hex').slice(0, 16),
  };
}

function rulesOf(checked: readonly string[]): readonly RuleText[] {
  const code = codeRules.map(({ id, title, problem, solution }): RuleText => ({ id, title, problem, pain: '', cure: solution }));
  const schema = schemaRules.map(({ id, title }): RuleText => {
    const { problem, solution } = readRulePage(id);
    return { id, title, problem, pain: '', cure: solution };
  });
  return [...code, ...schema].filter(({ id }) => checked.includes(id));
}

function toText({ problems, checked }: CheckResult, style: TextStyle): string {
  const blocks = problems.map(({ rule, severity, file, line, object, message, fix }) => {
    const mark = severity === 'error' ? style.red('error') : style.yellow('warning');
    const place = file === '' ? object : `${file}:${line}`;
    return [`${mark}  ${style.bold(printable(place))}  ${rule}`, `  ${printable(message)}`, ...fix.split('\n').map((part) => `  ${style.dim('fix')}  ${printable(part)}`), ''].join('\n');
  });
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const figures = [count(errors, 'error'), count(warnings, 'warning')].join(', ');
  return [...blocks, `${problems.length === 0 ? 'No problem' : figures}; ${count(checked.length, 'rule')} checked.`].join('\n');
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? '' : 's'}`;
}
