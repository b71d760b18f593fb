import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { DISK_FAULTS, isDatabaseFile } from '../util/output-file.ts';

/** Where lines go. It never throws: what is wrong is said by what `append` returns. */
export interface LogFile {
  /** Null when all of it is written, else the end of a sentence that says why not. */
  append(lines: string): string | null;
  close(): void;
}

/**
 * Opens a log to append to: a regular file that is ours, made with mode 0600 where there is none; never through a link,
 * and without waiting for the reader of a pipe. Lines are written before anything else happens, so that they are there
 * when the process is killed; several processes may share a log.
 *
 * @throws LogFileError with the end of a sentence that says what is wrong
 */
export function openLogFile(path: string): LogFile {
  const fd = opened(path);
  /** A line was cut off, by a full disk say: the next one begins on a line of its own. */
  let isTorn = false;
  return {
    append(lines) {
      const bytes = Buffer.from(isTorn ? `\n${lines}` : lines);
      let written = 0;
      try {
        while (written < bytes.length) written += writeSync(fd, bytes, written);
        isTorn = false;
        return null;
      } catch (error) {
        if (written > 0) isTorn = bytes[written - 1] !== NEWLINE;
        return why(error);
      }
    },
    close() {
      try {
        closeSync(fd);
      } catch {
        // Some file systems say only now that something is wrong; nothing follows from it.
      }
    },
  };
}

export class LogFileError extends Error {
  override readonly name = 'LogFileError';
}

const NEWLINE = 0x0a;
const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

function opened(path: string): number {
  // Before the ledger is opened: no lock is lost by looking.
  if (isDatabaseFile(path)) throw new LogFileError('it is a database, such as a ledger');
  let fd: number;
  try {
    fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    throw new LogFileError(why(error));
  }
  const stats = fstatSync(fd);
  const user = process.getuid?.();
  const isOurs = user === undefined || stats.uid === user || stats.uid === 0;
  if (stats.isFile() && isOurs) return fd;
  closeSync(fd);
  throw new LogFileError(stats.isFile() ? 'it belongs to another user' : NOT_REGULAR);
}

const NOT_REGULAR = 'it is not a regular file';

const REASONS: Readonly<Record<string, string>> = {
  ...DISK_FAULTS,
  ELOOP: 'it is a link',
  EISDIR: 'it is a folder',
  ENXIO: NOT_REGULAR,
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EFBIG: 'it is too large',
  EAGAIN: 'the file system does not take it now',
};

function why(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? (code === '' ? String(error) : code);
}
