import { randomBytes } from 'node:crypto';
import { ask } from '../helpers/postgres.ts';

/** A database of its own on this server. */
export async function freshDatabaseOn(server: string): Promise<string> {
  const name = `handbill_test_${randomBytes(6).toString('hex')}`;
  await ask(server, `CREATE DATABASE ${name} TEMPLATE template0`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  return address.href;
}
