import { posix } from 'node:path';
import type { Config, ServiceConfig } from '../core/config.js';
import type { Machine, SpecialFunction } from './machine.js';
import { packageName } from './resolve-modules.js';

const GENERATED: Readonly<Record<string, { readonly name: string; readonly kind: 'store' | 'guard' | 'event' }>> = {
  'store.ts': { name: 'store', kind: 'store' },
  'inbox.ts': { name: 'isFirstDelivery', kind: 'guard' },
  'integration-event.ts': { name: 'integrationEvent', kind: 'event' },
};

/** Finds the functions that mean something by themselves: the generated outbox code of each service, and configured wrappers. */
export function specialFunctions(config: Config, services: readonly ServiceConfig[]): Pick<Machine, 'special' | 'specialExternal'> {
  const byPlace = new Map<string, SpecialFunction>();
  for (const service of services) {
    for (const [file, { name, kind }] of Object.entries(GENERATED)) byPlace.set(`${posix.join(service.outbox, file)}#${name}`, { kind });
  }
  const byModule = new Map<string, SpecialFunction>();
  const add = (module: string, name: string, special: SpecialFunction): void => {
    byModule.set(`${packageName(module)}#${name}`, special);
    for (const extension of ['', '.ts', '.js', '/index.ts', '/index.js']) byPlace.set(`${posix.normalize(module + extension)}#${name}`, special);
  };
  for (const wrapper of config.publishers) {
    const name = wrapper.method === undefined ? wrapper.export : `${wrapper.export}.${wrapper.method}`;
    add(wrapper.module, name, { kind: 'publish', transport: wrapper.transport ?? 'broker', name });
  }
  for (const wrapper of config.writers) {
    const name = wrapper.method === undefined ? wrapper.export : `${wrapper.export}.${wrapper.method}`;
    add(wrapper.module, name, { kind: 'write', name });
  }
  return {
    special: (file, name) => byPlace.get(`${file}#${name}`),
    specialExternal: (module, name) => byModule.get(`${module}#${name}`),
  };
}
