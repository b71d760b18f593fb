import type { Diagnostic, ExitStatus } from '../errors.ts';
import type { Endpoint } from '../http/connect.ts';
import type { Recorded } from '../ledger/event-records.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign, WebhookEvent } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import type { RunEnd, RunOptions } from '../run/run.ts';
import type { EventFields, LogAbout, LogEvent, LogLevel } from '../telemetry/log-record.ts';
import type { SendResult } from './send-result.ts';

/*
 * What commands tell about themselves while somebody wants to know: the log, OpenTelemetry, the metrics file. Whoever
 * tells something is handed nothing back, and nothing here throws or waits. Absent where nobody asked.
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
  /** Diagnostics that were printed. */
  said(diagnostics: readonly Diagnostic[], about?: Partial<LogAbout>): void;
  /** A campaign is about to be sent. */
  sending(target: string, environment: string): SendWatch;
  readonly receiving: ReceiveWatch;
  /** Null without a metrics file. */
  readonly metrics: MetricsWatch | null;
}

/** What the metrics file is told beside what is sent. */
export interface MetricsWatch {
  /** A campaign that is looked at, whether or not it is sent. */
  looked(campaign: Pick<Campaign, 'name' | 'project'>, environment: string): void;
  /** The status that its last start came to, where it is known better than by its report. */
  ended(one: { readonly campaign: string | null; readonly file: string }, environment: string, exit: ExitStatus): void;
  /** A run of a ledger that is open: `report` asked for it. */
  run(ledger: Ledger, run: RunRecord): void;
  /** The file is about a command over all campaigns as well. */
  overall(environment: string): void;
}

/** Follows one start of a campaign. */
export interface SendWatch {
  planned(plan: Plan): void;
  checking(): void;
  checked(): void;
  /** @param toDo recipients to send to; null where nobody has counted them: after a wait */
  round(ledger: Pick<Ledger, 'legs' | 'path'>, run: RunRecord, toDo: number | null): RoundWatch;
  waits(untilMs: number, why?: 'reports'): void;
  ended(result: SendResult): void;
}

/** Follows one round of a start: the send pass, with connections of its own. */
export interface RoundWatch {
  /** The endpoint to use: the same where nobody wants to know about requests. */
  endpoint(endpoint: RunEndpoint): RunEndpoint;
  /** Told what was committed; null where nobody wants to know. */
  readonly onCommitted: NonNullable<RunOptions['onCommitted']> | null;
  /** @param end null where it was thrown */
  ended(end: RunEnd | null): void;
}

export type RunEndpoint = Pick<Endpoint, 'ready' | 'post' | 'release'>;

export interface ReceiveWatch {
  /** Events of a group that is held. */
  readonly received: (events: readonly WebhookEvent[]) => void;
  readonly recorded: (recorded: Recorded) => void;
  /** A line of the receiver about what was refused, or could not be stored. */
  readonly line: (line: string) => void;
}

/** What was asked for. */
export interface AskedTelemetry {
  /** The full name, such as `send`. */
  readonly command: string;
  /** As it was written; `-` is stderr, null: no log. */
  readonly log: string | null;
  readonly logLevel: 'info' | 'debug';
  readonly metricsFile: string | null;
  /** Variables of OpenTelemetry are set. */
  readonly otel: boolean;
  readonly quiet: boolean;
}

export interface RunningTelemetry {
  readonly telemetry: Telemetry;
  /**
   * The command has ended. Returns what is left to deliver, which says whether it was done in time; null for nothing.
   */
  end(exit: ExitStatus, diagnostics: readonly Diagnostic[]): Promise<(() => Promise<boolean>) | null>;
}
