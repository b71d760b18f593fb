import type { Canary } from '../model.ts';
import { duration, number } from '../report/words.ts';
import { safeLine } from '../util/safe.ts';
import type { CostRange, Estimate } from './estimate.ts';

/* How an estimate is said in one line; null where there is nothing to say. */

/** `1,204 parts`: of SMS; other channels have none. */
export function partsText(parts: number): string | null {
  if (parts === 0) return null;
  return parts === 1 ? '1 part' : `${number(parts)} parts`;
}

/** `12.30 EUR`, or from the cheapest to the most expensive where fallbacks may change it; and the cost of those that wait. */
export function costText({ costMicros, currency, unpriced, fallback, waiting }: Estimate): string | null {
  if (costMicros === null) return null;
  const amountOf = (range: CostRange): string => {
    const [low, high] = [range.low, range.high].map((micros) => (micros / 1e6).toFixed(2));
    return `${low === high ? low : `${low} to ${high}`} ${safeLine(currency ?? '')}`.trim();
  };
  const now = amountOf(fallback?.costMicros ?? { low: costMicros, high: costMicros });
  const amount = waiting === null ? now : `${now}, later ${amountOf(waiting)}`;
  return unpriced === 0 ? amount : `${amount} and ${number(unpriced)} without a price`;
}

/** The recipients of fallbacks, and how many parts they add at most. */
export function fallbackText({ fallback }: Estimate): string | null {
  if (fallback === null) return null;
  const parts = partsText(fallback.parts);
  return `for up to ${number(fallback.recipients)}${parts === null ? '' : `, up to ${parts}`}`;
}

/** `100, 1 %, then the rest; each when at least 95 % were accepted, after 10m`: how a canary goes out. */
export function canaryText(canary: Canary | null): string | null {
  if (canary === null) return null;
  const steps = canary.steps.map((step) => ('count' in step ? number(step.count) : shareText(step.share)));
  const { accepted, delivered, optedOut, waitMs } = canary.gate;
  const asks = [
    ...(accepted === null ? [] : [`${shareText(accepted)} are accepted`]),
    ...(delivered === null ? [] : [`${shareText(delivered)} of them delivered (within ${duration(waitMs)})`]),
    ...(optedOut === null ? [] : [`at most ${shareText(optedOut)} opt out`]),
  ];
  const gate = asks.length === 0 ? '' : `; on while ${new Intl.ListFormat('en-GB').format(asks)}`;
  const pause = canary.pauseMs === 0 ? '' : `, after ${duration(canary.pauseMs)}`;
  return `${steps.join(', ')}, then the rest${gate}${pause}`;
}

function shareText(share: number): string {
  return `${Number((share * 100).toFixed(6))} %`;
}
