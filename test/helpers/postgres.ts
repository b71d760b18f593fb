import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { until } from './cli.ts';
import { startPostgres } from './postgres-server.ts';

/*
 * The PostgreSQL of this run of tests: the server that HANDBILL_TEST_POSTGRES names (as a user who may create
 * databases), else one that the first test to need it starts for all of them. `test/postgres-setup.ts` says where it lies,
 * and ends it.
 */

/** The folder of the server that tests start for themselves. */
export const HOME = 'HANDBILL_TEST_POSTGRES_HOME';

let known: Promise<string> | null = null;

/** Address of the server. */
export function postgres(): Promise<string> {
  known ??= find();
  return known;
}

async function find(): Promise<string> {
  const named = process.env['HANDBILL_TEST_POSTGRES'];
  if (named !== undefined && named !== '') return named;
  const home = process.env[HOME];
  if (home === undefined) throw new Error(`${HOME} is not set: was vitest started without test/vitest.config.ts?`);
  const file = join(home, 'address');
  if (isFirst(home)) {
    try {
      const server = await startPostgres(home);
      writeFileSync(join(home, 'pid'), String(server.process.pid));
      // The run of tests ends it, whichever file started it.
      server.process.unref();
      server.process.stderr?.destroy();
      writeFileSync(`${file}.part`, server.address);
    } catch (error) {
      writeFileSync(`${file}.part`, `failed: ${String(error)}`);
    }
    renameSync(`${file}.part`, file);
  }
  await until('PostgreSQL is there', () => existsSync(file), 60_000);
  const address = readFileSync(file, 'utf8');
  if (address.startsWith('failed')) throw new Error(address);
  return address;
}

function isFirst(home: string): boolean {
  try {
    mkdirSync(join(home, 'begun'));
    return true;
  } catch {
    return false;
  }
}

/** A database of its own, empty; it goes with the server, or stays on a server that was named. */
export async function freshDatabase(): Promise<string> {
  const server = await postgres();
  const name = `handbill_test_${randomBytes(6).toString('hex')}`;
  await ask(server, `CREATE DATABASE ${name} TEMPLATE template0`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  return address.href;
}

/** Runs one statement on a connection of its own; its rows as objects. */
export async function ask(address: string, text: string, values: readonly unknown[] = []): Promise<Rows> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows as Rows;
  } finally {
    await client.end();
  }
}

type Rows = readonly Readonly<Record<string, unknown>>[];
