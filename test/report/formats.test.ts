import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { scanRules, toAnnotations } from '../../src/report/annotation.js';
import { renderGithub } from '../../src/report/github.js';
import { renderGitlab } from '../../src/report/gitlab.js';
import { renderHtml } from '../../src/report/html.js';
import { renderJson } from '../../src/report/json.js';
import { renderMarkdown } from '../../src/report/markdown.js';
import { findingRules, safeReasons, stageTexts } from '../../src/report/rules.js';
import { renderSarif } from '../../src/report/sarif.js';
import { validateSarif } from './sarif-schema.js';
import { emptyResult, hostileResult, hostileTexts, lostEvent, sampleResult } from './sample.js';

const tool = { name: 'outboxify', version: '1.2.3' };
const results = [emptyResult, sampleResult, ...hostileTexts.map(hostileResult)];

describe('json', () => {
  const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync('schemas/scan.schema.json', 'utf8')));

  test.each(results.map((result, index) => ({ index, result })))('result $index fits the published schema', ({ result }) => {
    validate(JSON.parse(renderJson(result, { tool })));
    expect(validate.errors).toBeNull();
  });

  test('is the shape of the design, and shows nothing internal', () => {
    const report = JSON.parse(renderJson(sampleResult, { tool, rewriteOf: () => ({ possible: true, reasons: [] }) }));
    expect(Object.keys(report)).toEqual(['schemaVersion', 'tool', 'root', 'stats', 'findings', 'safe', 'subscribers', 'unresolved']);
    expect(report.findings[0]).toEqual({
      id: '7f3a2c0011aa', kind: 'lost-event', severity: 'error', confidence: 'high',
      handler: { file: 'src/orders/order.service.ts', line: 6, name: 'OrderService.place', entry: 'http' },
      publish: { file: 'src/orders/order.service.ts', line: 8, bus: 'nestjs-microservices', transport: 'broker', destination: 'order.placed', awaited: false, path: [] },
      writes: [{
        file: 'src/orders/orders.repository.ts', line: 19, orm: 'typeorm', operation: 'save', target: 'Order',
        path: [
          { file: 'src/orders/order.service.ts', line: 7, function: 'OrderService.place' },
          { file: 'src/orders/orders.repository.ts', line: 12, function: 'OrdersRepository.add' },
        ],
      }],
      witness: lostEvent.witness.map(({ step, file, line, text }) => ({ step, file, line, text })),
      stage: 'legacy', rewrite: { possible: true, reasons: [] },
    });
    expect(report.stats).toEqual({ files: 1204, parsed: 37, milliseconds: 913 });
  });

  test('says which files were passed over', () => {
    const { unresolved } = JSON.parse(renderJson(sampleResult, { tool }));
    expect(unresolved).toContainEqual({ file: 'src/generated.ts', line: 1, text: 'too-large', hint: 'The file was passed over: 5.0 MB; files over 2 MB are passed over.' });
  });

  test.each([
    { name: 'an unknown field', break: (finding: Record<string, unknown>) => ({ ...finding, span: {} }) },
    { name: 'an unknown kind', break: (finding: Record<string, unknown>) => ({ ...finding, kind: 'dual-write' }) },
    { name: 'a line number in the id', break: (finding: Record<string, unknown>) => ({ ...finding, id: 'a.ts:12' }) },
  ])('the schema refuses $name', (row) => {
    const report = JSON.parse(renderJson(sampleResult, { tool }));
    expect(validate({ ...report, findings: report.findings.map(row.break) })).toBe(false);
  });
});

test('the schema knows exactly the reasons that the tool can give', () => {
  const schema = JSON.parse(readFileSync('schemas/scan.schema.json', 'utf8'));
  expect([...schema.properties.safe.items.properties.reason.enum].sort()).toEqual(Object.keys(safeReasons).sort());
  expect([...schema.$defs.finding.properties.kind.enum].sort()).toEqual(Object.keys(findingRules).sort());
  expect([...schema.$defs.finding.properties.stage.enum].sort()).toEqual(Object.keys(stageTexts).sort());
});

describe('sarif', () => {
  const render = (result: typeof sampleResult) => renderSarif({ tool, annotations: toAnnotations(result), rules: scanRules, skipped: result.skipped });

  test.each(results.map((result, index) => ({ index, result })))('result $index fits the official schema of SARIF 2.1.0', ({ result }) => {
    validateSarif(JSON.parse(render(result)));
    expect(validateSarif.errors).toBeNull();
  });

  test('the official schema is really applied', () => {
    expect(validateSarif(JSON.parse(render(sampleResult).replaceAll('"level": "error"', '"level": "bad"')))).toBe(false);
  });

  test('carries a stable fingerprint, the rule and the path', () => {
    const [run] = JSON.parse(render(sampleResult)).runs;
    const [result] = run.results;
    expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(['lost-event', 'phantom-event']);
    expect(run.tool.driver.rules[0].help.markdown).toContain('outbox');
    expect(result.partialFingerprints).toEqual({ 'outboxify/v1': '7f3a2c0011aa' });
    expect(run.tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId);
    expect(result.locations[0].physicalLocation).toEqual({ artifactLocation: { uri: 'src/orders/order.service.ts', uriBaseId: '%SRCROOT%' }, region: { startLine: 8 } });
    expect(result.codeFlows[0].threadFlows[0].locations).toHaveLength(4);
    expect(run.invocations[0].toolExecutionNotifications).toHaveLength(1);
  });

  test('names of files are percent-encoded', () => {
    const text = render(hostileResult('a b%c#d?'));
    expect(JSON.parse(text).runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe('src/a%20b%25c%23d%3F.ts');
  });
});

describe('github', () => {
  test('is one workflow command per finding', () => {
    expect(parseCommands(renderGithub(toAnnotations(sampleResult)))).toEqual([
      {
        command: 'error',
        properties: { file: 'src/orders/order.service.ts', line: '8', title: 'lost-event: OrderService.place' },
        text: "OrderService.place commits Order and then publishes 'order.placed' (nestjs-microservices): a crash between the two loses the event.",
      },
      {
        command: 'warning',
        properties: { file: 'src/orders/order.service.ts', line: '15', title: 'phantom-event: OrderService.cancel' },
        text: "OrderService.cancel publishes 'order.cancelled' (nestjs-microservices) before Order is committed: a rollback leaves an event without its state.",
      },
    ]);
  });

  test.each(hostileTexts.map((text) => ({ text })))('$text stays within its command and comes out as it was', ({ text }) => {
    const commands = parseCommands(renderGithub(toAnnotations(hostileResult(text))));
    expect(commands).toHaveLength(1);
    expect(commands[0]?.properties['title']).toBe(`lost-event: ${text}`);
    expect(commands[0]?.text.startsWith(text)).toBe(true);
  });

  test('a remark about no file has none', () => {
    const [annotation] = toAnnotations(sampleResult);
    if (!annotation) throw new Error('no annotation');
    expect(parseCommands(renderGithub([{ ...annotation, place: null }]))[0]?.properties).toEqual({ title: 'lost-event: OrderService.place' });
  });
});

describe('gitlab', () => {
  test.each(results.map((result, index) => ({ index, result })))('result $index has what the format demands', ({ result }) => {
    const issues = JSON.parse(renderGitlab(toAnnotations(result)));
    expect(issues).toHaveLength(result.findings.length);
    for (const issue of issues) {
      expect(issue).toEqual({
        description: expect.any(String), check_name: expect.stringMatching(/^[a-z-]+$/), fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
        severity: expect.stringMatching(/^(?:info|minor|major|critical|blocker)$/), location: { path: expect.any(String), lines: { begin: expect.any(Number) } },
      });
    }
  });
});

describe('html', () => {
  test.each(hostileTexts.map((text) => ({ text })))('$text adds no element and no attribute', ({ text }) => {
    expect(skeleton(renderHtml(hostileResult(text), tool))).toEqual(skeleton(renderHtml(hostileResult('plain'), tool)));
  });

  test('is self-contained', () => {
    const html = renderHtml(sampleResult, tool);
    expect(html).toContain('OrderService.place');
    expect(html).not.toMatch(/<(?:script|link|img|iframe)|\bsrc=|@import|url\(/i);
  });
});

describe('markdown', () => {
  test.each(hostileTexts.map((text) => ({ text })))('$text changes neither the lines nor the cells', ({ text }) => {
    const shape = (markdown: string): string[] => markdown.split('\n').map((line) => (line.startsWith('|') ? String(cells(line)) : (/^(?:#+ |\d+\. |[-+=>:*]|```|~~~| {4}|$)/.exec(line)?.[0] ?? 'text')));
    const markdown = renderMarkdown(hostileResult(text));
    expect(shape(markdown)).toEqual(shape(renderMarkdown(hostileResult('plain'))));
    expect(markdown.replace(/(`+)[\s\S]*?\1/g, '')).not.toMatch(/<(?!\/?details|\/?summary)[a-z/]/i);
  });

  test('lists findings, safe publishes, subscribers and what is not resolved', () => {
    const markdown = renderMarkdown(sampleResult);
    for (const part of ['### `OrderService.place`', '## Safe publishes', '## Subscribers', '## Not resolved', '## 1 file passed over']) expect(markdown).toContain(part);
  });
});

interface WorkflowCommand {
  readonly command: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The documented grammar, strictly: `::name key=value,key=value::text`, one per line, values escaped. */
function parseCommands(output: string): WorkflowCommand[] {
  if (output !== '' && !output.endsWith('\n')) throw new Error('the last line has no end');
  return output.split('\n').slice(0, -1).map((line) => {
    const match = /^::(error|warning|notice) ((?:[a-zA-Z]+=[^,:\r\n]*)(?:,[a-zA-Z]+=[^,:\r\n]*)*)::([^\r\n]*)$/.exec(line);
    if (!match) throw new Error(`no workflow command: ${line}`);
    const [, command = '', properties = '', text = ''] = match;
    const entries = properties.split(',').map((property): [string, string] => {
      const [key = '', value = ''] = property.split(/=(.*)/s);
      return [key, unescape(value, { '%3A': ':', '%2C': ',' })];
    });
    return { command, properties: Object.fromEntries(entries), text: unescape(text, {}) };
  });
}

function unescape(text: string, more: Readonly<Record<string, string>>): string {
  const known: Readonly<Record<string, string>> = { '%25': '%', '%0D': '\r', '%0A': '\n', ...more };
  return text.replace(/%(?:[0-9A-F]{2})?/g, (token) => {
    const character = known[token];
    if (character === undefined) throw new Error(`not escaped: ${token} in ${text}`);
    return character;
  });
}

/** Tags with the names of their attributes. */
function skeleton(html: string): string[] {
  const tags = html.match(/<[^>]*>/g) ?? [];
  return tags.map((tag) => tag.replace(/"[^"]*"/g, '""'));
}

/** Cells of a table row: bars that are not escaped. */
function cells(line: string): number {
  return line.replace(/\\\|/g, '').split('|').length;
}
