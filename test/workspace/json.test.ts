import { expect, test } from 'vitest';
import { parseLooseJson } from '../../src/workspace/json.js';

test.each([
  ['{"a": 1}', { a: 1 }],
  ['\ufeff{"a": 1}', { a: 1 }],
  ['{ // comment\n "a": [1, 2,], /* and\nanother */ "b": {"c": 1,},\n}', { a: [1, 2], b: { c: 1 } }],
  ['{"url": "http://x/*y*/", "path": "a//b,]"}', { url: 'http://x/*y*/', path: 'a//b,]' }],
  ['{"quote": "a\\"//b"}', { quote: 'a"//b' }],
  ['{', null],
  ['', null],
])('%s', (text, expected) => {
  expect(parseLooseJson(text)).toEqual(expected);
});
