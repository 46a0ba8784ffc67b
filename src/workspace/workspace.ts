import type { SkippedFile } from '../core/report.js';

/** What lies beside a project that is a member of a workspace, or a part of a package: its code may be what the project runs. */
export interface Surroundings {
  /** The folder that holds both, from the project: `../..`. */
  readonly root: string;
  /** The project from there: `apps/orders`. */
  readonly project: string;
  /** The files beside the project that the tool may look at, from the project: `../../libs/bus/index.ts`. */
  files(): readonly string[];
}

/** The files of one project as the tool sees them. Reading is the only thing it does; writing goes through a sink. */
export interface Workspace {
  /** Absolute path of the project root. */
  readonly root: string;
  /** Every file the tool may look at: relative, with `/`, sorted; without what git ignores, build output and dependencies. */
  files(): readonly string[];
  /** Text of a file (also of one that `files` leaves out, or of the surroundings); null when it is missing or unreadable. */
  read(file: string): string | null;
  /** Symbolic links within the project, and the path that each stands for; files behind them are listed under their own names. */
  links(): ReadonlyMap<string, string>;
  /** Null: the project stands alone. */
  readonly surroundings: Surroundings | null;
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
        else if (!isBeside(file)) files.add(file);
      }
      return [...files].sort();
    },
    read: (file) => (changes.has(file) ? (changes.get(file) ?? null) : workspace.read(file)),
    links: () => workspace.links(),
    surroundings: workspace.surroundings,
    skipped: () => workspace.skipped(),
  };
}

/** A workspace that exists in memory only: for tests of pure logic. */
export function memoryWorkspace(files: Readonly<Record<string, string>>, root = '/project'): Workspace {
  return {
    root,
    files: () => Object.keys(files).sort(),
    read: (file) => files[file] ?? null,
    links: () => new Map(),
    surroundings: null,
    skipped: () => [],
  };
}

/** Whether a path, as the project sees it, leads out of the project. */
export function isBeside(file: string): boolean {
  return file === '..' || file.startsWith('../');
}
