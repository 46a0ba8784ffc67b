import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openWorkspace } from '../../src/workspace/disk.js';
import { findMonorepo } from '../../src/workspace/monorepo.js';
import { detectServices } from '../../src/workspace/services.js';
import { temporaryProject } from '../project.js';

const member = { 'parts/orders/package.json': '{}', 'parts/orders/a.ts': '' };

test.each<[string, Record<string, string>, string, string | null]>([
  ['npm', { ...member, 'package.json': '{"workspaces":["parts/*"]}' }, 'parts/orders', '.'],
  ['npm, in a folder of the member', { ...member, 'package.json': '{"workspaces":["parts/*"]}', 'parts/orders/src/a.ts': '' }, 'parts/orders/src', '.'],
  ['Yarn 1', { ...member, 'package.json': '{"workspaces":{"packages":["./parts/orders/"]}}' }, 'parts/orders', '.'],
  ['pnpm', { ...member, 'package.json': '{}', 'pnpm-workspace.yaml': "# all\npackages:\n  - 'parts/**' # parts\n  - '!**/test/**'\n\ncatalog:\n  - x\n" }, 'parts/orders', '.'],
  ['pnpm, on one line', { ...member, 'package.json': '{}', 'pnpm-workspace.yaml': 'packages: ["parts/*"]\n' }, 'parts/orders', '.'],
  ['Lerna', { ...member, 'lerna.json': '{"packages":["parts/*"]}' }, 'parts/orders', '.'],
  ['Nx', { ...member, 'nx.json': '{}' }, 'parts/orders', '.'],
  ['an application of a Nest monorepo', { 'package.json': '{}', 'nest-cli.json': '{"projects":{}}', 'apps/orders/src/main.ts': '' }, 'apps/orders', '.'],
  ['a folder that is no member', { ...member, 'package.json': '{"workspaces":["apps/*"]}' }, 'parts/orders', null],
  ['a folder that the workspace leaves out', { ...member, 'package.json': '{"workspaces":["parts/*","!parts/orders"]}' }, 'parts/orders', null],
  ['a package beside others, without a workspace', { ...member, 'package.json': '{}' }, 'parts/orders', null],
  ['the root of a workspace', { ...member, 'package.json': '{"workspaces":["parts/*"]}' }, '.', null],
  ['a repository within a workspace', { ...member, 'package.json': '{"workspaces":["parts/*"]}', 'parts/orders/.git/HEAD': '' }, 'parts/orders', null],
])('%s', (_, files, folder, expected) => {
  const root = temporaryProject(files);
  mkdirSync(path.join(root, '.git'), { recursive: true });
  expect(findMonorepo(path.join(root, folder))).toBe(expected === null ? null : path.join(root, expected));
});

test('a member sees the files beside it, and reads them, and no others', () => {
  const root = temporaryProject({
    ...member, 'package.json': '{"workspaces":["parts/*"]}', 'libs/bus/index.ts': 'bus', 'libs/bus/project.json': '{}', 'libs/bus/dist/index.js': '', 'libs/old/a.ts': '', '.gitignore': 'secret.ts\n', 'libs/bus/secret.ts': '',
  });
  const workspace = openWorkspace(path.join(root, 'parts/orders'), { exclude: ['../../libs/old/**'] });
  expect(workspace.files()).toEqual(['a.ts', 'package.json']);
  expect(workspace.surroundings).toMatchObject({ root: '../..', project: 'parts/orders' });
  expect(workspace.surroundings?.files()).toEqual(['../../libs/bus/index.ts', '../../libs/bus/project.json', '../../package.json']);
  expect(workspace.read('../../libs/bus/index.ts')).toBe('bus');
  expect(workspace.read(`../../../${path.basename(root)}/package.json`)).not.toBeNull();
  expect(workspace.read('../../../../etc/hostname')).toBeNull();
});

test('a part of a package has the stack of the package, and a member that of its libraries', () => {
  const root = temporaryProject({
    'package.json': '{"dependencies":{"typeorm":"1"},"workspaces":["libs/*"]}', 'apps/orders/src/main.ts': '', 'libs/bus/package.json': '{"name":"@shop/bus","dependencies":{"amqplib":"1"}}',
    'libs/orders/package.json': '{"dependencies":{"@shop/bus":"*"}}',
  });
  expect(detectServices(openWorkspace(path.join(root, 'apps/orders'), { exclude: [] }))).toMatchObject([{ root: '.', orm: 'typeorm' }]);
  expect(detectServices(openWorkspace(path.join(root, 'libs/orders'), { exclude: [] }))).toMatchObject([{ root: '.', buses: ['amqplib'] }]);
});
