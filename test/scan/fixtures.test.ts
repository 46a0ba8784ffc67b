import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyse } from '../../src/analysis/analyse.js';

import type { Finding } from '../../src/core/finding.js';
import type { ScanResult } from '../../src/core/report.js';
import { defaultConfig } from '../../src/workspace/config.js';
import { openWorkspace } from '../../src/workspace/disk.js';
import { memoryWorkspace, type Workspace } from '../../src/workspace/workspace.js';
import { adapters } from '../../src/adapters/registry.js';
import { differences, placeOf } from './expectations.js';
import { unfollowable } from './witness.js';

const root = path.resolve(import.meta.dirname, '../../fixtures/scan');
const foldersIn = (folder: string): string[] => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort();

type Files = Readonly<Record<string, string>>;

function filesOf(directory: string): Files {
  const workspace = openWorkspace(directory, defaultConfig);
  return Object.fromEntries(workspace.files().map((file) => [file, workspace.read(file) ?? '']));
}

function scan(files: Files, change: Partial<Workspace> = {}): ScanResult {
  return analyse({ ...memoryWorkspace(files), ...change }, defaultConfig).result;
}

function mapSources(files: Files, change: (text: string) => string): Files {
  return Object.fromEntries(Object.entries(files).map(([file, text]) => [file, /\.[cm]?[jt]sx?$/.test(file) ? change(text) : text]));
}

const identity = (finding: Finding): string => `${finding.id} ${finding.kind} ${placeOf(finding)} ${finding.handler.name}`;
const none = (problems: readonly string[]): void => expect(problems, problems.join('\n')).toEqual([]);
const ids = (result: ScanResult): string[] => result.findings.map((finding) => finding.id).sort();

for (const adapter of foldersIn(root)) {
  describe(adapter, () => {
    for (const name of foldersIn(path.join(root, adapter))) {
      describe(name, () => {
        const files = filesOf(path.join(root, adapter, name));
        const result = scan(files);

        it('finds what the comments say, and nothing else', () => {
          none(differences(files, result));
        });

        it('has a witness that can be followed line by line', () => {
          none(result.findings.flatMap((finding) => unfollowable(finding, files)));
        });

        it('says the same under CRLF, in another order of files, and further down the page', () => {
          const before = result.findings.map(identity).sort();
          const crlf = scan(mapSources(files, (text) => text.replace(/\n/g, '\r\n')));
          const reversed = scan(files, { files: () => Object.keys(files).sort().reverse() });
          const lower = scan(mapSources(files, (text) => `\n\n${text}`));
          expect(crlf.findings.map(identity).sort()).toEqual(before);
          expect(reversed.findings.map(identity).sort()).toEqual(before);
          expect(ids(lower)).toEqual(ids(result));
          expect(new Set(ids(result)).size).toBe(result.findings.length);
        });
      });
    }
  });
}

it('covers every adapter that has effects or transactions', () => {
  const wanted = adapters.filter((adapter) => 'effects' in adapter || 'transactions' in adapter).map((adapter) => adapter.name);
  expect(foldersIn(root).filter((name) => wanted.includes(name))).toEqual([...wanted].sort());
});
