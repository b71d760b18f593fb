import type { EachTime, Recipient, SendSettings, Validity } from '../model.ts';
import { timeInKey } from '../util/address-form.ts';
import type { Calendar } from './calendar.ts';
import type { Plan } from './plan.ts';

export type Closed =
  | { readonly decision: 'skip'; readonly reason: 'window-closed' | 'expired'; readonly detail: string }
  | {
      readonly decision: 'defer';
      readonly reason: 'outside-window' | 'zone-unknown' | 'follow-up-later' | 'too-early';
      readonly detail: string;
      /** When it opens, in ms since 1970; null where that is not known. */
      readonly opensAtMs: number | null;
    };

export interface WindowGate {
  /** Null: the window is open. */
  closed(recipient: Recipient): Closed | null;
  /** In ms since 1970, exclusive. 0 where it is closed. */
  closesAtMs(recipient: Recipient): number;
  /** It is open when all of these are. Null: the time zone is unknown. */
  calendars(recipient: Recipient): readonly Calendar[] | null;
}

export interface GateBounds {
  readonly now: () => number;
  /** See `lateAt`. */
  readonly lateAtMs: number;
}

/**
 * When it is too late for all rows, in ms since 1970: after `send.notAfter`, or at the end of a validity that does not
 * count from the time of each row.
 * @param startMs - the first start of the run, which dates a relative validity
 */
export function lateAt({ campaign: { send, validity, recipients } }: Pick<Plan, 'campaign'>, startMs: number): number {
  const endMs = (send.notAfterMs ?? Number.POSITIVE_INFINITY) + 1;
  if (validity === null || (validity.kind === 'duration' && recipients.each !== null)) return endMs;
  return Math.min(endMs, validity.kind === 'until' ? validity.epochMs : startMs + validity.ms);
}

/** As `lateAt`, for the row with this key: with `send.each` its time, which is in the key, may come before. */
export function lateAtOf({ campaign }: Pick<Plan, 'campaign'>, startMs: number): (key: string) => number {
  const { validity, recipients } = campaign;
  const { each } = recipients;
  const endMs = lateAt({ campaign }, startMs);
  return each === null ? () => endMs : (key) => Math.min(endMs, endOfRow(validity, each, timeInKey(key) ?? endMs));
}

/** For an opening when it is too late. */
export function whyLate({ notAfterMs }: Pick<SendSettings, 'notAfterMs'>, opensAtMs: number): string {
  const isAfter = notAfterMs !== null && opensAtMs > notAfterMs;
  return isAfter ? 'after send.notAfter' : 'when the message is not valid any more';
}

/** When it is too late for a row of `send.each`, in ms since 1970: at its time, or when the message has expired. */
export function endOfRow(validity: Validity | null, { before }: EachTime, atMs: number): number {
  const validMs = validity?.kind === 'duration' ? validity.ms : Number.POSITIVE_INFINITY;
  return Math.min(atMs, atMs - before.ms + validMs);
}

/** For how long a row of `send.each` may be sent to, in ms. */
export function spanOfRow(validity: Validity | null, each: EachTime): number {
  return endOfRow(validity, each, each.before.ms);
}

/** How far a window moves a message of `send.each` at most: hours of a week come again, some days may be holidays. */
export const MOST_EARLIER_DAYS = 14;

/** How long before the time of its row a message may go out at most, in ms. */
export function mostBeforeMs({ before }: EachTime, window: unknown): number {
  return before.ms + (window === null ? 0 : MOST_EARLIER_DAYS * 86_400_000);
}
