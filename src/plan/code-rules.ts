import type { Problem } from '../core/problem.js';

/** A rule of the check on code. */
export interface CodeRule {
  readonly id: string;
  readonly title: string;
  readonly severity: Problem['severity'];
  readonly problem: string;
  readonly solution: string;
}

export const newDualWrite: CodeRule = {
  id: 'new-dual-write',
  title: 'A dual write that the baseline does not know',
  severity: 'error',
  problem: 'A handler writes and publishes without one transaction over both, and it is not one of those that were accepted.',
  solution: 'Store the event in the outbox: `outboxify rewrite <handler> --to dual-publish`. Or accept it with `outboxify check --update-baseline`.',
};

export const stageRegression: CodeRule = {
  id: 'stage-regression',
  title: 'A handler that stored its event does not store it any more',
  severity: 'error',
  problem: 'The baseline knows the handler as dual-publish or outbox-only, and the code is legacy again: its event can be lost.',
  solution: 'Bring the call of `store` back. Where the step back is meant, accept it with `outboxify check --update-baseline`.',
};

export const staleBaseline: CodeRule = {
  id: 'stale-baseline',
  title: 'The baseline accepts a dual write that is gone or has moved',
  severity: 'warning',
  problem: 'A dual write of the baseline is fixed, has gone, or is in another file now. As long as the baseline accepts it, it could come back unseen.',
  solution: 'Run `outboxify check --update-baseline` and commit the file.',
};

export const fileNotRead: CodeRule = {
  id: 'file-not-read',
  title: 'A file that could not be read',
  severity: 'error',
  problem: 'The file does not parse, as with the marks of a merge conflict, or can\'t be opened. What it writes and publishes is unknown, so the check says nothing about it.',
  solution: 'Mend the file. One that is no code of the project is named under `exclude` in `outboxify.json`.',
};

export const importNotRead: CodeRule = {
  id: 'import-not-read',
  title: 'An import of code that is out of reach',
  severity: 'warning',
  problem: 'The import leads out of the project, or to a package of the workspace whose sources are not there. What that code writes and publishes is missing from the check.',
  solution: 'Run the check in a folder that holds both.',
};

export const ormNotSupported: CodeRule = {
  id: 'orm-not-supported',
  title: 'Writes through an ORM that is not read',
  severity: 'warning',
  problem: 'The project writes through an ORM or driver that outboxify does not read. A handler that saves through it and publishes is a dual write that no check sees.',
  solution: 'Name the functions that write under `writers` in `outboxify.json`: what they write counts then, and this warning goes.',
};

export const codeRules: readonly CodeRule[] = [newDualWrite, stageRegression, staleBaseline, fileNotRead, importNotRead, ormNotSupported];
