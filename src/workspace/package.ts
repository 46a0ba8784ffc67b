import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseLooseJson, toObject } from './json.js';

let root: string | null = null;

/** Folder of the installed outboxify package: where templates/ and schemas/ lie, whether run from src/ or from dist/. */
export function packageRoot(): string {
  if (root !== null) return root;
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error('the package of outboxify has no package.json');
    folder = parent;
  }
  root = folder;
  return folder;
}

/** Text of a file that ships with outboxify, relative to its package. */
export function readPackageFile(file: string): string {
  return readFileSync(path.join(packageRoot(), file), 'utf8');
}

/** Version of outboxify. */
export function version(): string {
  return String(toObject(parseLooseJson(readPackageFile('package.json')))['version']);
}
