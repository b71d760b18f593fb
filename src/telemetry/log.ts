import type { EventFields, LogAbout, LogEvent, LogLevel } from '../operations/observer.ts';
import type { LogFile } from './log-file.ts';
import { logLine } from './log-record.ts';

/** Writes records, each as one line; its failures do not reach the writer. */
export interface Log {
  /** Attempts are asked for. */
  readonly isDebug: boolean;
  write<E extends LogEvent>(level: LogLevel, event: E, message: string, fields: EventFields[E], about: LogAbout): void;
  /** Several records of one kind in one write: the attempts that were recorded together. */
  writeAll<E extends LogEvent>(
    level: LogLevel,
    event: E,
    records: readonly { readonly message: string; readonly fields: EventFields[E] }[],
    about: LogAbout,
  ): void;
  close(): void;
}

export interface LogOptions {
  readonly file: LogFile;
  /** The least level that is written. */
  readonly level: 'debug' | 'info';
  readonly command: string;
  readonly now: () => number;
  readonly redact: (text: string) => string;
  /** Called once, when a record could not be written, with the end of a sentence that says why. */
  readonly onLost: (why: string) => void;
}

/**
 * A log over a file. A record that cannot be written is lost; once one can be written again, a record says how many
 * were.
 */
export function createLog({ file, level: least, command, now, redact, onLost }: LogOptions): Log {
  let lost = 0;
  let isSaid = false;
  const lineOf = <E extends LogEvent>(
    level: LogLevel,
    event: E,
    message: string,
    fields: EventFields[E],
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
