import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { LogFields } from '../model/result-types.ts';
import type { LogAbout, LogEvent, LogLevel } from '../operations/observer.ts';
import { logJson } from '../util/escape.ts';
import { DISK_FAULTS, isDatabaseFile } from '../util/files.ts';
import { maskText } from '../util/redact.ts';
import { iso } from '../util/time.ts';

/** Each record is one line. Failures do not reach the writer. */
export interface Log {
  readonly isDebug: boolean;
  write<E extends LogEvent>(level: LogLevel, event: E, message: string, fields: LogFields[E], about: LogAbout): void;
  /** Several records of one kind in one write: the attempts that were recorded together. */
  writeAll<E extends LogEvent>(
    level: LogLevel,
    event: E,
    records: readonly { readonly message: string; readonly fields: LogFields[E] }[],
    about: LogAbout,
  ): void;
  close(): void;
}

interface LogOptions {
  readonly file: LogFile;
  readonly level: 'debug' | 'info';
  readonly command: string;
  readonly now: () => number;
  readonly redact: (text: string) => string;
  /** Called once, when a record could not be written, with the end of a sentence that says why. */
  readonly onLost: (why: string) => void;
}

/** A record that cannot be written is lost; a later record says how many were. */
export function createLog({ file, level: least, command, now, redact, onLost }: LogOptions): Log {
  let lost = 0;
  let isSaid = false;
  const lineOf = <E extends LogEvent>(
    level: LogLevel,
    event: E,
    message: string,
    fields: LogFields[E],
    about: LogAbout,
  ): string => logLine({ timeMs: now(), level, event, message, command, about, fields }, redact);
  const append = (lines: string, count: number, about: LogAbout): void => {
    const resumed =
      lost === 0 ? '' : lineOf('warn', 'log-resumed', `${lost} records before this one were lost.`, { lost }, about);
    const why = file.append(resumed + lines);
    if (why === null) {
      lost = 0;
      return;
    }
    lost += count;
    if (!isSaid) onLost(why);
    isSaid = true;
  };
  return {
    isDebug: least === 'debug',
    write(level, event, message, fields, about) {
      if (level === 'debug' && least !== 'debug') return;
      append(lineOf(level, event, message, fields, about), 1, about);
    },
    writeAll(level, event, records, about) {
      if (records.length === 0 || (level === 'debug' && least !== 'debug')) return;
      const lines = records.map(({ message, fields }) => lineOf(level, event, message, fields, about));
      append(lines.join(''), records.length, about);
    },
    close: () => file.close(),
  };
}

export interface LogRecord<E extends LogEvent = LogEvent> {
  /** Ms since 1970. */
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly event: E;
  readonly message: string;
  readonly command: string;
  readonly about: LogAbout;
  readonly fields: LogFields[E];
}

/** JSON that escapes line ends, U+2028 and bidirectional marks. Masks addresses in sentences, and secrets anywhere. */
export function logLine(record: LogRecord, redact: (text: string) => string): string {
  const { timeMs, level, event, message, command, about, fields } = record;
  const { run, campaign, environment, occurrence } = about;
  const time = iso(timeMs);
  const known = { time, level, event, message: maskText(message), command, run, campaign, environment, occurrence };
  const said = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      PROSE.has(name) && typeof value === 'string' ? maskText(value) : value,
    ]),
  );
  const hide = (_key: string, value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
  return `${logJson(JSON.stringify({ ...known, ...said }, hide))}\n`;
}

/** They may hold a phone number. */
const PROSE: ReadonlySet<string> = new Set(['hint', 'next', 'reason', 'file']);

/** It never throws: `append` returns the error. */
export interface LogFile {
  /** Null when all of it is written, else the end of a sentence that says why not. */
  append(lines: string): string | null;
  close(): void;
}

/**
 * A regular file that is ours, made with mode 0600; never through a link, and without waiting for the reader of a pipe. Writes
 * lines at once, so that a killed process leaves them; several processes may share a log.
 *
 * @throws LogFileError with the end of a sentence that says what is wrong
 */
export function openLogFile(path: string): LogFile {
  const fd = opened(path);
  /** A line was cut off, by a full disk for example: the next one begins on a new line. */
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

class LogFileError extends Error {
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
