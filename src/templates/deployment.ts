import path from 'node:path';
import type { ServiceConfig } from '../core/config.js';
import type { NewFile } from '../core/outcome.js';
import { parseLooseJson, toObject } from '../workspace/json.js';
import { joinPath } from '../workspace/paths.js';
import type { Workspace } from '../workspace/workspace.js';
import { readTemplate } from './place.js';

const units = ['outbox-relay.service', 'outbox-relay.supervisord.conf', 'outbox-relay.yaml', 'outbox-relay.alerts.yaml'] as const;
/** Kubernetes allows 63 characters, and `-outbox-relay` is added. */
const longestName = 50;

/** Units for systemd, supervisord and Kubernetes and the alert rules in the service's `deploy` directory, and the README beside the code. */
export function renderDeploymentFiles(workspace: Workspace, service: ServiceConfig): NewFile[] {
  const entry = compiledEntry(workspace, service);
  const fill = (text: string): string => text.replaceAll('example-service', unitName(service.name)).replaceAll('dist/outbox/relay/main.js', () => entry);
  return [
    ...units.map((unit) => ({ file: joinPath(service.root, 'deploy', unit), content: fill(readTemplate(`typeorm/deploy/${unit}`)) })),
    { file: joinPath(service.outbox, 'README.md'), content: fill(readTemplate('typeorm/outbox/README.md')) },
  ];
}

function unitName(name: string): string {
  const kebab = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^[^a-z]+|-+$/g, '');
  return kebab.slice(0, longestName).replace(/-+$/, '') || 'service';
}

/** Where the compiler puts the relay's entry, relative to the service. */
function compiledEntry(workspace: Workspace, service: ServiceConfig): string {
  const text = workspace.read(joinPath(service.root, 'tsconfig.json')) ?? workspace.read('tsconfig.json') ?? '';
  const { outDir, rootDir } = toObject(toObject(parseLooseJson(text))['compilerOptions']);
  const inService = path.posix.relative(service.root, service.outbox);
  const source = typeof rootDir === 'string' ? joinPath(rootDir) : (inService.split('/')[0] ?? '.');
  const inside = path.posix.relative(source, inService);
  return joinPath(typeof outDir === 'string' ? outDir : 'dist', inside.startsWith('..') ? inService : inside, 'relay/main.js');
}
