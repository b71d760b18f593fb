import type { Diagnostic, ExitStatus } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Recorded, RunRecord } from '../ledger/records.ts';
import type { Json } from '../model.ts';
import type { RunEvent } from '../send/event.ts';
import type { DueEvent } from './due.ts';
import type { WorkerEvent } from './worker.ts';

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
  /** Follows what a command does. Never throws. */
  follow(event: RunEvent | DueEvent | WorkerEvent): void;
  readonly receiving: {
    readonly recorded: (recorded: Recorded) => void;
    /** A line of the receiver about what was refused, or could not be stored. */
    readonly line: (line: string) => void;
  };
  /** A run of a ledger that is open: `report` asked for it. */
  reported(ledger: Ledger, run: RunRecord): void;
}

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
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

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

export type EventCounts = Readonly<Record<Exclude<keyof Recorded, 'unassigned'>, number>>;

/** Null where that is unknown or does not apply. */
export interface LogAbout {
  readonly run: string | null;
  readonly campaign: string | null;
  readonly environment: string | null;
  readonly occurrence: string | null;
}

export const ABOUT_NOTHING: LogAbout = { run: null, campaign: null, environment: null, occurrence: null };
