import { parseLooseJson, toObject } from './json.js';
import { joinPath } from './paths.js';
import type { Workspace } from './workspace.js';

/** Whether Node takes a `.js` file of this folder for an ES module: `type` of the nearest package.json. */
export function isNodeModule(workspace: Workspace, folder: string): boolean {
  for (let current = folder; ; current = joinPath(current, '..')) {
    const manifest = workspace.read(joinPath(current, 'package.json'));
    if (manifest !== null) return toObject(parseLooseJson(manifest))['type'] === 'module';
    if (current === '.' || current.startsWith('..')) return false;
  }
}
