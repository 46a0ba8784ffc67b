import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { analyse } from '../../src/analysis/analyse.js';
import { defaultConfig } from '../../src/workspace/config.js';
import { openWorkspace } from '../../src/workspace/disk.js';

/** `expected-scan.json` of the example app. */
interface ExpectedScan {
  readonly findings: readonly { readonly handler: string; readonly kind: string; readonly destination: string }[];
  readonly safe: readonly { readonly file: string; readonly destination: string; readonly reason: string }[];
  readonly subscribers: readonly { readonly name: string; readonly destination: string; readonly writes: boolean }[];
}

const shop = fileURLToPath(new URL('../../fixtures/apps/shop', import.meta.url));
const expected = JSON.parse(readFileSync(`${shop}/expected-scan.json`, 'utf8')) as ExpectedScan;
const config = { ...defaultConfig, exclude: ['demo/**'] };
const { result } = analyse(openWorkspace(shop, config), config);

test('every handler of the shop with a dual write is found, and nothing else', () => {
  const found = result.findings.map(({ handler, kind, publish }) => ({ handler: handler.name, kind, destination: publish.destination ?? '' }));
  expect(sorted(found)).toEqual(sorted(expected.findings));
  expect(result.unresolved).toEqual([]);
});

test('the safe publishes of the shop are told with their reason', () => {
  const found = result.safe.map(({ file, reason }) => ({ file, reason }));
  expect(sorted(found)).toEqual(sorted(expected.safe.map(({ file, reason }) => ({ file, reason }))));
});

test('the subscribers of the shop are found, with whether they write', () => {
  const found = result.subscribers.map(({ name, destination, writes }) => ({ name, destination: destination ?? '', writes }));
  expect(sorted(found)).toEqual(sorted(expected.subscribers));
});

function sorted<T>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
