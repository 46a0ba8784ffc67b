import type { ServiceConfig } from '../core/config.js';
import type { Workspace } from '../workspace/workspace.js';

/** What generated code takes over from the code around it. */
export interface CodeStyle {
  /** Extension of relative imports: none, or `.js` where Node's own ESM resolution applies. */
  readonly importExtension: '' | '.js';
  readonly quotes: 'single' | 'double';
}

export const defaultCodeStyle: CodeStyle = { importExtension: '', quotes: 'single' };

const sampleSize = 60;

/** The style of a service, by majority of what its own sources do; its configuration decides where there are none. */
export function codeStyleOf(workspace: Workspace, service: Pick<ServiceConfig, 'root'>): CodeStyle {
  const prefix = service.root === '.' ? '' : `${service.root}/`;
  const sources = workspace.files().filter((file) => file.startsWith(prefix) && /\.[cm]?tsx?$/.test(file)).slice(0, sampleSize);
  const count = { js: 0, none: 0, single: 0, double: 0 };
  for (const file of sources) countImports(workspace.read(file) ?? '', count);
  return {
    importExtension: count.js + count.none > 0 ? extension(count.js > count.none) : extension(isNodeEsm(workspace, prefix)),
    quotes: count.double > count.single ? 'double' : 'single',
  };
}

function extension(isJs: boolean): '' | '.js' {
  return isJs ? '.js' : '';
}

function countImports(text: string, count: { js: number; none: number; single: number; double: number }): void {
  for (const [, quote, specifier = ''] of text.matchAll(/^\s*(?:import|export|\}).*?\bfrom\s+(['"])([^'"\n]+)\1/gm)) {
    if (quote === '"') count.double += 1;
    else count.single += 1;
    if (!specifier.startsWith('.')) continue;
    if (/\.[cm]?js$/.test(specifier)) count.js += 1;
    else count.none += 1;
  }
}

/** Whether Node resolves the service's imports by itself: `type: module`, and not a bundler's resolution. */
function isNodeEsm(workspace: Workspace, prefix: string): boolean {
  const manifest = workspace.read(`${prefix}package.json`) ?? workspace.read('package.json') ?? '';
  const tsconfig = workspace.read(`${prefix}tsconfig.json`) ?? workspace.read('tsconfig.json') ?? '';
  return /"type"\s*:\s*"module"/.test(manifest) && /"module"\s*:\s*"node(?:16|18|20|next)"/i.test(tsconfig);
}
