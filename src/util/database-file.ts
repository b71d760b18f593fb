import { closeSync, constants, openSync, readSync } from 'node:fs';

/**
 * Whether a database of SQLite, or its log, lies at a path: a ledger by the name of an output would be lost, and with it
 * who has been sent to. What cannot be read is taken for none. Not to be asked of a database that this process has open:
 * closing a file lets go of the locks that SQLite holds on it.
 */
export function isDatabaseFile(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return false;
  }
  try {
    const start = Buffer.alloc(16);
    const length = readSync(fd, start, 0, start.length, 0);
    return length === start.length && (start.equals(DATABASE) || LOGS.has(start.readUInt32BE(0)));
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}

/** https://www.sqlite.org/fileformat2.html */
const DATABASE = Buffer.from('SQLite format 3\0');
const LOGS: ReadonlySet<number> = new Set([0x377f0682, 0x377f0683]);
