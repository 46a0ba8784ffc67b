import { plainName, sqlName, type SchemaRule } from '../rule.js';

export const tableUnlogged: SchemaRule = {
  id: 'table-unlogged',
  title: 'The table is emptied by a crash',
  severity: 'error',
  roles: ['outbox', 'inbox'],
  find(table) {
    const loss = table.role === 'outbox' ? 'every event that was not yet published is lost' : 'every message that is delivered again is processed again';
    if (table.persistence === 'unlogged') {
      return [{
        message: `'${plainName(table)}' is UNLOGGED: after a crash of the server it is empty, and on a standby, too; ${loss}.`,
        help: [`ALTER TABLE ${sqlName(table)} SET LOGGED`],
      }];
    }
    if (table.unloggedPartitions.length === 0) return [];
    return [{
      message: `Partitions of '${plainName(table)}' are UNLOGGED (${table.unloggedPartitions.join(', ')}): after a crash of the server they are empty; ${loss}.`,
      help: table.unloggedPartitions.map((name) => `ALTER TABLE ${name} SET LOGGED`),
    }];
  },
};
