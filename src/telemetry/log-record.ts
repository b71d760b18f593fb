import type { Json } from '../model.ts';
import { maskText } from '../util/mask.ts';
import { escapedJson } from '../util/safe.ts';

/** How much a happening matters; `debug` adds one record for each attempt. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What the log says beside the fields that every record has, by what happened: the closed set of events. */
export interface EventFields {
  /** A command began. */
  readonly 'command-started': { readonly version: string; readonly pid: number };
  readonly 'command-ended': { readonly exitStatus: number; readonly durationMs: number };
  /** The first start of a run. */
  readonly 'run-started': { readonly toDo: number | null; readonly ledger: string };
  /** Any later start, also the next round of one that waited. */
  readonly 'run-continued': { readonly toDo: number | null; readonly ledger: string };
  readonly 'run-ended': {
    readonly state: string;
    readonly exitStatus: number;
    readonly posted: number;
    readonly recovered: number;
    readonly totals: Json;
    readonly requests: Json;
    readonly durationMs: number;
  };
  /** A stop rule ended a start. */
  readonly 'run-halted': { readonly rule: string; readonly next: string };
  /** Recipients were put off to a later start. */
  readonly 'recipients-deferred': { readonly count: number; readonly until: string | null };
  /** Nothing is sent before an instant. */
  readonly waiting: { readonly until: string; readonly why: 'window-or-canary' | 'reports' };
  /** One request, and what it means for one recipient; level `debug`. */
  readonly attempt: {
    readonly row: number;
    readonly leg: number;
    readonly channel: string;
    /** Masked; null where no connection could be opened. */
    readonly to: string | null;
    readonly attempt: number;
    readonly outcome: string;
    readonly reason: string | null;
    readonly httpStatus: number | null;
    readonly messageId: string | null;
  };
  /** What `due` made of one campaign. */
  readonly 'campaign-due': {
    readonly action: string;
    readonly why: string | null;
    readonly next: string | null;
    readonly exitStatus: number;
  };
  /** It is listened for webhooks. */
  readonly 'webhook-listening': { readonly port: number };
  readonly 'webhook-accepted': EventCounts;
  readonly 'webhook-refused': { readonly httpStatus: number; readonly reason: string; readonly count: number };
  /** Something about received events that somebody should know. */
  readonly 'webhook-notice': Readonly<Record<never, never>>;
  /** Exported reports and replies were folded in. */
  readonly reconciled: EventCounts & { readonly dryRun: boolean; readonly doubtsSettled: number };
  readonly purged: { readonly dryRun: boolean; readonly runs: number; readonly left: number };
  /** An error or a warning that was printed. */
  readonly diagnostic: {
    readonly code: string;
    readonly file: string | null;
    readonly line: number | null;
    readonly column: number | null;
    readonly hint: string | null;
  };
  /** The log can be written again; so many records before this one were lost. */
  readonly 'log-resumed': { readonly lost: number };
}

export type LogEvent = keyof EventFields;

/** Events that came back, by what was made of them. */
export interface EventCounts {
  readonly reports: number;
  readonly replies: number;
  readonly unread: number;
  readonly known: number;
  readonly suppressed: number;
  readonly lifted: number;
}

/** What a record is about; null where that is not known or does not apply. */
export interface LogAbout {
  readonly run: string | null;
  readonly campaign: string | null;
  readonly environment: string | null;
  readonly occurrence: string | null;
}

export const ABOUT_NOTHING: LogAbout = { run: null, campaign: null, environment: null, occurrence: null };

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
 * One record as one line (SECURITY S22): JSON, in which everything that an eye, a terminal or a reader of lines could
 * take for something else is escaped, U+2028 and bidirectional marks too. Numbers and addresses that stand in a
 * sentence are masked (S34), secrets taken out of every text (S7).
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

/** Sentences, in which somebody's number may stand. */
const PROSE: ReadonlySet<string> = new Set(['hint', 'next', 'reason', 'file']);

function maskProse(value: unknown): unknown {
  return typeof value === 'string' ? maskText(value) : value;
}
