import type { Annotation } from './annotation.js';

/** GitLab's code quality report: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format */
export function renderGitlab(annotations: readonly Annotation[]): string {
  const issues = annotations.map(({ rule, level, place, message, fingerprint }) => ({
    description: message,
    check_name: rule,
    fingerprint,
    severity: level === 'error' ? 'major' : 'minor',
    // The format demands a place; what is about a table is shown at the project's configuration.
    location: { path: place?.file ?? 'outboxify.json', lines: { begin: Math.max(1, place?.line ?? 1) } },
  }));
  return `${JSON.stringify(issues, null, 2)}\n`;
}
