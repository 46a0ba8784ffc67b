import { describe, expect, test } from 'vitest';
import { mergeDocument, type Block } from '../../src/plan/document.js';

const about = { title: 'Outbox migration', file: 'PLAN.md' };
const item = (text: string, done: boolean | null): Block['lines'][number] => ({ text, done });

const blocks: readonly Block[] = [
  { key: 'summary', lines: ['Handlers: 2.'] },
  { key: 'handler a.ts#A.place', lines: ['### `A.place`', '', item('dual-publish', false), '  Gate, not met: outbox table.', item('deployed *(by hand)*', null)] },
  { key: 'handler b.ts#B.place', lines: ['### `B.place`', '', item('dual-publish', true)] },
];

const fresh = mergeDocument(null, blocks, about);

describe('a plan', () => {
  test('is written afresh with markers, and an unchanged run changes no byte', () => {
    expect(fresh).toBe(`# Outbox migration

<!-- outboxify:begin summary -->
Handlers: 2.
<!-- outboxify:end -->

<!-- outboxify:begin handler a.ts#A.place -->
### \`A.place\`

- [ ] dual-publish
  Gate, not met: outbox table.
- [ ] deployed *(by hand)*
<!-- outboxify:end -->

<!-- outboxify:begin handler b.ts#B.place -->
### \`B.place\`

- [x] dual-publish
<!-- outboxify:end -->
`);
    expect(mergeDocument(fresh, blocks, about)).toBe(fresh);
  });

  test('ticks what is done now, takes a tick back that is not, and keeps ticks by hand', () => {
    const edited = fresh.replace('- [ ] deployed', '- [x] deployed').replace('`A.place`\n\n- [ ] dual-publish', '`A.place`\n\n- [x] dual-publish');
    const merged = mergeDocument(edited, blocks, about);
    expect(merged).toBe(fresh.replace('- [ ] deployed', '- [x] deployed'));
  });

  test('keeps what people wrote: the title, text between blocks, and notes within them, where they stand', () => {
    const edited = fresh
      .replace('# Outbox migration', '# Our way, owner: Kim')
      .replace('Handlers: 2.', '> ask Kim first\nHandlers: 2.')
      .replace('  Gate, not met: outbox table.', '  > waits for the DBA\n  > since Monday\n  Gate, not met: outbox table.')
      .replace('<!-- outboxify:begin handler b', 'B is owned by payments.\n\n<!-- outboxify:begin handler b')
      .replace('### `B.place`\n\n', '### `B.place`\n\n> after the summer\n');
    expect(mergeDocument(edited, blocks, about)).toBe(edited);
    const later = blocks.map((block) => (block.key.includes('A.place') ? { ...block, lines: ['### `A.place`', '', item('dual-publish', true)] } : block));
    const merged = mergeDocument(edited, later, about);
    expect(merged).toContain('- [x] dual-publish\n  > waits for the DBA\n  > since Monday\n<!-- outboxify:end -->');
    expect(merged).not.toContain('Gate');
    expect(mergeDocument(merged, later, about)).toBe(merged);
  });

  test('puts a new block in its place, and takes one away but not its notes', () => {
    const added: Block = { key: 'handler c.ts#C.place', lines: ['### `C.place`'] };
    const [first, second, third] = blocks as readonly [Block, Block, Block];
    const merged = mergeDocument(fresh, [first, second, added, third], about);
    expect(merged).toBe(mergeDocument(null, [first, second, added, third], about));
    expect(mergeDocument(fresh, [...blocks, added], about)).toBe(mergeDocument(null, [...blocks, added], about));
    expect(mergeDocument(fresh, [first, third], about)).toBe(mergeDocument(null, [first, third], about));
    const noted = fresh.replace('  Gate, not met', '> why A is special\n  Gate, not met');
    expect(mergeDocument(noted, [first, third], about)).toContain('> why A is special\n');
  });

  test('keeps CRLF', () => {
    const windows = fresh.replaceAll('\n', '\r\n');
    expect(mergeDocument(windows, blocks, about)).toBe(windows);
  });

  test.each([
    { name: 'no marker', text: '# My own file\n', code: 'file-exists' },
    { name: 'an end that is missing', text: fresh.replace('<!-- outboxify:end -->\n', ''), code: 'bad-markers' },
    { name: 'the last end missing', text: fresh.replace(/<!-- outboxify:end -->\n$/, ''), code: 'bad-markers' },
    { name: 'an end too many', text: `${fresh}<!-- outboxify:end -->\n`, code: 'bad-markers' },
    { name: 'a block that stands there twice', text: `${fresh}${fresh}`, code: 'bad-markers' },
  ])('$name: an error, since people\'s text could be lost', ({ text, code }) => {
    expect(() => mergeDocument(text, blocks, about)).toThrow(expect.objectContaining({ code }));
  });
});
