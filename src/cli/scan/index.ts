import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from '../../core/errors.js';
import { exitCode, type ExitCode } from '../../core/exit-code.js';
import type { ScanResult } from '../../core/report.js';
import { toProjectPath } from '../../workspace/disk.js';
import { isInFolder } from '../../workspace/paths.js';
import { writeReportFile } from '../../workspace/write.js';
import { assertProject, assertServices, openContext, type CommandContext } from '../context.js';
import type { ScanOptions } from '../options.js';
import { render } from './render.js';

/** `outboxify scan [paths...]` */
export async function runScan(options: ScanOptions): Promise<ExitCode> {
  const context = await openContext(options);
  const { workspace, config, out, cwd } = context;
  assertProject(context);
  assertServices(context);
  const paths = options.paths.map((given) => findPath(context, given));
  out.progress(`Reading ${workspace.files().length.toLocaleString('en-US')} files…`);
  const { analyse } = await import('../../analysis/analyse.js');
  const analysis = analyse(workspace, config, paths.length > 0 ? { paths } : {});
  out.progress(null);
  const text = await render(analysis, {
    format: options.format ?? 'pretty',
    context,
    urlOf: ({ file, line }) => `${pathToFileURL(path.join(cwd, file)).href}#L${line}`,
  });
  if (options.output === undefined) out.print(text.replace(/\n$/, ''));
  else writeReport(context, { file: options.output, text });
  return exitCodeOf(analysis.result);
}

/** Handlers that already store their event are no reason to fail: the relay delivers what a crash would lose. */
export function exitCodeOf({ findings }: ScanResult): ExitCode {
  return findings.some(({ stage }) => stage === 'legacy') ? exitCode.findings : exitCode.ok;
}

/** A path of the command line must match a file that is looked at. */
function findPath({ cwd, workspace }: CommandContext, given: string): string {
  const relative = toProjectPath(cwd, given);
  if (workspace.files().some((file) => isInFolder(file, relative))) return relative;
  throw new UsageError(`The path '${given}' matches no file of the project.`, {
    code: 'no-such-path',
    hint: 'Paths are relative to the project; what git ignores, dependencies and build output are not looked at.',
  });
}

/** A path in the project or out of it: the user has named it, and a report is no code. */
function writeReport({ cwd, out }: CommandContext, { file, text }: { readonly file: string; readonly text: string }): void {
  writeReportFile(path.resolve(cwd, file), text);
  out.note(`Wrote ${file}.`);
}
