import { describe, expect, test } from 'vitest';
import { compareWithBaseline, toBaseline } from '../../src/plan/ratchet.js';
import { parseBaseline, writeBaseline } from '../../src/workspace/baseline.js';
import { memoryWorkspace } from '../../src/workspace/workspace.js';
import { facts, finding, type FindingSketch } from './handlers.js';

const handlers = (...sketches: readonly FindingSketch[]) => facts({ result: { findings: sketches.map(finding) } }).handlers;
const rules = (now: readonly FindingSketch[], before: readonly FindingSketch[] | null): readonly string[] =>
  compareWithBaseline(handlers(...now), before === null ? null : toBaseline(handlers(...before))).map(({ rule, severity }) => `${severity} ${rule}`);

const place: FindingSketch = { name: 'Orders.place' };
const cancel: FindingSketch = { name: 'Orders.cancel', event: 'order.cancelled' };

describe('the ratchet', () => {
  test.each<{ name: string; now: readonly FindingSketch[]; before: readonly FindingSketch[] | null; expected: readonly string[] }>([
    { name: 'no baseline: every dual write is a problem', now: [place, cancel], before: null, expected: ['error new-dual-write', 'error new-dual-write'] },
    { name: 'no baseline and nothing found', now: [], before: null, expected: [] },
    { name: 'accepted ones', now: [place, cancel], before: [cancel, place], expected: [] },
    { name: 'a new one', now: [place, cancel], before: [place], expected: ['error new-dual-write'] },
    { name: 'a second publish in an accepted handler', now: [place, { ...place, event: 'order.counted' }], before: [place], expected: ['error new-dual-write'] },
    { name: 'one that is gone', now: [place], before: [place, cancel], expected: ['warning stale-baseline'] },
    { name: 'one that stores its event now', now: [{ ...place, stage: 'dual-publish' }], before: [place], expected: ['warning stale-baseline'] },
    { name: 'a handler written at dual-publish', now: [{ ...place, stage: 'dual-publish' }], before: [], expected: [] },
    { name: 'a step back', now: [place], before: [{ ...place, stage: 'dual-publish' }], expected: ['error stage-regression'] },
    { name: 'one whose file was renamed', now: [{ ...place, file: 'src/renamed.ts' }], before: [place], expected: ['warning stale-baseline'] },
    { name: 'one that was copied to another file', now: [place, { ...place, file: 'src/copy.ts' }], before: [place], expected: ['error new-dual-write'] },
    { name: 'one that was moved and copied', now: [{ ...place, file: 'src/renamed.ts' }, { ...place, file: 'src/copy.ts' }], before: [place], expected: ['error new-dual-write', 'warning stale-baseline'] },
    { name: 'a moved one that is legacy again', now: [{ ...place, file: 'src/renamed.ts' }], before: [{ ...place, stage: 'dual-publish' }], expected: ['error new-dual-write'] },
    { name: 'a handler at dual-publish that is gone', now: [], before: [{ ...place, stage: 'dual-publish' }], expected: [] },
  ])('$name', ({ now, before, expected }) => {
    expect(rules(now, before)).toEqual(expected);
  });

  test('a step back from outbox-only, where the finding has no id in the baseline', () => {
    const { handler } = finding(place);
    const safe = [{ file: handler.file, line: 3, bus: 'outbox', reason: 'outbox-store' as const, destination: 'order.placed', handler, span: { file: handler.file, start: 1, end: 2 } }];
    const baseline = toBaseline(facts({ result: { safe } }).handlers);
    expect(baseline).toEqual([{ id: null, stage: 'outbox-only', file: handler.file, handler: 'Orders.place', event: 'order.placed' }]);
    expect(compareWithBaseline(handlers(place), baseline)).toMatchObject([{ rule: 'stage-regression', object: handler.file }]);
  });

  test('a baseline is read as it was written, in one order, and says what is wrong with it', () => {
    const entries = toBaseline(handlers(place, cancel));
    const { after } = writeBaseline(memoryWorkspace({}), entries);
    expect(writeBaseline(memoryWorkspace({}), [...entries].reverse()).after).toBe(after);
    expect(parseBaseline(after)).toHaveLength(2);
    expect(compareWithBaseline(handlers(place, cancel), parseBaseline(after))).toEqual([]);
    expect(parseBaseline(writeBaseline(memoryWorkspace({}), []).after)).toEqual([]);
    for (const text of ['{', '[]', '{"schemaVersion":2,"handlers":[]}', '{"schemaVersion":1,"handlers":[{}]}']) expect(() => parseBaseline(text)).toThrow(expect.objectContaining({ code: 'bad-baseline' }));
  });
});
