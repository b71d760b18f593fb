import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

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

/**
 * Where Node keeps what it has compiled, for the tests, their threads and their processes. Stripping the types of every
 * source takes half of a short command's time, and of a connection to PostgreSQL, which has a separate thread. Entries
 * are found by content, so that a changed source is never run in its old form.
 */
export function compiledFolder(): string {
  const path = join(inMemory(process.env).TMPDIR ?? tmpdir(), `handbill-compiled-${process.getuid?.() ?? 0}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // In a folder for all, a name can be guessed: no other user may have put code into it.
  const { uid, mode } = lstatSync(path);
  const user = process.getuid?.();
  if (user === undefined || (uid === user && (mode & 0o170077) === 0o040000)) return path;
  return mkdtempSync(`${path}-`);
}
