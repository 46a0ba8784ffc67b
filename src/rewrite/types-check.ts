import path from 'node:path';
import { Project, ts } from 'ts-morph';
import type { Change } from '../workspace/sink.js';
import type { Workspace } from '../workspace/workspace.js';
import { directoriesUp } from './style.js';

/** Messages of the syntax errors of a file. */
export function syntaxErrors(source: ts.SourceFile): readonly string[] {
  const program = ts.createProgram({
    rootNames: [source.fileName],
    options: { noResolve: true, noLib: true, allowJs: true },
    host: {
      getSourceFile: (name) => (name === source.fileName ? source : undefined),
      getDefaultLibFileName: () => 'lib.d.ts',
      writeFile: () => undefined,
      getCurrentDirectory: () => '/',
      getCanonicalFileName: (name) => name,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      fileExists: (name) => name === source.fileName,
      readFile: () => undefined,
    },
  });
  return program.getSyntacticDiagnostics(source).map((diagnostic) => `${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')} (line ${source.getLineAndCharacterOfPosition(diagnostic.start).line + 1})`);
}

/** What the compiler says of a result. */
export interface TypesCheck {
  /** Errors that were not there before. */
  readonly errors: readonly string[];
  /** Events that are new, and whose message has a field that the event's own would replace or that is no time. */
  readonly reserved: readonly string[];
}

/**
 * Type errors that the changed files have after and had not before, each under the tsconfig that is nearest to it. Null when types
 * can't be had: no tsconfig, or TypeORM is not installed. The files on disk are not touched.
 */
export function checkTypes(workspace: Workspace, changes: readonly Change[], serviceRoot: string): TypesCheck | null {
  const files = changes.filter(({ file }) => /\.[cm]?tsx?$/.test(file));
  const tsconfigs = new Map<string, Change[]>();
  for (const change of files) {
    const tsconfig = findTsconfig(workspace, change.file) ?? findTsconfig(workspace, `${serviceRoot}/x.ts`);
    if (tsconfig !== null) tsconfigs.set(tsconfig, [...(tsconfigs.get(tsconfig) ?? []), change]);
  }
  const checks = [...tsconfigs].map(([tsconfig, own]) => checkUnder(workspace, tsconfig, own, files));
  if (checks[0] === undefined || checks[0] === null) return null;
  const known = checks.filter((check) => check !== null);
  return { errors: known.flatMap(({ errors }) => errors), reserved: known.flatMap(({ reserved }) => reserved) };
}

/** Checks the files of one tsconfig; what they import is as the other changes make it. */
function checkUnder(workspace: Workspace, tsconfig: string, own: readonly Change[], files: readonly Change[]): TypesCheck | null {
  const project = new Project({ tsConfigFilePath: path.join(workspace.root, tsconfig), skipAddingFilesFromTsConfig: true, compilerOptions: { noEmit: true, incremental: false, composite: false } });
  const containing = path.join(workspace.root, own[0]?.file ?? '');
  if (ts.resolveModuleName('typeorm', containing, project.getCompilerOptions(), ts.sys).resolvedModule === undefined) return null;
  const sources = files.map((change) => ({ ...change, source: project.createSourceFile(path.join(workspace.root, change.file), change.before ?? '', { overwrite: true }) }));
  const checked = sources.filter(({ file }) => own.some((change) => change.file === file));
  const before = new Map(checked.map(({ file, source }) => [file, messages(project, source.getFilePath())]));
  for (const { source, after } of sources) source.replaceWithText(after ?? '');
  const errors = checked.flatMap(({ file, source }) => surplus(before.get(file) ?? [], messages(project, source.getFilePath())).map((message) => `${file}: ${message}`));
  const reserved = checked.flatMap(({ file, before: old }) => reservedFields(project, path.join(workspace.root, file), old ?? '').map((text) => `${file}: ${text}`));
  return { errors, reserved };
}

/** Messages of new `integrationEvent(…)` calls that have, by their type, an `eventId`, or an `occurredAt` that is no time. */
function reservedFields(project: Project, file: string, old: string): readonly string[] {
  const program = project.getProgram().compilerObject;
  const source = program.getSourceFile(file);
  const checker = program.getTypeChecker();
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isCallExpression(node) || node.expression.getText() !== 'integrationEvent' || old.includes(node.getText())) return;
    const [message] = node.arguments;
    if (message === undefined) return;
    const type = checker.getTypeAtLocation(message);
    if (type.getProperty('eventId') !== undefined) found.push("an 'eventId' of its own");
    const time = type.getProperty('occurredAt');
    if (time !== undefined && !isTime(checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(time, message)))) found.push("an 'occurredAt' that is neither a Date nor a string");
  };
  if (source !== undefined) visit(source);
  return found;
}

function isTime(type: ts.Type): boolean {
  if (type.isUnion()) return type.types.every(isTime);
  return (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.StringLike | ts.TypeFlags.Never)) !== 0 || type.getSymbol()?.getName() === 'Date';
}

function findTsconfig(workspace: Workspace, file: string): string | null {
  return directoriesUp(file).map((directory) => `${directory}tsconfig.json`).find((candidate) => workspace.read(candidate) !== null) ?? null;
}

function messages(project: Project, file: string): readonly string[] {
  const program = project.getProgram().compilerObject;
  const source = program.getSourceFile(file);
  return source === undefined ? [] : program.getSemanticDiagnostics(source).map((diagnostic) => ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ').slice(0, 300));
}

function surplus(before: readonly string[], after: readonly string[]): readonly string[] {
  const left = [...before];
  return after.filter((message) => {
    const index = left.indexOf(message);
    if (index === -1) return true;
    left.splice(index, 1);
    return false;
  });
}
