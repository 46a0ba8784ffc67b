import { describe, expect, test } from 'vitest';
import { reportError, withoutPaths } from '../../src/cli/errors.js';
import type { Ui } from '../../src/cli/ui.js';
import { CancelledError, ToolError } from '../../src/core/errors.js';
import { createStyle } from '../../src/report/text.js';

function recorder(): { readonly out: Ui; readonly printed: string[]; readonly failed: string[] } {
  const [printed, failed]: [string[], string[]] = [[], []];
  const out: Ui = {
    print: (text) => void printed.push(text), error: (text) => void failed.push(text), note: () => undefined, progress: () => undefined,
    isTerminal: false, hasLinks: false, color: false, style: createStyle(false),
  };
  return { out, printed, failed };
}

const promptCancelled = Object.assign(new Error('User force closed the prompt'), { name: 'ExitPromptError' });

describe('what was thrown and what is said', () => {
  test.each([
    { name: 'a failure the user can mend', error: new ToolError('It failed.', { code: 'it-failed', hint: 'Mend it.' }), code: 2, says: 'error It failed.\n  Mend it.' },
    { name: 'a failure without a hint', error: new ToolError('It failed.', { code: 'it-failed' }), code: 2, says: 'error It failed.' },
    { name: 'Ctrl-C', error: new CancelledError(), code: 130, says: 'Cancelled; nothing more was done.' },
    { name: 'Ctrl-C at a prompt', error: promptCancelled, code: 130, says: 'Cancelled; nothing more was done.' },
  ])('$name', ({ error, code, says }) => {
    const { out, printed, failed } = recorder();
    expect(reportError(error, { out, asJson: false })).toBe(code);
    expect({ printed, failed }).toEqual({ printed: [], failed: [says] });
  });

  test('in JSON', () => {
    const { out, printed, failed } = recorder();
    const error = new ToolError('It failed.', { code: 'it-failed', hint: 'Mend it.', file: 'a.ts', line: 3 });
    expect(reportError(error, { out, asJson: true })).toBe(2);
    expect(failed).toEqual([]);
    expect(printed.map((text) => JSON.parse(text))).toEqual([{ code: 'it-failed', message: 'It failed.', hint: 'Mend it.', file: 'a.ts', line: 3 }]);
  });

  test('a bug says that it is ours, with a stack that names no folder of the machine', () => {
    const { out, failed } = recorder();
    expect(reportError(new TypeError(`x is not a function in ${process.cwd()}/src/a.ts`), { out, asJson: false })).toBe(2);
    expect(failed[0]).toContain('This is a bug of outboxify, not of your project.');
    expect(failed[0]).toContain('TypeError: x is not a function');
    expect(failed[0]).toContain('test/cli/errors.test.ts');
    expect(failed[0]).not.toContain(process.cwd());
    const json = recorder();
    reportError('a text that was thrown', { out: json.out, asJson: true });
    expect(JSON.parse(json.printed[0] ?? '')).toMatchObject({ code: 'internal-error', message: 'This is a bug of outboxify: a text that was thrown' });
  });
});

test.each([
  ['at f (file:///home/ann/shop/node_modules/x/index.js:3:4)', 'at f (<path>/index.js:3:4)'],
  ['at f (C:\\Users\\ann\\shop\\a.js:3:4)', 'at f (<path>/a.js:3:4)'],
  ["open '/home/ann/secret.txt'", "open '<path>/secret.txt'"],
  ['at node:internal/modules/run_main:164:12', 'at node:internal/modules/run_main:164:12'],
  [`at f (file://${process.cwd()}/dist/src/cli/main.js:1:2)`, 'at f (<outboxify>/dist/src/cli/main.js:1:2)'],
])('%s becomes %s', (text, expected) => {
  expect(withoutPaths(text)).toBe(expected);
});
