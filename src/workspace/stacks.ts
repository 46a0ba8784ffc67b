import type { Config } from '../core/config.js';
import type { StacksSeen, UnsupportedStack } from '../core/stacks.js';
import { findManifests } from './manifests.js';
import { joinPath } from './paths.js';
import type { Workspace } from './workspace.js';

/** Dependency names that say that a service writes through an ORM that is read. */
export const ormPackages = { typeorm: ['typeorm', '@nestjs/typeorm'] } as const;

const supportedOrms: readonly string[] = ['TypeORM'];

/** Dependency names that say that a service publishes or subscribes, by the bus's name. */
export const busPackages: Readonly<Record<string, readonly string[]>> = {
  'nest-microservices': ['@nestjs/microservices'],
  amqplib: ['amqplib'],
  'amqp-connection-manager': ['amqp-connection-manager'],
  'golevelup-rabbitmq': ['@golevelup/nestjs-rabbitmq'],
};

interface KnownStack {
  readonly title: string;
  /** `@scope/*` is every package of the scope. */
  readonly packages: readonly string[];
  /** A driver is what an ORM stands on, too: it says something only where no ORM is there. */
  readonly isDriver?: boolean;
}

/** What writes to databases in ways that are not read. The one list of them. */
const unsupported: readonly KnownStack[] = [
  { title: 'Prisma', packages: ['@prisma/client', 'prisma', 'nestjs-prisma'] },
  { title: 'Mongoose', packages: ['mongoose', '@nestjs/mongoose', '@typegoose/typegoose', 'nestjs-typegoose'] },
  { title: 'MikroORM', packages: ['@mikro-orm/*', 'mikro-orm'] },
  { title: 'Drizzle', packages: ['drizzle-orm'] },
  { title: 'Sequelize', packages: ['sequelize', 'sequelize-typescript', '@nestjs/sequelize', '@sequelize/core'] },
  { title: 'Objection', packages: ['objection'] },
  { title: 'Bookshelf', packages: ['bookshelf'] },
  { title: 'Waterline', packages: ['waterline', 'sails'] },
  { title: 'Dynamoose', packages: ['dynamoose', 'nestjs-dynamoose'] },
  { title: 'Kysely', packages: ['kysely'] },
  { title: 'Knex', packages: ['knex', 'nest-knexjs'], isDriver: true },
  { title: 'Slonik', packages: ['slonik'], isDriver: true },
  { title: 'pg-promise', packages: ['pg-promise'], isDriver: true },
  { title: 'Postgres.js', packages: ['postgres'], isDriver: true },
  { title: 'node-postgres', packages: ['pg'], isDriver: true },
  { title: 'MySQL2', packages: ['mysql2', 'mysql'], isDriver: true },
  { title: 'MariaDB', packages: ['mariadb'], isDriver: true },
  { title: 'SQLite', packages: ['better-sqlite3', 'sqlite3'], isDriver: true },
  { title: 'MongoDB', packages: ['mongodb'], isDriver: true },
  { title: 'Cassandra', packages: ['cassandra-driver'], isDriver: true },
  { title: 'DynamoDB', packages: ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb'], isDriver: true },
];

/** Looks at manifests and at the packages that files import: `imported` has one file for each. Beside an ORM that is read, only what is imported counts. */
export function findStacks(workspace: Workspace, { writers }: Pick<Config, 'writers'>, imported: ReadonlyMap<string, string>): StacksSeen {
  // Who names the writers has told what else there is.
  if (writers.length > 0) return { hasOrm: true, unsupported: [], supported: supportedOrms };
  const declared = new Map(findManifests(workspace).flatMap(({ root, dependencies }) => [...dependencies].map((name) => [name, joinPath(root, 'package.json')] as const)).reverse());
  const hasOrm = ormPackages.typeorm.some((name) => imported.has(name) || declared.has(name));
  const candidates = hasOrm ? imported : new Map([...imported, ...declared]);
  const found = unsupported.filter(({ isDriver }) => isDriver !== true || !hasOrm).flatMap((stack) => stackAmong(stack, candidates));
  const orms = found.filter(({ isDriver }) => isDriver !== true);
  return { hasOrm, unsupported: (orms.length > 0 ? orms : found).map(({ title, package: name, file }) => ({ title, package: name, file })), supported: supportedOrms };
}

function stackAmong({ title, packages, isDriver }: KnownStack, candidates: ReadonlyMap<string, string>): readonly (UnsupportedStack & Pick<KnownStack, 'isDriver'>)[] {
  const isMeant = (name: string): boolean => packages.some((known) => (known.endsWith('/*') ? name.startsWith(known.slice(0, -1)) : name === known));
  const found = [...candidates].find(([name]) => isMeant(name));
  return found === undefined ? [] : [{ title, package: found[0], file: found[1], ...(isDriver === undefined ? {} : { isDriver }) }];
}
