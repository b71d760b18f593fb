import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** What a set leaves room for, however many of its files are there at once: a list of 120,000 rows is 4 MB. */
const ROOM_BYTES = 2 ** 30;

/**
 * The environment of tests and proofs: temporary files lie in memory, where fsync costs nothing. Every send waits for the
 * disk some thirty times, 3 ms each. What a killed process wrote is there in memory too; what a disk may lose or refuse
 * is simulated; `npm run test:full` is on the disk. Empty where there is no such folder, where it is small or runs no
 * programs (as in many containers), and where a place was named.
 */
export function inMemory(
  env: Readonly<Record<string, string | undefined>>,
  roomBytes = ROOM_BYTES,
): { readonly TMPDIR?: string } {
  return env['TMPDIR'] === undefined && hasRoom(roomBytes) && runsPrograms() ? { TMPDIR: MEMORY } : {};
}

function hasRoom(bytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= bytes;
  } catch {
    return false;
  }
}

/** Some tests write a script and call it. */
function runsPrograms(): boolean {
  try {
    const folder = mkdtempSync(join(MEMORY, 'handbill-try-'));
    try {
      const script = join(folder, 'script');
      writeFileSync(script, '#!/bin/sh\nexit 0\n', { mode: 0o700 });
      return spawnSync(script).status === 0;
    } finally {
      rmSync(folder, { recursive: true });
    }
  } catch {
    return false;
  }
}
