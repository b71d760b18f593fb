import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { HOME } from './helpers/postgres.ts';

/** Says where a test that needs PostgreSQL may start one for all of this run, and ends it when all are done. */
export function setup(): () => void {
  const home = mkdtempSync(join(process.env['TMPDIR'] ?? tmpdir(), 'handbill-postgres-'));
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
