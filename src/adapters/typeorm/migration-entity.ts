import { indexColumns, type CreateOptions } from '../../schema/create.js';
import { indexName, keyName, type ColumnSpec, type TableSpec } from '../../schema/tables.js';

/** Class and file of the entity. */
export const entityNames: Readonly<Record<TableSpec['role'], { readonly className: string; readonly file: string }>> = {
  outbox: { className: 'OutboxMessage', file: 'outbox-message.entity.ts' },
  inbox: { className: 'InboxMessage', file: 'inbox-message.entity.ts' },
};

const purpose: Readonly<Record<TableSpec['role'], string>> = {
  outbox: 'An event that waits for the relay, or was published',
  inbox: 'A message that a consumer has processed',
};

/** What TypeORM calls a type, and the property's type in TypeScript. */
const types: Readonly<Record<string, readonly [typeorm: string, property: string]>> = {
  uuid: ["type: 'uuid'", 'string'],
  'character varying(255)': ["type: 'varchar', length: 255", 'string'],
  'character varying(190)': ["type: 'varchar', length: 190", 'string'],
  'character varying(16)': ["type: 'varchar', length: 16", 'string'],
  jsonb: ["type: 'jsonb'", 'object'],
  'timestamp with time zone': ["type: 'timestamptz'", 'Date'],
  integer: ["type: 'int'", 'number'],
  text: ["type: 'text'", 'string'],
};

/** Text of the entity, in single quotes. It says what the migration made, so that TypeORM's own diff finds nothing to do. */
export function entityText(spec: TableSpec, options: CreateOptions): string {
  const { className } = entityNames[spec.role];
  const schema = options.schema === null ? '' : `, schema: '${options.schema}'`;
  const properties = new Map(spec.columns.map(({ name, property }) => [name, property]));
  const index = indexName(spec, options.name);
  const indexLine = index === null ? [] : [`@Index('${index}', [${indexColumns(spec, options).map((name) => `'${properties.get(name) ?? name}'`).join(', ')}])`];
  const imports = ['Column', 'Entity', ...(index === null ? [] : ['Index']), 'PrimaryColumn'];
  return [
    `import { ${imports.join(', ')} } from 'typeorm';`,
    '',
    '/**',
    ` * ${purpose[spec.role]}. Declared so that \`migration:generate\` leaves table, key and index as they are;`,
    ` * rows are written by SQL, never through this class.`,
    ' */',
    `@Entity({ name: '${options.name}'${schema} })`,
    ...indexLine,
    `export class ${className} {`,
    spec.columns.map((column) => propertyLines(spec, column, keyName(spec, options.name)).join('\n')).join('\n\n'),
    '}',
    '',
  ].join('\n');
}

function propertyLines(spec: TableSpec, column: ColumnSpec, key: string): string[] {
  const [type, propertyType] = types[column.type.postgresql] ?? ["type: 'text'", 'string'];
  const isPrimary = spec.primaryKey.columns.includes(column.name);
  const options = [
    ...(column.name === column.property ? [] : [`name: '${column.name}'`]),
    type,
    ...(isPrimary ? [`primaryKeyConstraintName: '${key}'`] : []),
    ...(column.nullable ? ['nullable: true'] : []),
    ...(column.default === null ? [] : [`default: ${defaultText(column.default.postgresql)}`]),
  ];
  return [`  @${isPrimary ? 'PrimaryColumn' : 'Column'}({ ${options.join(', ')} })`, `  ${column.property}!: ${propertyType}${column.nullable ? ' | null' : ''};`];
}

/** A literal as it stands, any other expression as a function: that is how TypeORM tells them apart. */
function defaultText(expression: string): string {
  return /^(?:'[^']*'|\d+)$/.test(expression) ? expression : `() => '${expression}'`;
}
