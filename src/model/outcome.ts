import type { Delivery } from './event.ts';
import type { ReportEarlier as EarlierMessage } from './result-types.ts';
import type { Channel } from './words.ts';

export const OUTCOMES = ['accepted', 'rejected', 'failed', 'skipped', 'deferred', 'in-doubt', 'pending'] as const;
export type OutcomeState = (typeof OUTCOMES)[number];

/** The outcome of one row in the ledger: that of its last step, where it has several. */
export interface Outcome {
  readonly row: number;
  readonly line: number;
  readonly key: string | null;
  readonly to: string | null;
  readonly channel: Channel;
  readonly variant: string | null;
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly messageId: string | null;
  /** The API's words for a refusal, at most 2 KiB; text from outside, never trusted. */
  readonly error: string | null;
  readonly parts: number | null;
  readonly encoding: 'GSM-7' | 'UCS-2' | null;
  readonly cost: number | null;
  /** ISO 8601 in UTC; null while nothing happened. */
  readonly updatedAt: string | null;
  /** When the message was last claimed, just before its request, in ms since 1970; absent: it never was. */
  readonly claimedAtMs?: number;
  /** The version of the run's inputs that the message was made from, counted from 1; absent: there is no message. */
  readonly version?: number;
  /** Versions of messages before it that may have arrived too; only where a report asks for them. */
  readonly versionsBefore?: readonly number[];
  /** The delivery state of the message; null or absent: no report. */
  readonly delivery?: Delivery | null;
  /** The address in the list, where it was corrected after the message had gone to `to`. */
  readonly listTo?: string;
  /** Messages that went to earlier addresses of this recipient (`send --retry corrected`); absent: none. */
  readonly resend?: number;
  /** Those messages, the first one first; only where a report asks for them. */
  readonly earlier?: readonly EarlierMessage[];
  /** It fell back because a report said that it did not arrive: the API had accepted it. Absent: no. */
  readonly byReport?: true;
  /** The stand-in that posted it; absent: the environment of the run did, or none. */
  readonly postedFrom?: string;
  /** Every step in order, the last included; only where there is more than one. */
  readonly steps?: readonly StepOutcome[];
}

export type { EarlierMessage };

/** The outcome of one step; `rejected` with the reason `fell-back` for all but the last. */
export type StepOutcome = Omit<Outcome, 'row' | 'line' | 'key' | 'steps' | 'earlier' | 'versionsBefore'>;
