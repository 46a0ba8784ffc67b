import type { TablesConfig, WrapperConfig } from '../core/config.js';
import { ConfigError } from '../core/errors.js';
import { nearestNames } from '../core/nearest.js';
import type { ConfigDraft, PartialServiceConfig } from './config.js';
import { isObject } from './json.js';

/** Reads one value of the file, or throws what is wrong with it. */
type Reader<T> = (value: unknown, at: Position) => T;

interface Position {
  readonly file: string;
  /** `services[0].orm`; empty for the whole file. */
  readonly path: string;
}

const text: Reader<string> = (value, at) => (typeof value === 'string' && value !== '' ? value : fail(at, 'a text that is not empty', value));

/** Identifiers end up in SQL; only plain ones are taken, so that quoting can't be escaped. */
const identifier: Reader<string> = (value, at) =>
  typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(value) ? value : fail(at, 'a name of letters, digits and _', value);

/** A folder in the project. */
const folder: Reader<string> = (value, at) => {
  const clean = text(value, at).replaceAll('\\', '/').replace(/^\.\/(?=.)/, '').replace(/(?<=.)\/$/, '');
  const leavesRoot = clean.startsWith('/') || /^[A-Za-z]:/.test(clean) || clean.split('/').includes('..');
  return leavesRoot ? fail(at, "a folder in the project, relative to its root, with '/'", value) : clean;
};

function oneOf<const T extends string | null>(...accepted: readonly T[]): Reader<T> {
  return (value, at) => {
    for (const item of accepted) if (item === value) return item;
    return fail(at, accepted.map(show).join(', '), value);
  };
}

function list<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value, at) => (Array.isArray(value) ? value.map((entry, index) => item(entry, { ...at, path: `${at.path}[${index}]` })) : fail(at, 'a list', value));
}

type Fields<T> = { readonly [K in keyof T]-?: Reader<NonNullable<T[K]> | Extract<T[K], null>> };

/** An object with these fields and no others; those missing stay missing. */
function object<T extends object>(fields: Fields<T>, required: readonly (keyof T & string)[] = []): Reader<T> {
  return (value, at) => {
    if (!isObject(value)) return fail(at, 'an object', value);
    const result: Record<string, unknown> = {};
    for (const [key, entry] of Object.entries(value)) {
      const reader = Object.hasOwn(fields, key) ? fields[key as keyof T] : undefined;
      if (!reader) throw unknownField(at, key, Object.keys(fields));
      result[key] = reader(entry, { ...at, path: at.path === '' ? key : `${at.path}.${key}` });
    }
    for (const key of required) if (!(key in result)) fail({ ...at, path: at.path === '' ? key : `${at.path}.${key}` }, 'to be there', undefined);
    return result as T;
  };
}

const wrapper = object<WrapperConfig>(
  { module: text, export: text, method: text, transport: oneOf('broker', 'in-process', 'same-database') },
  ['module', 'export'],
);

const service = object<PartialServiceConfig>(
  {
    name: text,
    root: folder,
    orm: oneOf('typeorm', null),
    buses: list(text),
    database: oneOf('postgresql', 'mysql', 'mariadb', 'sqlite', null),
    migrations: (value, at) =>
      value === null ? null : object<{ tool: 'typeorm' | null; directory: string }>({ tool: oneOf('typeorm', null), directory: folder }, ['tool', 'directory'])(value, at),
    outbox: folder,
    databaseUrlEnv: (value, at) =>
      typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value) ? value : fail(at, 'the name of an environment variable, never a connection string', typeof value === 'string' ? '…' : value),
  },
  ['name', 'root'],
);

interface ConfigText extends ConfigDraft {
  readonly $schema?: string;
}

const config = object<Partial<ConfigText>>({
  $schema: text,
  schemaVersion: (value, at) => (value === 1 ? 1 : fail(at, '1', value)),
  exclude: list(text),
  publishers: list(wrapper),
  writers: list(wrapper),
  tables: (value, at) => ({ outbox: 'outbox', inbox: 'inbox', schema: null, ...tables(value, at) }),
  services: list(service),
});

const tables = object<Partial<TablesConfig>>({ outbox: identifier, inbox: identifier, schema: (value, at) => (value === null ? null : identifier(value, at)) });

/** Checks a parsed `outboxify.json`; throws a ConfigError at the first thing that is wrong. */
export function checkConfig(value: unknown, file: string): Partial<ConfigDraft> {
  const { $schema: _, ...draft } = config(value, { file, path: '' });
  const names = (draft.services ?? []).map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice !== -1) fail({ file, path: `services[${twice}].name` }, 'a name that no other service has', names[twice]);
  return draft;
}

function fail(at: Position, expected: string, value: unknown): never {
  const found = value === undefined ? 'it is missing' : `found ${show(value)}`;
  throw new ConfigError(`'${at.path || 'the file'}' in '${at.file}': expected ${expected}, ${found}.`, {
    code: 'config-invalid',
    hint: `Correct it in '${at.file}', or leave the field out to have it detected.`,
    file: at.file,
  });
}

function unknownField(at: Position, key: string, known: readonly string[]): ConfigError {
  const [near] = nearestNames(key, known);
  return new ConfigError(`'${at.path === '' ? key : `${at.path}.${key}`}' in '${at.file}' is no field of the configuration${near ? `; '${near}' is meant` : ''}.`, {
    code: 'config-unknown-field',
    hint: `Known here: ${known.filter((name) => name !== '$schema').map((name) => `'${name}'`).join(', ')}.`,
    file: at.file,
  });
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value.length > 60 ? `${value.slice(0, 60)}…` : value}'`;
  if (Array.isArray(value)) return 'a list';
  return isObject(value) ? 'an object' : String(value);
}
