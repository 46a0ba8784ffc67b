import { createStatements } from '../create.js';
import { quote } from '../identifiers.js';
import { plainName, sqlName, type SchemaRule } from '../rule.js';
import { tableSpecs } from '../tables.js';

const alterKeyword = { view: 'VIEW', 'materialized view': 'MATERIALIZED VIEW', 'foreign table': 'FOREIGN TABLE' } as const;

export const tableKind: SchemaRule = {
  id: 'table-kind',
  title: 'Something other than a table has its name',
  severity: 'error',
  roles: ['outbox', 'inbox'],
  find(table) {
    if (table.persistence === 'temporary') {
      return [{ message: `'${plainName(table)}' is a temporary table: other connections do not see it, and it is gone when this one closes.`, help: [`outboxify migration ${table.role} --write`] }];
    }
    if (table.kind === 'table' || table.kind === 'partitioned table' || table.kind === 'partition') return [];
    const message = `'${plainName(table)}' is a ${table.kind}: rows are not stored there in the transaction of the handler, and nothing keeps them unique.`;
    if (table.kind === 'other') return [{ message, help: [`outboxify migration ${table.role} --write`] }];
    return [{
      message,
      help: [
        `ALTER ${alterKeyword[table.kind]} ${sqlName(table)} RENAME TO ${quote(`${table.name}_old`)}`,
        ...createStatements(tableSpecs[table.role], { schema: table.schema, name: table.name }),
      ],
    }];
  },
};
