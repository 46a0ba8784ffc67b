import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Files directly in a folder of the tool's own, such as `.outboxify/undo`, which a workspace does not list; none where it is missing. */
export function listFolder(root: string, folder: string): readonly string[] {
  try {
    return readdirSync(path.join(root, folder), { withFileTypes: true }).filter((entry) => entry.isFile()).map(({ name }) => `${folder}/${name}`).sort();
  } catch {
    return [];
  }
}
