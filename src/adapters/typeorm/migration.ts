import { createStatements, dropStatement, type CreateOptions } from '../../schema/create.js';
import type { TableSpec } from '../../schema/tables.js';
import { toWords, type MigrationStyle } from './migration-style.js';

export interface MigrationInput extends CreateOptions {
  readonly spec: TableSpec;
  /** Words of the class name, such as `create outbox`. */
  readonly title: string;
  /** Milliseconds: TypeORM takes the order of migrations from the class name. */
  readonly time: number;
}

const notes: Readonly<Record<TableSpec['role'], { readonly up: string; readonly down: string }>> = {
  outbox: {
    up: 'The index serves the relay; vacuum has to keep up with rows that live for seconds.',
    down: 'Events that were not published yet are lost with the table.',
  },
  inbox: {
    up: 'UNIQUE (event_id, consumer), as the primary key: it decides which of two deliveries does the work.',
    down: 'Messages that are delivered again are processed again.',
  },
};

/** Text of a migration class that creates the table, in the project's own style. */
export function migrationText(input: MigrationInput, style: MigrationStyle): string {
  const className = `${toWords(input.title, 'pascal')}${input.time}`;
  const isTypeScript = style.extension === '.ts';
  const { indent } = style;
  const end = style.semicolons ? ';' : '';
  const method = (name: 'up' | 'down', note: string, statements: readonly string[]): string[] => [
    `${indent}${isTypeScript && style.hasPublic ? 'public ' : ''}async ${name}(queryRunner${isTypeScript ? ': QueryRunner' : ''})${isTypeScript ? ': Promise<void>' : ''} {`,
    `${indent}${indent}// ${note}`,
    ...statements.map((statement) => query(statement, indent, end)),
    `${indent}}`,
  ];
  return [
    ...(isTypeScript ? [importLine(style, end), ''] : []),
    `${classHead(className, style)} {`,
    ...(style.hasNameProperty ? [`${indent}name = ${quoted(className, style)}${end}`, ''] : []),
    ...method('up', notes[input.spec.role].up, createStatements(input.spec, input)),
    '',
    ...method('down', notes[input.spec.role].down, [dropStatement(input)]),
    style.module === 'cjs' && !isTypeScript ? `}${end}` : '}',
    '',
  ].join('\n');
}

function importLine(style: MigrationStyle, end: string): string {
  return style.importLine ?? `import { MigrationInterface, QueryRunner } from ${quoted('typeorm', style)}${end}`;
}

function classHead(className: string, { extension, module, isDefaultExport }: MigrationStyle): string {
  if (extension === '.ts') return `export ${isDefaultExport ? 'default ' : ''}class ${className} implements MigrationInterface`;
  return module === 'cjs' ? `module.exports = class ${className}` : `export ${isDefaultExport ? 'default ' : ''}class ${className}`;
}

/** The SQL has double quotes only: identifiers and no text with a backtick or a dollar brace. */
function query(statement: string, indent: string, end: string): string {
  const lines = statement.split('\n');
  const outer = `${indent}${indent}`;
  if (lines.length === 1) return `${outer}await queryRunner.query(\`${statement}\`)${end}`;
  const inner = lines.map((line) => `${outer}${indent}${line.replace(/^ {2}/, indent)}`);
  return [`${outer}await queryRunner.query(\``, ...inner, `${outer}\`)${end}`].join('\n');
}

function quoted(text: string, { quotes }: Pick<MigrationStyle, 'quotes'>): string {
  return quotes === 'single' ? `'${text}'` : `"${text}"`;
}
