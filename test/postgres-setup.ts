import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { HOME } from './helpers/postgres.ts';
import { inMemory } from './temporary.ts';

/** Some 400 databases of 8 MB each, and what the server writes ahead. */
const ROOM_BYTES = 8 * 2 ** 30;

/**
 * Says where a test that needs PostgreSQL may start one for all of this run, and ends it when all are done. It lies in
 * memory, if there is room: no test takes its power away, and each database would wait for the disk to take its files.
 */
export function setup(): () => Promise<void> {
  const { TMPDIR = process.env['TMPDIR'] ?? tmpdir() } = inMemory(process.env, ROOM_BYTES);
  const home = mkdtempSync(join(TMPDIR, 'handbill-postgres-'));
  process.env[HOME] = home;
  return async () => {
    const pid = join(home, 'pid');
    if (existsSync(pid)) {
      try {
        process.kill(Number(readFileSync(pid, 'utf8')), 'SIGQUIT');
      } catch {
        // It ended by itself.
      }
    }
    // Hundreds of databases take long: meanwhile Vitest must see that its workers have ended, or it says that they did not.
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
}
