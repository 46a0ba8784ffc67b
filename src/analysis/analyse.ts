import { adapters } from '../adapters/registry.js';
import { buildCatalog } from '../adapters/catalog.js';
import type { Config } from '../core/config.js';
import type { FunctionRef, Unresolved } from '../core/finding.js';
import { isWithin, type Span } from '../core/place.js';
import type { SkippedFile } from '../core/report.js';
import { brokenManifests } from '../workspace/manifests.js';
import { resolveServices } from '../workspace/services.js';
import { findStacks } from '../workspace/stacks.js';
import { isBeside, type Workspace } from '../workspace/workspace.js';
import type { Analysis } from './analysis.js';
import { unresolvedOf } from './doubts.js';
import { runEntries } from './entries.js';
import type { FileFacts } from './facts.js';
import { findingsOf, type EntryWalk } from './findings.js';
import { collectProviders } from './injection.js';
import { BUDGET, functionRef, spanKey, type Machine } from './machine.js';
import { Program } from './program.js';
import { importedPackages, readReached, unreadImports } from './reach.js';
import { moduleLinks } from './resolve-modules.js';
import { safeOf } from './safe.js';
import { specialFunctions } from './special-functions.js';
import { subscribersOf } from './subscribers.js';
import { readFacts } from './typescript/facts.js';
import { isScript, LARGEST_SOURCE, parseScript, syntaxErrorOf } from './typescript/parse.js';

export interface AnalyseOptions {
  /** Only handlers in these files or folders are reported; the whole project is still read. */
  readonly paths?: readonly string[];
}

/** Below `src`, a folder `test` may be what the project is about; the files of tests have names that say so. */
const TESTS = /(^|\/)(__tests__|__mocks__)\/|(^|\/)(?<!(?:^|\/)src\/(?:.*\/)?)(tests?|e2e)\/|[.-](spec|test|e2e-spec|e2e)\.[cm]?[jt]sx?$/;

/** Analyses a project: facts of every file, linked, run from every entry, and judged. Runs none of the project's code. */
export function analyse(workspace: Workspace, config: Config, options: AnalyseOptions = {}): Analysis {
  const started = performance.now();
  const skipped: SkippedFile[] = [];
  const files = workspace.files();
  const sources = sourcesOf(files);
  const links = moduleLinks(workspace);
  const facts = readReached(sources, links, (file) => readFile(workspace, file, skipped));
  const services = resolveServices(workspace, config);
  const program = new Program(facts, links.resolve);
  const machine: Machine = {
    program, catalog: buildCatalog(adapters), ...specialFunctions(config, services), summaries: new Map(), running: new Set(), fields: new Map(), methods: new Map(), instances: new Map(), variables: new Map(), assigned: new Map(),
    providers: collectProviders(program), transactions: new Map(), calls: new Map(), subscribers: new Map(), handedOver: new Map(), called: new Set(), tooDeep: new Set(), cut: new Map(), budget: BUDGET, depth: 0,
  };
  const entries = runEntries(machine);
  const textOf = (span: Span): string => shorten((workspace.read(span.file) ?? '').slice(span.start, span.end));
  const isWanted = selector(options.paths ?? []);
  const isSelected = (file: string): boolean => !isBeside(file) && isWanted(file);
  const all = findingsOf(entries, { textOf });
  const besideFiles = [...facts.keys()].filter(isBeside).length;
  const isRelay = (file: string): boolean => services.some((service) => file.startsWith(`${service.outbox}/relay/`));
  return {
    result: {
      root: workspace.root,
      stats: { files: files.length + besideFiles, parsed: facts.size, milliseconds: Math.round(performance.now() - started) },
      findings: all.filter((finding) => isSelected(finding.handler.file) || isSelected(finding.publish.file)),
      safe: safeOf(entries, all, isRelay).filter((publish) => isSelected(publish.file)),
      subscribers: subscribersOf(machine).filter((subscriber) => isSelected(subscriber.file)),
      unresolved: [...unresolvedOf(entries, all), ...cutShort(machine, entries)].filter((each) => isSelected(each.file)).sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line)),
      skipped: [...workspace.skipped(), ...brokenManifests(workspace), ...skipped, ...[...machine.tooDeep].map(tooDeep)],
      unread: unreadImports(facts.values(), links, workspace),
      stacks: findStacks(workspace, config, importedPackages(facts.values(), links)),
      beside: workspace.surroundings === null ? null : {
        root: workspace.surroundings.root,
        files: besideFiles,
        findings: all.filter(({ handler, publish }) => isBeside(handler.file) && isBeside(publish.file)).length,
      },
    },
    functionAt: (span) => functionAt(machine, span),
    callsIn: (span) => [...machine.calls.values()].filter((call) => isWithin(call.span, span)).sort((a, b) => a.span.start - b.span.start || b.span.end - a.span.end),
    sourceFile: (file) => {
      const text = facts.has(file) ? workspace.read(file) : null;
      return text === null ? null : parseScript(file, text);
    },
    implementations: (file, typeName) => {
      const symbol = program.lookup(file, typeName);
      return symbol === null ? [] : program.concreteClasses(symbol).map((ref) => program.classFact(ref).name);
    },
  };
}

/** Scripts to read: no tests, and no JavaScript that was built from a TypeScript file beside it. */
function sourcesOf(files: readonly string[]): string[] {
  const all = new Set(files);
  return files.filter((file) => isScript(file) && !TESTS.test(file) && !/\.[cm]?jsx?$/.test(file) || (isScript(file) && !TESTS.test(file) && !all.has(file.replace(/\.([cm]?)js(x?)$/, '.$1ts$2'))));
}

function readFile(workspace: Workspace, file: string, skipped: SkippedFile[]): FileFacts | null {
  const text = workspace.read(file);
  if (text === null) return null;
  if (text.length > LARGEST_SOURCE) {
    skipped.push({ file, reason: 'too-large', message: `'${file}' has ${text.length} characters: passed over as generated code.` });
    return null;
  }
  try {
    const source = parseScript(file, text);
    const error = syntaxErrorOf(source);
    if (error === null) return readFacts(file, source);
    skipped.push({ file, reason: 'unparsable', message: `'${file}' can't be parsed: ${error}` });
  } catch (error) {
    // Nesting deeper than the stack: the file is passed over, the scan goes on.
    skipped.push({ file, reason: 'unparsable', message: `'${file}' can't be parsed: ${error instanceof Error ? error.message : String(error)}` });
  }
  return null;
}

/** Where the analysis stopped short of what the code can do. */
function cutShort(machine: Machine, entries: readonly EntryWalk[]): Unresolved[] {
  const refs = [...machine.cut.values(), ...entries.filter(({ walk }) => walk.isCut).map(({ ref }) => ref)];
  return refs.map(({ file, line, name }) => ({ file, line, text: name, hint: `More code is reached from '${name}' than is followed: what lies behind may be missing here. Scan its parts by themselves.` }));
}

function tooDeep(file: string): SkippedFile {
  return { file, reason: 'unparsable', message: `'${file}' nests code too deeply to be followed: parts of it were passed over.` };
}

function selector(paths: readonly string[]): (file: string) => boolean {
  const wanted = paths.map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''));
  return (file) => wanted.length === 0 || wanted.some((path) => path === '.' || file === path || file.startsWith(`${path}/`));
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`;
}

function functionAt(machine: Machine, span: Span): FunctionRef | null {
  const facts = machine.program.files.get(span.file);
  let best: FunctionRef | null = null;
  for (const fact of facts?.functions ?? []) {
    const ref = functionRef(machine, span.file, fact);
    if (isWithin(span, ref.span) && (best === null || isWithin(ref.span, best.span))) best = ref;
    if (spanKey(ref.span) === spanKey(span)) return ref;
  }
  return best;
}
