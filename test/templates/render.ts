import type { ServiceConfig } from '../../src/core/config.js';
import type { NewFile } from '../../src/core/outcome.js';
import { defaultTables } from '../../src/schema/tables.js';
import type { CodeStyle } from '../../src/templates/code-style.js';
import { renderInboxFiles, renderOutboxFiles, renderRelayFiles, type RelayTransport } from '../../src/templates/place.js';

export const service: ServiceConfig = {
  name: 'ledger', root: '.', orm: 'typeorm', buses: [], database: 'postgresql', migrations: null, outbox: 'source/outbox', databaseUrlEnv: 'DATABASE_URL',
};

/** Everything that a service can get, as it is placed. */
export function renderAll(style: CodeStyle, transports: readonly RelayTransport[], tables = defaultTables): NewFile[] {
  const plan = { style, transports, appModule: { file: 'source/ledger.module.ts', name: 'LedgerModule' } };
  return [...renderOutboxFiles(service, tables, style), ...renderInboxFiles(service, tables, style), ...renderRelayFiles(service, tables, plan)];
}
