import type { Outcome, OutcomeState } from './outcome.ts';
import type { Report, ReportHalt, ReportWinner } from './result-types.ts';

export type {
  Report,
  ReportHalt as Halt,
  ReportRequests as RequestFigures,
  ReportSignificance as Significance,
  ReportStep as StepTotals,
  ReportTotals as Totals,
  ReportVariant as VariantResult,
  ReportVersion as VersionResult,
  ReportWinner as WinnerDecision,
} from './result-types.ts';

export type RunState = Report['state'];
export type HaltRule = ReportHalt['rule'];
export type RunBefore = NonNullable<Report['before']>;
export type ReportedCause = NonNullable<Report['causes']>[number];
export type ReportedPause = NonNullable<Report['paused']>;
export type ChangedRecipient = NonNullable<Report['changed']>[number];
export type ReplyTotals = NonNullable<Report['replies']>;
export type SecondMessages = NonNullable<Report['secondMessages']>;
export type Ends = NonNullable<Report['ends']>;

/** The first reason that holds why a delivery report is not about the message whose id it names. */
export const UNMATCHED_REASONS = ['environment', 'reference', 'address', 'time'] as const;
export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number];

export type WinnerState =
  /** Nothing decides it but a person, or it is decided. */
  | { readonly kind: 'none' }
  /** The test is still being sent. */
  | { readonly kind: 'testing' }
  /** The test was sent; delivery reports and replies until then count. */
  | { readonly kind: 'waits'; readonly untilMs: number }
  /** A variant won, or none did and the user has to name one. */
  | { readonly kind: 'decided'; readonly decision: ReportWinner };

export interface StepCount
  extends Pick<Outcome, 'reason' | 'encoding' | 'variant' | 'channel' | 'version' | 'byReport'> {
  readonly outcome: OutcomeState;
  readonly count: number;
  /** SMS parts of all of them together. */
  readonly parts: number;
  /** Price of all of them together in millionths of the currency; null where no price is known. */
  readonly costMicros: number | null;
  /** 0 for the campaign's own message, then its fallbacks. */
  readonly step: number;
  /** They could not receive this step, and are counted again with the next one. */
  readonly fellBack: boolean;
}

/** When a run will be finished at its rate, in its windows, and how many recipients it does not reach in time. */
export interface Forecast {
  /** ISO 8601 in UTC; null where it takes more than a year, a window never opens, or recipients expire. */
  readonly finishesAt: string | null;
  /** Recipients it is about: those who are sent to now or in their window. */
  readonly recipients: number;
  /** Recipients whose time ends before their turn: `send.notAfter`, or the end of the message's validity. */
  readonly expire: number;
}
