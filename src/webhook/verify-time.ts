import { instantMs } from '../util/units.ts';

export const NOT_SIGNED = { verified: false, reason: 'the headers of a signature are missing or no such' } as const;
export const OUT_OF_TIME = { verified: false, reason: 'the time of the signature is too far from the clock' } as const;

/** Whether a time is at most so far from the clock, either way. */
export function isWithin(timeMs: number, nowMs: number, toleranceMs: number): boolean {
  return Math.abs(nowMs - timeMs) <= toleranceMs;
}

/** Unix seconds (with a fraction or without), milliseconds, or ISO 8601, in ms since 1970; null for anything else. */
export function timestampMs(text: string): number | null {
  // Seconds have ten digits from 2001 to 2286, milliseconds thirteen.
  if (/^\d{1,11}(?:\.\d{1,9})?$/.test(text)) return Number(text) * 1000;
  if (/^\d{12,15}$/.test(text)) return Number(text);
  return instantMs(text);
}
