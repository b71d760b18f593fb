import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { HOME } from './helpers/postgres.ts';
import { inMemory } from './temporary.ts';

/**
 * Says where a test that needs PostgreSQL may start one for all of this run, and ends it when all are done. It lies in
 * memory: no test takes its power away, and each of hundreds of databases would wait for the disk to take its files.
 */
export function setup(): () => void {
  const { TMPDIR = process.env['TMPDIR'] ?? tmpdir() } = inMemory(process.env);
  const home = mkdtempSync(join(TMPDIR, 'handbill-postgres-'));
  process.env[HOME] = home;
  return () => {
    const pid = join(home, 'pid');
    if (existsSync(pid)) {
      try {
        process.kill(Number(readFileSync(pid, 'utf8')), 'SIGQUIT');
      } catch {
        // It ended by itself.
      }
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
}
