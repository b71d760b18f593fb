import type { Campaign, Frequency, Period } from '../model.ts';
import { durationMs } from '../util/units.ts';
import type { Report } from './legs.ts';
import type { Merged } from './merge.ts';

/** A year: what was longer ago is hardly in a ledger any more. */
const LONGEST_MS = 366 * 86_400_000;

const UNITS: ReadonlySet<string> = new Set(['day', 'week', 'month']);

/** `frequency`: the caps of this campaign, and whether its messages count towards those of others. */
export function readFrequency(merged: Merged, report: Report): Pick<Campaign, 'frequency' | 'isCounted'> {
  const { frequency: written = 'none' } = merged.file;
  if (typeof written === 'string') return { frequency: [], isCounted: written !== 'exempt' };
  const frequency = [written].flat().flatMap(({ max, per }, i): Frequency[] => {
    // Without it, and without `max`, the schema has said so already.
    if (per === undefined || max === undefined) return [];
    const period = periodOf(per);
    if (typeof period !== 'string') return [{ max, per: period }];
    report('max' in written ? '/frequency/per' : `/frequency/${i}/per`, 'invalid-value', period, HINT);
    return [];
  });
  return { frequency, isCounted: true };
}

const HINT = 'Write day, week or month for those of the calendar, or a time such as 24h or 7d.';

function periodOf(text: string): Period | string {
  if (isUnit(text)) return { kind: 'calendar', unit: text };
  const ms = durationMs(text);
  if (ms === null || ms === 0) return `"${text}" is not a time that a cap can be for.`;
  return ms <= LONGEST_MS ? { kind: 'rolling', ms } : `"${text}" is longer than a year.`;
}

function isUnit(text: string): text is 'day' | 'week' | 'month' {
  return UNITS.has(text);
}
