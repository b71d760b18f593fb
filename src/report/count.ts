import type { Channel, OutcomeState, Report, SmsFacts } from '../model.ts';
import { unitsOf } from '../util/money.ts';

/** Recipients of one leg that share all of this: what the ledger can count in one query. */
export interface Count {
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  /** null for whatever is not an SMS with a text of ours. */
  readonly encoding: SmsFacts['encoding'] | null;
  readonly count: number;
  /** SMS parts of all of them together. */
  readonly parts: number;
  /** Price of all of them together in micro-units; null where no price is known. */
  readonly costMicros: number | null;
  readonly variant: string | null;
  readonly channel: Channel;
  /** 0 for the campaign's own message, then its fallbacks. */
  readonly leg: number;
  /** They could not receive this leg, and are counted again with the next one. */
  readonly fellBack: boolean;
}

/**
 * Parts, messages by encoding and the price of what was probably sent: accepted or in doubt, on any leg (one that fell
 * back was refused, and costs nothing). The price is the sum of the prices that are known, in units of the currency;
 * null when none is.
 */
export function smsOf(counts: readonly Count[]): Report['sms'] {
  const sent = counts.filter((count) => count.outcome === 'accepted' || count.outcome === 'in-doubt');
  const encodings: Partial<Record<SmsFacts['encoding'], number>> = {};
  for (const encoding of ['GSM-7', 'UCS-2'] as const) {
    const messages = sum(sent, (count) => (count.encoding === encoding ? count.count : 0));
    if (messages > 0) encodings[encoding] = messages;
  }
  const priced = sent.filter((count) => count.costMicros !== null);
  return {
    parts: sum(sent, (count) => count.parts),
    encodings,
    cost: priced.length === 0 ? null : unitsOf(sum(priced, (count) => count.costMicros ?? 0)),
  };
}

export function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
