import type { Delivery } from './event.ts';
import type { Channel } from './words.ts';

export const OUTCOMES = ['accepted', 'rejected', 'failed', 'skipped', 'deferred', 'in-doubt', 'pending'] as const;
/** The closed set of what can have become of a recipient. */
export type OutcomeState = (typeof OUTCOMES)[number];

/** What became of one row, as the ledger holds it: of its last leg, where it has several. */
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
  /** What the API said of a refusal, at most 2 KiB; text from outside, never trusted. */
  readonly error: string | null;
  readonly parts: number | null;
  readonly encoding: 'GSM-7' | 'UCS-2' | null;
  readonly cost: number | null;
  /** ISO 8601 in UTC; null while nothing happened. */
  readonly updatedAt: string | null;
  /** What came back about the message; null or absent: nothing did. */
  readonly delivery?: Delivery | null;
  /** Every leg in order, the last included; only where there is more than one. */
  readonly legs?: readonly LegOutcome[];
}

/** What became of one leg; `rejected` with the reason `fell-back` for all but the last. */
export type LegOutcome = Omit<Outcome, 'row' | 'line' | 'key' | 'legs'>;
