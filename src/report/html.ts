import type { Finding } from '../core/finding.js';
import type { ScanResult } from '../core/report.js';
import { findingSentence } from './annotation.js';
import { byFile, countFigures, figuresSentence, statsSentence } from './figures.js';
import type { ToolName } from './json.js';
import { remarksOf } from './remarks.js';
import { findingRules, safeReasons } from './rules.js';

const styles = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1e; background: #fff; }
h2 { font: 600 1rem ui-monospace, monospace; margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
article { border-left: 4px solid #c62828; margin: 1rem 0; padding: .2rem 1rem; background: #f7f7f8; }
article.warning { border-color: #ef9a00; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .2rem .6rem .2rem 0; vertical-align: top; border-bottom: 1px solid #ddd; }
.meta { color: #666; }
@media (prefers-color-scheme: dark) { body { color: #e8e8ea; background: #1c1c1e; } article { background: #2a2a2d; } .meta { color: #aaa; } }
`;

/** One self-contained file: no script, nothing fetched. */
export function renderHtml(result: ScanResult, tool: ToolName): string {
  const groups = [...byFile(result.findings)].map(([file, findings]) => `<h2>${escape(file)}</h2>\n${findings.map(findingHtml).join('\n')}`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Dual writes</title>
<style>${styles}</style>
</head>
<body>
<h1>Dual writes</h1>
<p>${escape(figuresSentence(countFigures(result)))} <span class="meta">${escape(statsSentence(result))} ${escape(tool.name)} ${escape(tool.version)}</span></p>
${[...remarksOf(result).map((remark) => `<p>${escape(remark)}</p>`), ...groups, ...listings(result)].join('\n')}
</body>
</html>
`;
}

function findingHtml(finding: Finding): string {
  const { handler, kind, severity, confidence, publish, witness, id } = finding;
  const steps = witness.map(({ step, file, line, text }) => `<li value="${step}">${escape(text)} <code class="meta">${escape(`${file}:${line}`)}</code></li>`);
  return `<article class="${severity}" id="${escape(id)}">
<h3><code>${escape(handler.name)}</code></h3>
<p class="meta">${escape([kind, publish.bus, publish.destination ?? 'destination unknown', `${confidence} confidence`, id].join(' · '))}</p>
<p>${escape(findingSentence(finding))}</p>
<ol>${steps.join('')}</ol>
<p class="meta">${escape(findingRules[kind].cure)}</p>
</article>`;
}

function listings(result: ScanResult): readonly string[] {
  return [
    tableHtml('Safe publishes', ['where', 'bus', 'reason'], result.safe.map(({ file, line, bus, reason }) => [`${file}:${line}`, bus, `${reason}: ${safeReasons[reason]}`])),
    tableHtml(
      'Subscribers',
      ['subscriber', 'event', 'where', 'inbox', 'writes'],
      result.subscribers.map(({ name, destination, file, line, inbox, writes }) => [name, destination ?? '?', `${file}:${line}`, inbox ? 'yes' : 'no', writes ? 'yes' : 'no']),
    ),
    tableHtml('Not resolved', ['where', 'call', 'what would resolve it'], result.unresolved.map(({ file, line, text, hint }) => [`${file}:${line}`, text, hint])),
    tableHtml('Passed over', ['file', 'why'], result.skipped.map(({ file, message }) => [file, message])),
  ].filter((table) => table !== '');
}

function tableHtml(...[title, head, rows]: readonly [title: string, head: readonly string[], rows: readonly (readonly string[])[]]): string {
  if (rows.length === 0) return '';
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`).join('\n');
  return `<h2>${title}</h2>\n<table>\n<tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr>\n${body}\n</table>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
