import type { Diagnostic, ExitStatus } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Recorded, RunRecord } from '../ledger/records.ts';
import type { Log, LogFields } from '../model/result-types.ts';
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
    fields: LogFields[E],
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

export type LogLevel = Log['level'];
export type LogEvent = keyof LogFields;
/** Null where that is unknown or does not apply. */
export type LogAbout = Pick<Log, 'run' | 'campaign' | 'environment' | 'occurrence'>;

export const ABOUT_NOTHING: LogAbout = { run: null, campaign: null, environment: null, occurrence: null };
