import type { Diagnostic, ExitStatus, HandbillError } from '../errors.ts';
import type { AnswerReading } from '../http/explain.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Recorded, ResultRecord, RunRecord } from '../ledger/records.ts';
import type { Campaign, Commit, Environment, Json } from '../model.ts';
import type { OnWait } from '../send/canary.ts';
import type { TimedClaim } from '../send/group-commit.ts';
import type { Recalled } from '../send/memory.ts';
import type { Figures } from '../send/progress.ts';
import type { Timers } from '../send/timers.ts';
import type { Meter } from '../util/long-work.ts';
import type { SendListenOptions, SendResult } from './send-options.ts';

/*
 * Events of commands for the log and the metrics file. The caller gets nothing back, and nothing here throws or waits.
 * Absent if neither is configured.
 */

export interface Telemetry {
  /** Writes a record into the log, where there is one. */
  note<E extends LogEvent>(
    level: LogLevel,
    event: E,
    message: string,
    fields: EventFields[E],
    about?: Partial<LogAbout>,
  ): void;
  said(diagnostics: readonly Diagnostic[], about?: Partial<LogAbout>): void;
  sending(target: string, environment: string): SendWatch;
  readonly receiving: {
    readonly recorded: (recorded: Recorded) => void;
    /** A line of the receiver about what was refused, or could not be stored. */
    readonly line: (line: string) => void;
  };
  /** Null without a metrics file. */
  readonly metrics: MetricsWatch | null;
}

/** Records for the metrics file, in addition to those of sends. */
export interface MetricsWatch {
  /** A campaign that is checked, whether or not it is sent. */
  looked(campaign: Pick<Campaign, 'name' | 'project'>, environment: string): void;
  /** The status that its last start came to, where it is known better than by its report. */
  ended(one: { readonly campaign: string | null; readonly file: string }, environment: string, exit: ExitStatus): void;
  /** A run of a ledger that is open: `report` asked for it. */
  run(ledger: Ledger, run: RunRecord): void;
  /** An occurrence that was missed, and when that was noticed, in ms since 1970. */
  missed(campaign: string, environment: string, atMs: number): void;
  /** The file is about a command over all campaigns as well. */
  overall(environment: string): void;
}

/** Hooks of commands, and replacements for tests. None of them changes the messages. */
export interface SendHooks {
  /** Default: `Math.random`. */
  readonly random?: () => number;
  /** The campaign goes out by its schedule, so that a list without a row is refused. Default: false. */
  readonly isDue?: boolean;
  /** How time passes while it waits; default: the real ones. */
  readonly timers?: Pick<Timers, 'sleep'>;
  /** How often suppression lists are checked for changes, in ms. Default: 10,000. */
  readonly lookMs?: number;
  /** The file that holds the list from standard input, where `recipients` is `-`. */
  readonly pipedList?: string;
  /** Called with how far the list was checked, before anything is sent. */
  readonly meter?: Meter;
  readonly onStart?: (figures: Readonly<Figures>, campaign: Campaign) => void;
  readonly onWait?: OnWait;
  readonly onWarnings?: (warnings: readonly Diagnostic[]) => void;
  /** Called with each notice about the API and its connections during the send, each once. */
  readonly onNotice?: (notice: Diagnostic) => void;
  /** Called with how each answer of the API was read. */
  readonly onAnswer?: ((reading: AnswerReading) => void) | undefined;
  /** Called when a shared ledger is lost in the middle of the run, and when it is back. */
  readonly onLedger?: (event: LedgerEvent) => void;
  readonly watch?: SendWatch | undefined;
  readonly listen?: SendListenOptions;
}

/** Loss and recovery of a shared ledger during a send. */
export type LedgerEvent =
  | { readonly kind: 'lost'; readonly error: HandbillError; readonly waitMs: number }
  | ({ readonly kind: 'recalled' } & Recalled)
  | { readonly kind: 'back' };

export interface SendWatch {
  planned(plan: PlannedSend): void;
  /**
   * @param toDo recipients to send to; null if they were not counted: after a wait
   * @param commit that the start is made from; null: git does not know
   * @returns what is called with each commit; null if nothing follows it
   */
  round(ledger: Pick<Ledger, 'path'>, run: RunRecord, toDo: number | null, commit?: Commit | null): OnCommitted | null;
  waits(untilMs: number, why?: 'reports'): void;
  ended(result: SendResult): void;
}

export interface PlannedSend {
  readonly campaign: Campaign;
  readonly environment: Environment;
  readonly occurrence: string;
}

/** Called once for each commit with what is on the disk now. */
export type OnCommitted = (results: readonly ResultRecord[], claims: readonly TimedClaim[]) => void;

export interface AskedTelemetry {
  /** The full name, such as `send`. */
  readonly command: string;
  /** As it was written; `-` is stderr, null: no log. */
  readonly log: string | null;
  readonly logLevel: 'info' | 'debug';
  readonly metricsFile: string | null;
  readonly quiet: boolean;
}

export interface RunningTelemetry {
  readonly telemetry: Telemetry;
  end(exit: ExitStatus, diagnostics: readonly Diagnostic[]): Promise<void>;
}

/** How much a happening matters; `debug` adds one record for each attempt. */
const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields of each event of the log, in addition to those that every record has. A closed set. */
export interface EventFields {
  readonly 'command-started': { readonly version: string; readonly pid: number };
  readonly 'command-ended': { readonly exitStatus: number; readonly durationMs: number };
  readonly 'run-started': StartFields;
  /** Any later start, also the next round of one that waited. */
  readonly 'run-continued': StartFields;
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
    readonly step: number;
    readonly channel: string;
    /** Masked; null where no connection could be opened. */
    readonly to: string | null;
    readonly attempt: number;
    readonly outcome: string;
    readonly reason: string | null;
    readonly httpStatus: number | null;
    readonly messageId: string | null;
  };
  readonly 'campaign-due': {
    readonly action: string;
    readonly why: string | null;
    readonly next: string | null;
    readonly exitStatus: number;
  };
  readonly 'webhook-listening': { readonly port: number };
  readonly 'webhook-accepted': EventCounts;
  readonly 'webhook-refused': { readonly httpStatus: number; readonly reason: string; readonly count: number };
  readonly 'webhook-notice': Readonly<Record<never, never>>;
  /** Exported reports and replies were folded in. */
  readonly reconciled: EventCounts & { readonly dryRun: boolean; readonly doubtsResolved: number };
  readonly purged: { readonly dryRun: boolean; readonly runs: number; readonly left: number };
  readonly erased: { readonly runs: number; readonly recipients: number };
  readonly paused: { readonly reason: string; readonly by: string; readonly isNew: boolean };
  readonly resumed: { readonly by: string; readonly isNew: boolean };
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

/** `commit`, `branch` and `clean` are null where git does not know them. */
interface StartFields {
  readonly toDo: number | null;
  readonly ledger: string;
  readonly commit: string | null;
  readonly branch: string | null;
  readonly clean: boolean | null;
}

export interface EventCounts {
  readonly reports: number;
  readonly replies: number;
  readonly unread: number;
  readonly known: number;
  readonly suppressed: number;
  readonly lifted: number;
}

/** Null where that is unknown or does not apply. */
export interface LogAbout {
  readonly run: string | null;
  readonly campaign: string | null;
  readonly environment: string | null;
  readonly occurrence: string | null;
}

export const ABOUT_NOTHING: LogAbout = { run: null, campaign: null, environment: null, occurrence: null };
