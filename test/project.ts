import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

/** A project on disk with these files, removed after the test file. */
export function temporaryProject(files: Readonly<Record<string, string | Buffer>>): string {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'outboxify-test-')));
  made.push(root);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), content);
  }
  return root;
}

afterAll(() => {
  for (const root of made.splice(0)) rmSync(root, { recursive: true, force: true });
});
