import { exitCode, type ExitCode } from '../../core/exit-code.js';
import { evidenceFile } from '../../workspace/evidence.js';
import { openContext } from '../context.js';
import { noteNotRead, readProject } from '../facts.js';
import { liveFigures } from '../figures.js';
import type { StatusOptions } from '../options.js';
import { readProgress } from '../progress.js';
import { recordFigures } from './record.js';
import { statusText, toJsonStatus } from './text.js';

/** `outboxify status`: where every handler stands, what stands against its next step, and what the database says. Reads only, but for `--record`. */
export async function runStatus(options: StatusOptions): Promise<ExitCode> {
  const context = await openContext(options);
  const { figures, why } = await liveFigures(context, options, { isNeeded: options.record === true });
  const { analysis, facts } = await readProject(context, figures);
  noteNotRead(context, analysis);
  if (options.record === true) recordFigures(context, figures);
  const progress = await readProgress(context, { analysis, facts });
  const { out } = context;
  if (options.format === 'json') {
    out.print(JSON.stringify(toJsonStatus(progress), null, 2));
    return exitCode.ok;
  }
  out.print(statusText(progress, out.style));
  if (why !== null) out.note(`No live figures: ${why}`);
  if (options.record === true) out.note(`Recorded in ${evidenceFile}.`);
  return exitCode.ok;
}
