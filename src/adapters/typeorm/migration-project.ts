import type { ServiceConfig, TablesConfig } from '../../core/config.js';
import type { TableRole } from '../../schema/tables.js';
import { readDataSourceTexts, type DataSourceText } from '../../workspace/data-source.js';
import { isInFolder, joinPath } from '../../workspace/paths.js';
import type { Workspace } from '../../workspace/workspace.js';
import type { MigrationFile } from './migration-style.js';

/** The migrations of a service, in the order of their names. */
export function readMigrations(workspace: Workspace, directory: string): readonly MigrationFile[] {
  return workspace
    .files()
    .filter((file) => isInFolder(file, directory) && /\.[cm]?[jt]s$/.test(file))
    .map((file) => ({ file, text: workspace.read(file) ?? '' }))
    .filter(({ text }) => /\bup\s*\(/.test(text));
}

/** The migration that creates the table: by SQL, or through TypeORM's `Table`. */
export function findCreatingMigration(migrations: readonly MigrationFile[], tables: TablesConfig, role: TableRole): MigrationFile | null {
  const name = tables[role].replaceAll('$', '\\$');
  const sql = new RegExp(String.raw`CREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:\\?["\w$]+\.)?\\?"?${name}\\?"?(?![\w$])`, 'i');
  const call = new RegExp(String.raw`new\s+Table\s*\(\s*\{[^}]*?\bname\s*:\s*['"\x60](?:[\w$]+\.)?${name}['"\x60]`);
  return migrations.find(({ text }) => sql.test(text) || call.test(text)) ?? null;
}

/** How the service's data source comes to know an entity file. */
export type EntityRegistration =
  /** A pattern matches the file, or nothing is known of the data source. */
  | { readonly kind: 'matched' }
  /** Entities are those of `TypeOrmModule.forFeature`. */
  | { readonly kind: 'for-feature'; readonly file: string }
  /** The file computes the list, so that only its owner knows. */
  | { readonly kind: 'computed'; readonly file: string }
  /** The file lists classes, or patterns that do not match. */
  | { readonly kind: 'listed'; readonly file: string };

export function findEntityRegistration(workspace: Workspace, service: Pick<ServiceConfig, 'root'>, entityFile: string): EntityRegistration {
  const texts = readDataSourceTexts(workspace, service.root);
  let answer: EntityRegistration = { kind: 'matched' };
  for (const source of texts) {
    const list = /\bentities\s*:\s*\[([\s\S]*?)\](?=\s*[,}\n])/.exec(source.text)?.[1];
    if (list !== undefined) {
      if (patternsOf(list, source, service.root).some((pattern) => toExpression(pattern).test(entityFile))) return { kind: 'matched' };
      answer = { kind: splitItems(list).some(isComputed) ? 'computed' : 'listed', file: source.file };
    } else if (/\bautoLoadEntities\s*:\s*true\b/.test(source.text) && answer.kind === 'matched') {
      answer = { kind: 'for-feature', file: source.file };
    }
  }
  return answer;
}

/** The data source that lists migration classes one by one; null where a pattern finds them. */
export function findListedMigrations(workspace: Workspace, service: Pick<ServiceConfig, 'root'>): string | null {
  const lists = readDataSourceTexts(workspace, service.root).flatMap(({ file, text }) => {
    const list = /\bmigrations\s*:\s*\[([\s\S]*?)\](?=\s*[,}\n])/.exec(text)?.[1];
    return list === undefined || list.trim() === '' ? [] : [{ file, hasPattern: /['"`]/.test(list) || splitItems(list).some(isComputed) }];
  });
  return lists.some(({ hasPattern }) => hasPattern) ? null : (lists[0]?.file ?? null);
}

/** The data source that makes tables from entities when the service starts; null without one. */
export function findSynchronize(workspace: Workspace, service: Pick<ServiceConfig, 'root'>): string | null {
  return readDataSourceTexts(workspace, service.root).find(({ text }) => /\bsynchronize\s*:\s*true\b/.test(text))?.file ?? null;
}

/** An item that is no literal and no name: `__dirname + settings.entities`, `...entities`. */
function isComputed(item: string): boolean {
  return !/['"`]/.test(item) && !/^\s*[\w$]*\s*$/.test(item);
}

/** Patterns of an `entities` list, relative to the project root. `join(__dirname, '**', '*.entity.ts')` is one. */
function patternsOf(list: string, source: DataSourceText, root: string): string[] {
  return splitItems(list).flatMap((item) => {
    const parts = [...item.matchAll(/'([^']*)'|"([^"]*)"|`([^`]*)`/g)].map((match) => (match[1] ?? match[2] ?? match[3] ?? '').replace(/^\$\{[^}]*\}/, ''));
    if (parts.length === 0) return [];
    const pattern = /\b(?:join|resolve)\s*\(/.test(item) ? parts.join('/') : parts.join('');
    const isBeside = /__dirname|import\.meta|dirname\(/.test(item);
    return [isBeside ? joinPath(source.file, '..', pattern) : joinPath(root, pattern.replace(/^\.?\/?dist\//, 'src/'))];
  });
}

/** Splits at commas outside brackets and quotes. */
function splitItems(list: string): string[] {
  const items = [''];
  let depth = 0;
  let quote = '';
  for (const character of list) {
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (/['"`]/.test(character)) quote = character;
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    if (character === ',' && depth === 0 && quote === '') items.push('');
    else items[items.length - 1] += character;
  }
  return items.map((item) => item.trim()).filter(Boolean);
}

/** A glob with `**`, `*`, `?` and `{a,b}`; compiled `.js` stands for its source. */
function toExpression(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/?|\*|\?|\{[^}]*\}|[.+^$()|[\]\\]/g, (token) => {
    if (token === '**/') return '(?:.*/)?';
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    if (token.startsWith('{')) return `(?:${token.slice(1, -1).split(',').map((part) => part.trim().replaceAll('.', '\\.').replaceAll('*', '[^/]*')).join('|')})`;
    return `\\${token}`;
  });
  return new RegExp(`^${source.replace(/\\\.js$/, '\\.[jt]s')}$`);
}

/** Whether the service is written in TypeScript; of a service without code it is assumed. */
export function isTypeScript(workspace: Workspace, service: Pick<ServiceConfig, 'root'>): boolean {
  const files = workspace.files().filter((file) => isInFolder(file, service.root));
  return files.some((file) => /\.[cm]?tsx?$/.test(file)) || !files.some((file) => /\.[cm]?js$/.test(file));
}
