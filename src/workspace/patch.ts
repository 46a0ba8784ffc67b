import { structuredPatch } from 'diff';
import type { Change } from './sink.js';

/** One hunk of a unified diff as the `diff` package gives it. */
interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/**
 * A unified diff that `git apply` takes: files made, changed and deleted, CRLF, no line end at the end of a file.
 * `isExecutable` is asked for files that exist.
 */
export function toPatch(changes: readonly Change[], isExecutable: (file: string) => boolean = () => false): string {
  return changes.filter(({ before, after }) => before !== after).map((change) => filePatch(change, isExecutable)).join('');
}

function filePatch({ file, before, after }: Change, isExecutable: (file: string) => boolean): string {
  const [oldName, newName] = [quoteName(`a/${file}`), quoteName(`b/${file}`)];
  const mode = before !== null && isExecutable(file) ? '100755' : '100644';
  let text = `diff --git ${oldName} ${newName}\n`;
  if (before === null) text += `new file mode ${mode}\n`;
  if (after === null) text += `deleted file mode ${mode}\n`;
  const { hunks } = structuredPatch(file, file, before ?? '', after ?? '', undefined, undefined, { context: 3 });
  if (hunks.length === 0) return text;
  text += `--- ${before === null ? '/dev/null' : withTab(oldName)}\n+++ ${after === null ? '/dev/null' : withTab(newName)}\n`;
  return text + hunks.map(hunkText).join('');
}

function hunkText({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string {
  // A side without lines stands after the line before it: `-0,0`, not `-1,0`.
  const old = `${oldLines === 0 ? oldStart - 1 : oldStart},${oldLines}`;
  const now = `${newLines === 0 ? newStart - 1 : newStart},${newLines}`;
  return `@@ -${old} +${now} @@\n${lines.join('\n')}\n`;
}

/** git ends a name with spaces by a tab in the `---` and `+++` lines. */
function withTab(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name;
}

/** git's C-style quoting, used for names that hold a quote, a backslash or a control character. */
function quoteName(name: string): string {
  if (!/["\\\x00-\x1f\x7f]/.test(name)) return name;
  const escaped = name.replace(/["\\\x00-\x1f\x7f]/g, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return `"${escaped}"`;
}
