import type { SkippedFile } from '../core/report.js';

/** The files of one project as the tool sees them. Reading is the only thing it does; writing goes through a sink. */
export interface Workspace {
  /** Absolute path of the project root. */
  readonly root: string;
  /** Every file the tool may look at: relative, with `/`, sorted; without what git ignores, build output and dependencies. */
  files(): readonly string[];
  /** Text of a file (also of one that `files` leaves out, such as a tsconfig in a parent folder of a service); null when it is missing or unreadable. */
  read(file: string): string | null;
  /** Files that were asked for and could not be read as text. */
  skipped(): readonly SkippedFile[];
}

/**
 * The same workspace with some files changed in memory: how a rewrite is proved before anything is written.
 * A null content means that the file does not exist.
 */
export function overlay(workspace: Workspace, changes: ReadonlyMap<string, string | null>): Workspace {
  return {
    root: workspace.root,
    files() {
      const files = new Set(workspace.files());
      for (const [file, content] of changes) {
        if (content === null) files.delete(file);
        else files.add(file);
      }
      return [...files].sort();
    },
    read: (file) => (changes.has(file) ? (changes.get(file) ?? null) : workspace.read(file)),
    skipped: () => workspace.skipped(),
  };
}

/** A workspace that exists in memory only: for tests of pure logic. */
export function memoryWorkspace(files: Readonly<Record<string, string>>, root = '/project'): Workspace {
  return {
    root,
    files: () => Object.keys(files).sort(),
    read: (file) => files[file] ?? null,
    skipped: () => [],
  };
}
