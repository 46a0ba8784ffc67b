import { type UnreadImport } from '../core/report.js';
import { isBeside, type Workspace } from '../workspace/workspace.js';
import type { FileFacts } from './facts.js';
import { packageName, type ModuleLinks } from './resolve-modules.js';
import { isScript } from './typescript/parse.js';

/** Facts of the project's own sources, and of the files beside the project that these reach by imports, however far. */
export function readReached(sources: readonly string[], { resolve }: ModuleLinks, read: (file: string) => FileFacts | null): Map<string, FileFacts> {
  const facts = new Map<string, FileFacts>();
  const asked = new Set(sources);
  // A set goes on over what is added while it is gone through.
  for (const file of asked) {
    const found = read(file);
    if (found === null) continue;
    facts.set(file, found);
    for (const specifier of specifiersOf(found)) {
      const target = resolve(specifier, file);
      if (target !== null && isBeside(target) && isScript(target)) asked.add(target);
    }
  }
  return facts;
}

/** Imports of code that no registry has and that is out of reach: what it writes or publishes is missing from the result. */
export function unreadImports(facts: Iterable<FileFacts>, { resolve, leadsOut }: ModuleLinks, workspace: Workspace): readonly UnreadImport[] {
  return [...facts].flatMap((each) =>
    specifiersOf(each)
      .filter((specifier) => isCode(specifier) && resolve(specifier, each.file) === null && leadsOut(specifier, each.file))
      .map((specifier) => ({ file: each.file, line: lineOf(workspace.read(each.file) ?? '', specifier), specifier, hint: `'${specifier}' was not read: it lies outside the project, or only its build is there. Scan a folder that holds both.` })),
  );
}

/** The packages that files import, each with one of these files. */
export function importedPackages(facts: Iterable<FileFacts>, { resolve }: ModuleLinks): ReadonlyMap<string, string> {
  const packages = new Map<string, string>();
  for (const each of facts) {
    for (const specifier of specifiersOf(each)) {
      const name = packageName(specifier);
      if (!specifier.startsWith('.') && !packages.has(name) && resolve(specifier, each.file) === null) packages.set(name, each.file);
    }
  }
  return packages;
}

function specifiersOf({ imports, exports }: FileFacts): readonly string[] {
  return [...new Set([...imports, ...exports].flatMap(({ module }) => (module === null ? [] : [module])))];
}

/** Data and styles have no effects. */
function isCode(specifier: string): boolean {
  return !/\.(?:json|css|s[ac]ss|less|svg|png|jpe?g|txt|md|graphql|gql|html|ya?ml|proto|sql|node|wasm)$/.test(specifier);
}

function lineOf(text: string, specifier: string): number {
  const offset = [`'${specifier}'`, `"${specifier}"`].map((quoted) => text.indexOf(quoted)).find((index) => index >= 0) ?? 0;
  return text.slice(0, offset).split('\n').length;
}
