import type { Annotation } from './annotation.js';

/**
 * Workflow commands, one per line, that GitHub Actions turns into annotations.
 * https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
 */
export function renderGithub(annotations: readonly Annotation[]): string {
  return annotations.map(toCommand).join('');
}

function toCommand({ rule, level, place, subject, message }: Annotation): string {
  const properties = [...(place === null ? [] : [`file=${escapeProperty(place.file)}`, `line=${Math.max(1, place.line)}`]), `title=${escapeProperty(`${rule}: ${subject}`)}`];
  return `::${level} ${properties.join(',')}::${escapeText(message)}\n`;
}

/** A line end would end the command, and let what follows be read as another one. */
function escapeText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
