import type { ServiceConfig } from '../core/config.js';
import { isInFolder, joinPath } from './paths.js';
import type { Workspace } from './workspace.js';

/** Text of one file that opens a connection. */
export interface DataSourceText {
  readonly file: string;
  readonly text: string;
}

/** Where projects keep their connection: looked at first, and all that is looked at. */
const likelyFile = /(?:data-?source|orm|database|db|connection|postgres|mysql|config|module)[^/]*\.[cm]?[jt]s$/i;
const opensConnection = /new\s+DataSource\s*\(|TypeOrmModule\s*\.\s*forRoot|DataSourceOptions|TypeOrmOptionsFactory|TypeOrmModuleOptions|createConnection\s*\(/;

/** Files of a service that open a database connection, by a textual look; none of the project's code is run. */
export function readDataSourceTexts(workspace: Workspace, root: string): readonly DataSourceText[] {
  return workspace
    .files()
    .filter((file) => isInFolder(file, root) && likelyFile.test(file))
    .flatMap((file) => {
      const text = workspace.read(file);
      return text !== null && opensConnection.test(text) ? [{ file, text }] : [];
    });
}

type Database = NonNullable<ServiceConfig['database']>;

const databaseTypes: Readonly<Record<string, Database>> = {
  postgres: 'postgresql',
  cockroachdb: 'postgresql',
  'aurora-postgres': 'postgresql',
  mysql: 'mysql',
  'aurora-mysql': 'mysql',
  mariadb: 'mariadb',
  sqlite: 'sqlite',
  'better-sqlite3': 'sqlite',
};

/** Drivers, for projects whose connection is put together from the environment. */
const drivers: readonly (readonly [string, Database])[] = [
  ['pg', 'postgresql'],
  ['mysql2', 'mysql'],
  ['mysql', 'mysql'],
  ['mariadb', 'mariadb'],
  ['better-sqlite3', 'sqlite'],
  ['sqlite3', 'sqlite'],
];

export function detectDatabase(texts: readonly DataSourceText[], dependencies: ReadonlySet<string>): Database | null {
  for (const { text } of texts) {
    for (const match of text.matchAll(/\btype\s*:\s*['"`]([\w-]+)['"`]/g)) {
      const database = databaseTypes[match[1] ?? ''];
      if (database) return database;
    }
  }
  const installed = drivers.filter(([driver]) => dependencies.has(driver)).map(([, database]) => database);
  return installed[0] ?? null;
}

/** Folder of the migrations: where some are, else where the connection looks for them. Null when neither tells. */
export function detectMigrationDirectory(workspace: Workspace, service: { readonly root: string; readonly texts: readonly DataSourceText[] }): string | null {
  const existing = workspace.files().filter((file) => isInFolder(file, service.root) && /(?:^|\/)migrations?\/[^/]*\d{10,}[^/]*\.[cm]?[jt]s$/i.test(file));
  const last = existing.at(-1);
  if (last !== undefined) return joinPath(last, '..');
  for (const { file, text } of service.texts) {
    const list = /\bmigrations\s*:\s*\[([^\]]*)\]/.exec(text)?.[1];
    const folder = list === undefined ? null : folderOf(list, { file, root: service.root });
    if (folder !== null) return folder;
  }
  return null;
}

/** `__dirname + '/migrations/*{.ts,.js}'` is beside the file; `'src/migrations/*.ts'` starts at the service's root. */
function folderOf(list: string, { file, root }: { readonly file: string; readonly root: string }): string | null {
  const literal = /['"`](?:\$\{[^}]*\})?([^'"`]*)['"`]/.exec(list)?.[1];
  if (literal === undefined) return null;
  const path = literal.replace(/\/?[^/]*[*{][\s\S]*$/, '').replace(/\/[^/]*\.[cm]?[jt]s$/, '').replace(/^dist\//, 'src/');
  if (path === '' || !/^[\w./-]+$/.test(path)) return null;
  const isBesideFile = /__dirname|import\.meta/.test(list);
  const folder = isBesideFile ? joinPath(file, '..', path) : joinPath(root, path);
  return folder.startsWith('..') || folder.startsWith('/') ? null : folder;
}
