import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { toPosix } from './paths.js';

interface Rules {
  /** Directory that the patterns are relative to; absolute. */
  readonly directory: string;
  readonly matcher: Ignore;
}

/**
 * Whether git ignores a file, by the `.gitignore` of every level: those given (relative to `root`), those of the
 * folders above `root` up to the top of its repository, and `.git/info/exclude`. The deepest file that has an
 * opinion decides, as in git.
 */
export function readIgnoreRules(root: string, ignoreFiles: readonly string[]): (file: string) => boolean {
  const byDirectory = new Map<string, Rules>();
  const above = rulesAbove(root);
  for (const file of ignoreFiles) {
    const directory = path.dirname(path.join(root, file));
    byDirectory.set(toPosix(path.relative(root, directory)), { directory, matcher: readRules(path.join(root, file)) });
  }
  if (byDirectory.size === 0 && above.length === 0) return () => false;
  const folders = new Map<string, boolean>();
  const decide = (relative: string): boolean => {
    const parent = path.posix.dirname(relative);
    // Nothing below an ignored folder can be taken back in.
    if (parent !== '.' && isFolderIgnored(parent)) return true;
    return decideAt(root, relative, rulesFor(relative, byDirectory, above));
  };
  const isFolderIgnored = (folder: string): boolean => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const answer = decide(folder) || decideAt(root, `${folder}/`, rulesFor(folder, byDirectory, above));
    folders.set(folder, answer);
    return answer;
  };
  return decide;
}

/** Rules that apply to a file, the deepest first. */
function rulesFor(file: string, byDirectory: ReadonlyMap<string, Rules>, above: readonly Rules[]): Rules[] {
  const rules: Rules[] = [];
  for (let folder = path.posix.dirname(file); ; folder = path.posix.dirname(folder)) {
    const found = byDirectory.get(folder === '.' ? '' : folder);
    if (found) rules.push(found);
    if (folder === '.') return [...rules, ...above];
  }
}

function decideAt(root: string, file: string, rules: readonly Rules[]): boolean {
  for (const { directory, matcher } of rules) {
    const relative = toPosix(path.relative(directory, path.join(root, file))) + (file.endsWith('/') ? '/' : '');
    const answer = matcher.test(relative);
    if (answer.ignored) return true;
    if (answer.unignored) return false;
  }
  return false;
}

/** `.gitignore` files between the root of the project and the top of the repository that contains it, the deepest first. */
function rulesAbove(root: string): Rules[] {
  const rules: Rules[] = [];
  for (let directory = root; ; directory = path.dirname(directory)) {
    const file = path.join(directory, '.gitignore');
    if (directory !== root && existsSync(file)) rules.push({ directory, matcher: readRules(file) });
    if (existsSync(path.join(directory, '.git'))) {
      const exclude = path.join(directory, '.git', 'info', 'exclude');
      return existsSync(exclude) ? [...rules, { directory, matcher: readRules(exclude) }] : rules;
    }
    if (path.dirname(directory) === directory) return [];
  }
}

function readRules(file: string): Ignore {
  try {
    return ignore().add(readFileSync(file, 'utf8'));
  } catch {
    return ignore();
  }
}
