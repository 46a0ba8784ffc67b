import path from 'node:path';

/** `a\b` as `a/b`. */
export function toPosix(file: string): string {
  return path.sep === '/' ? file : file.split(path.sep).join('/');
}

/** `a/b` in `a`: whether `file` is `folder` or lies within it; both relative to the root, `.` is the root. */
export function isInFolder(file: string, folder: string): boolean {
  return folder === '.' || file === folder || file.startsWith(`${folder}/`);
}

/** Joins relative paths with `/` and takes `.` and `..` out; the root itself is `.`. */
export function joinPath(...parts: readonly string[]): string {
  return path.posix.normalize(path.posix.join(...parts)).replace(/(?<=.)\/$/, '');
}

/** Whether the absolute path `file` is `root` or lies within it. */
export function isInside(root: string, file: string): boolean {
  const relative = path.relative(root, file);
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}
