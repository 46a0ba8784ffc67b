import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Directory of this package, whether it runs from source, from `dist` or from the packed tarball. */
function ownRoot(): string {
  let directory = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(directory, 'templates')) || !existsSync(path.join(directory, 'package.json'))) {
    const parent = path.dirname(directory);
    if (parent === directory) throw new Error('the package has no templates directory');
    directory = parent;
  }
  return directory;
}

/** Text of a file that ships with the tool, relative to the package, with LF line ends. Its absence is a bug of the packing. */
export function readOwnFile(file: string): string {
  return readFileSync(path.join(ownRoot(), file), 'utf8').replaceAll('\r\n', '\n');
}
