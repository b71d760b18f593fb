import type { EventFields, LogAbout, LogEvent, LogLevel } from '../operations/observer.ts';
import { maskText } from '../util/mask.ts';
import { escapedJson } from '../util/safe.ts';

export interface LogRecord<E extends LogEvent = LogEvent> {
  /** Ms since 1970. */
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly event: E;
  readonly message: string;
  readonly command: string;
  readonly about: LogAbout;
  readonly fields: EventFields[E];
}

/**
 * One record as one line: JSON, in which everything that an eye, a terminal or a reader of lines could
 * take for something else is escaped, U+2028 and bidirectional marks too. Numbers and addresses in a
 * sentence are masked, secrets taken out of every text.
 *
 * @param redact as `createRedactor` makes it
 */
export function logLine(record: LogRecord, redact: (text: string) => string): string {
  const { timeMs, level, event, message, command, about, fields } = record;
  const { run, campaign, environment, occurrence } = about;
  const time = new Date(timeMs).toISOString();
  const known = { time, level, event, message: maskText(message), command, run, campaign, environment, occurrence };
  const said = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, PROSE.has(name) ? maskProse(value) : value]),
  );
  const hide = (_key: string, value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
  return `${escapedJson(JSON.stringify({ ...known, ...said }, hide))}\n`;
}

/** Sentences, which may hold a phone number. */
const PROSE: ReadonlySet<string> = new Set(['hint', 'next', 'reason', 'file']);

function maskProse(value: unknown): unknown {
  return typeof value === 'string' ? maskText(value) : value;
}
