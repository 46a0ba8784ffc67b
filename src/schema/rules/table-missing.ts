import type { Fault, SchemaRule } from '../rule.js';
import type { MissingTable } from '../live.js';

/** The table does not resolve. It is reported by itself: there is nothing that another rule could look at. */
export const tableMissing: Pick<SchemaRule, 'id' | 'title' | 'severity'> = {
  id: 'table-missing',
  title: 'The table is not where the connection looks for it',
  severity: 'error',
};

export function describeMissing({ role, wanted, elsewhere, searchPath }: MissingTable): Fault {
  const looked = wanted.includes('.') ? '' : ` in the search_path (${searchPath})`;
  const found = elsewhere.length === 0 ? '' : ` A table of that name is in ${elsewhere.map((schema) => `'${schema}'`).join(', ')}, where neither relay nor handlers look.`;
  const work = role === 'outbox' ? 'no event can be stored' : 'no duplicate can be recognised';
  return {
    message: `Table '${wanted}' does not exist${looked}: ${work}.${found}`,
    help: [`outboxify migration ${role} --write`],
  };
}
