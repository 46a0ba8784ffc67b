import knex from 'knex';
import { ToolError, UsageError } from '../core/errors.js';

/** A database, as far as the check and the operations need one. */
export interface DatabaseConnection {
  /** Address without the password, for messages. */
  readonly address: string;
  /** Runs one statement; `?` stands for a binding. */
  query<Row>(sql: string, bindings?: readonly Binding[]): Promise<readonly Row[]>;
  /** Runs one statement and answers how many rows it touched. */
  execute(sql: string, bindings?: readonly Binding[]): Promise<number>;
}

export type Binding = string | number | boolean | null | Date | readonly string[];

interface QueryResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
}

const connectTimeout = 10_000;

const silence = (): void => undefined;
/** knex prints what it throws, too; everything that is thrown here is told once, by the command line. */
const silent: knex.Knex.Logger = { warn: silence, error: silence, debug: silence, deprecate: silence };

/** Opens a connection for the time of `use`. Failures of the connection or of a statement become a ToolError that shows no password. */
export async function withConnection<T>(url: string, use: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
  const address = parseUrl(url);
  const database = knex({
    client: 'pg',
    connection: { connectionString: url, connectionTimeoutMillis: connectTimeout, application_name: 'outboxify' },
    pool: { min: 0, max: 1 },
    acquireConnectionTimeout: connectTimeout + 1000,
    log: silent,
  });
  const raw = async (sql: string, bindings: readonly Binding[]): Promise<QueryResult> => {
    try {
      // knex types raw() as any; for PostgreSQL it answers the driver's result.
      return (await database.raw(sql, bindings as knex.Knex.RawBinding[])) as QueryResult;
    } catch (error) {
      throw toToolError(error, url, address);
    }
  };
  try {
    return await use({
      address,
      query: async <Row>(sql: string, bindings: readonly Binding[] = []) => (await raw(sql, bindings)).rows as readonly Row[],
      execute: async (sql, bindings = []) => (await raw(sql, bindings)).rowCount ?? 0,
    });
  } finally {
    await database.destroy();
  }
}

/** The address for messages; refuses what is no address of a PostgreSQL database. */
function parseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new UsageError('The database URL is not a URL.', { code: 'bad-database-url', hint: urlHint });
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') {
    throw new UsageError(`The database URL begins with '${url.protocol}//'; only PostgreSQL is supported here.`, { code: 'unsupported-database', hint: urlHint });
  }
  return `${url.hostname || 'localhost'}:${url.port || '5432'}${url.pathname}`;
}

const urlHint = "Give it as 'postgres://user:password@host:5432/database'; a password with special characters is percent-encoded.";

/** What to say for the failures that people meet, by SQLSTATE or Node's error code. */
const explanations: Readonly<Record<string, { readonly code: string; readonly message: string; readonly hint: string }>> = {
  ECONNREFUSED: { code: 'database-unreachable', message: 'refused the connection', hint: 'Start the database, or correct host and port of the URL.' },
  ECONNRESET: { code: 'database-unreachable', message: 'closed the connection', hint: 'See whether the server is PostgreSQL and is not shutting down.' },
  ENOTFOUND: { code: 'database-unreachable', message: 'is a host that is not known', hint: 'Correct the host of the URL.' },
  EAI_AGAIN: { code: 'database-unreachable', message: 'is a host whose name could not be looked up', hint: 'Correct the host of the URL, or see whether the network is up.' },
  ETIMEDOUT: { code: 'database-unreachable', message: 'did not answer in time', hint: 'See whether a firewall stands between, or correct host and port of the URL.' },
  '28P01': { code: 'database-login-failed', message: 'refused the user or the password', hint: 'Correct user and password of the URL.' },
  '28000': { code: 'database-login-failed', message: 'refused the user', hint: 'Correct the user of the URL, or allow it in pg_hba.conf.' },
  '3D000': { code: 'database-missing', message: 'has no database of that name', hint: 'Correct the database of the URL.' },
  '42501': { code: 'database-permission', message: 'does not allow this to the user', hint: 'Use a user with the rights on schema and tables.' },
  '42P01': { code: 'table-missing', message: 'has no such table', hint: "Run the migrations, or correct 'tables' in outboxify.json." },
  '25006': { code: 'database-read-only', message: 'is read-only', hint: 'Use the primary server and a user that may write.' },
};

function toToolError(error: unknown, url: string, address: string): ToolError {
  const text = redact(error instanceof Error ? error.message : String(error), url);
  const code = error instanceof Error && 'code' in error ? String(error.code) : /timeout/i.test(text) ? 'ETIMEDOUT' : '';
  const known = explanations[code];
  if (known !== undefined) return new ToolError(`The database '${address}' ${known.message}${text === '' ? '' : ` (${text})`}.`, { code: known.code, hint: known.hint });
  return new ToolError(`The database '${address}' answered with an error: ${text}${code === '' ? '' : ` (${code})`}.`, { code: 'database-error', hint: 'See the log of the database server.' });
}

/** Takes the password and the URL out of a text; also out of one that the driver made. */
export function redact(text: string, url: string): string {
  const secrets = [url];
  try {
    const { password, search } = new URL(url);
    secrets.push(password, decode(password));
    secrets.push(new URLSearchParams(search).get('password') ?? '');
  } catch {
    // Not a URL: it is taken out as a whole.
  }
  return secrets.filter((secret) => secret !== '').reduce((result, secret) => result.replaceAll(secret, '***'), text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
