import { expect, it } from 'vitest';
import { analyse } from '../../src/analysis/analyse.js';
import { defaultCodeStyle } from '../../src/templates/code-style.js';
import { defaultConfig } from '../../src/workspace/config.js';
import { memoryWorkspace } from '../../src/workspace/workspace.js';
import { renderAll, service } from './render.js';

it('a scan takes the generated relay for what it is: no finding, nothing unresolved', () => {
  const files = Object.fromEntries(renderAll(defaultCodeStyle, ['nest', 'amqp']).map(({ file, content }) => [file, content]));
  files['source/ledger.module.ts'] = 'export class LedgerModule {}\n';
  files['package.json'] = JSON.stringify({ name: 'ledger', dependencies: { typeorm: '^0.3', '@nestjs/microservices': '^11', amqplib: '^0.10' } });
  const { result } = analyse(memoryWorkspace(files), { ...defaultConfig, services: [service] });
  expect(result.findings).toEqual([]);
  expect(result.unresolved).toEqual([]);
  expect(result.safe).toMatchObject([
    { file: 'source/outbox/relay/amqp-channel.ts', reason: 'relay' },
    { file: 'source/outbox/relay/nest-publisher.ts', reason: 'relay' },
  ]);
});
