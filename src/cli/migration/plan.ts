import type { Config, ServiceConfig } from '../../core/config.js';
import type { NewFile, Reason } from '../../core/outcome.js';
import { entityNames, entityText } from '../../adapters/typeorm/migration-entity.js';
import { findCreatingMigration, findEntityRegistration, findListedMigrations, findSynchronize, isTypeScript, readMigrations } from '../../adapters/typeorm/migration-project.js';
import { migrationFileName, migrationStyleOf, type MigrationStyle } from '../../adapters/typeorm/migration-style.js';
import { migrationText } from '../../adapters/typeorm/migration.js';
import { tableName } from '../../schema/identifiers.js';
import { tableSpecs, type TableRole } from '../../schema/tables.js';
import { codeStyleOf, type CodeStyle } from '../../templates/code-style.js';
import { adapt, renderInboxFiles, renderOutboxFiles } from '../../templates/place.js';
import { joinPath } from '../../workspace/paths.js';
import { isNodeModule } from '../../workspace/module-kind.js';
import type { Change } from '../../workspace/sink.js';
import type { Workspace } from '../../workspace/workspace.js';

export interface MigrationRequest {
  readonly workspace: Workspace;
  readonly config: Config;
  readonly service: ServiceConfig;
  readonly role: TableRole;
  /** Words for the class and the file; null: `create <table>`. */
  readonly name: string | null;
  readonly twoColumns: boolean;
  /** Milliseconds. */
  readonly now: number;
}

export interface MigrationPlan {
  /** Why nothing may be written; empty: the changes may be made. */
  readonly refusals: readonly Reason[];
  readonly changes: readonly Change[];
  /** What is left to do by hand. */
  readonly followUps: readonly Reason[];
}

/** The migration, the entity and the code of the step. A migration that creates the table already is left alone, and so is the code beside it. */
export function planMigration(request: MigrationRequest): MigrationPlan {
  const { workspace, config, service, role } = request;
  tableName(config.tables, role);
  const refusals = unsupported(service);
  if (refusals.length > 0) return { refusals, changes: [], followUps: [] };
  const migrations = readMigrations(workspace, directoryOf(service));
  const existing = findCreatingMigration(migrations, config.tables, role);
  const code = codeFiles(request, codeStyleOf(workspace, service));
  if (existing !== null) {
    const missing = code.filter(({ file }) => workspace.read(file) === null);
    return { refusals: [], changes: missing.map(toNewChange), followUps: [] };
  }
  const files = [newMigration(request, migrations), ...code];
  return {
    refusals: files.flatMap((file) => inTheWay(workspace, file)),
    changes: files.filter(({ file }) => workspace.read(file) === null).map(toNewChange),
    followUps: followUps(request),
  };
}

function unsupported(service: ServiceConfig): Reason[] {
  if (service.orm !== 'typeorm') {
    return [{ code: 'unsupported-orm', message: `Service '${service.name}' (${service.root}) has no TypeORM among its dependencies; migrations are written for TypeORM.` }];
  }
  if (service.database !== null && service.database !== 'postgresql') {
    return [{ code: 'unsupported-database', message: `Service '${service.name}' (${service.root}) uses ${service.database}; migrations are written for PostgreSQL.` }];
  }
  return [];
}

/** Code that a rewrite or a person has changed since is in the way as well: it may not be what the migration needs. */
function inTheWay(workspace: Workspace, { file, content }: NewFile): Reason[] {
  const present = workspace.read(file);
  if (present === null || present.replaceAll('\r\n', '\n') === content) return [];
  return [{ code: 'file-exists', message: `'${file}' exists and is not what would be written. Move it away, or name another directory as 'outbox' of the service in outboxify.json.` }];
}

function toNewChange({ file, content }: NewFile): Change {
  return { file, before: null, after: content };
}

function directoryOf(service: ServiceConfig): string {
  return service.migrations?.directory ?? joinPath(service.root, 'src/migrations');
}

function newMigration({ workspace, config, service, role, name, twoColumns, now }: MigrationRequest, migrations: ReturnType<typeof readMigrations>): NewFile {
  const style: MigrationStyle = migrationStyleOf(migrations, {
    quotes: codeStyleOf(workspace, service).quotes,
    isTypeScript: isTypeScript(workspace, service),
    isEsm: isNodeModule(workspace, service.root),
  });
  // After every existing one, also after one from the future: a later run must not find it out of order.
  const time = Math.max(now, style.latest + 1);
  const title = name ?? `create ${config.tables[role]}`;
  const options = { schema: config.tables.schema, name: config.tables[role], twoColumns };
  return {
    file: joinPath(directoryOf(service), migrationFileName(title, time, style)),
    content: migrationText({ ...options, spec: tableSpecs[role], title, time }, style),
  };
}

function codeFiles({ config, service, role, twoColumns }: MigrationRequest, style: CodeStyle): NewFile[] {
  const { tables } = config;
  const entity: NewFile = {
    file: joinPath(service.outbox, entityNames[role].file),
    content: adapt(entityText(tableSpecs[role], { schema: tables.schema, name: tables[role], twoColumns }), style),
  };
  const code = role === 'outbox' ? renderOutboxFiles(service, tables, style) : renderInboxFiles(service, tables, style);
  return [entity, ...code];
}

function followUps({ workspace, service, role }: MigrationRequest): Reason[] {
  const { className, file } = entityNames[role];
  const registration = findEntityRegistration(workspace, service, joinPath(service.outbox, file));
  const listed = findListedMigrations(workspace, service);
  const synchronizing = findSynchronize(workspace, service);
  return [
    ...(registration.kind === 'listed'
      ? [{ code: 'register-entity', message: `Add '${className}' to the entities of '${registration.file}': with it, 'migration:generate' knows the table's key and index.` }]
      : []),
    ...(registration.kind === 'computed'
      ? [{ code: 'register-entity', message: `'${registration.file}' computes its list of entities: see that '${className}' is in it, and 'migration:generate' knows the table's key and index.` }]
      : []),
    ...(registration.kind === 'for-feature'
      ? [{ code: 'register-entity', message: `'${registration.file}' loads the entities of TypeOrmModule.forFeature: add '${className}' to one, and 'migration:generate' knows the table's key and index.` }]
      : []),
    ...(synchronizing === null ? [] : [{ code: 'synchronize', message: `'${synchronizing}' has 'synchronize: true': TypeORM would make the table from the entity when the service starts, and the migration would then fail. Turn it off, or run the migration first.` }]),
    ...(listed === null ? [] : [{ code: 'register-migration', message: `Add the migration to the list in '${listed}'.` }]),
  ];
}
