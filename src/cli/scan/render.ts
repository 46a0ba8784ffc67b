import type { Analysis } from '../../analysis/analysis.js';
import type { Place } from '../../core/place.js';
import type { Format } from '../../report/format.js';

import { version } from '../../workspace/package.js';
import type { CommandContext } from '../context.js';
import { createPreview } from '../explain/preview.js';

export interface RenderOptions {
  readonly format: Format;
  readonly context: CommandContext;
  readonly urlOf: (place: Place) => string;
}

/** The report in the format that was asked for; each reporter is loaded when it is needed. */
export async function render(analysis: Analysis, { format, context, urlOf }: RenderOptions): Promise<string> {
  const { result } = analysis;
  const tool = { name: 'outboxify', version: version() };
  switch (format) {
    case 'pretty': {
      const { renderPretty } = await import('../../report/pretty.js');
      const { style, hasLinks } = context.out;
      return renderPretty(result, { style, read: (file) => context.workspace.read(file), urlOf: hasLinks ? urlOf : undefined, width: process.stdout.columns || undefined });
    }
    case 'json':
      return (await import('../../report/json.js')).renderJson(result, { tool, rewriteOf: await createPreview(analysis, context) });
    case 'markdown':
      return (await import('../../report/markdown.js')).renderMarkdown(result);
    case 'html':
      return (await import('../../report/html.js')).renderHtml(result, tool);
    default:
      return renderAnnotations(analysis, { format, tool });
  }
}

async function renderAnnotations({ result }: Analysis, options: { readonly format: 'sarif' | 'github' | 'gitlab'; readonly tool: { name: string; version: string } }): Promise<string> {
  const { toAnnotations, scanRules } = await import('../../report/annotation.js');
  const annotations = toAnnotations(result);
  switch (options.format) {
    case 'sarif':
      return (await import('../../report/sarif.js')).renderSarif({ tool: options.tool, annotations, rules: scanRules, skipped: result.skipped, unread: result.unread });
    case 'github':
      return (await import('../../report/github.js')).renderGithub(annotations);
    case 'gitlab':
      return (await import('../../report/gitlab.js')).renderGitlab(annotations);
  }
}
