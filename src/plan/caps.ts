import type { Temporal } from 'temporal-polyfill';
import type { Cap } from '../ledger/records.ts';
import type { Period, Recipient } from '../model.ts';
import type { Plan } from './plan.ts';

/** A cap of `frequency` at one moment for one recipient. */
export interface DatedCap extends Cap {
  /** Where its day or week is: of several possible zones, the one in which it began first. */
  readonly zone: string;
}

/** What `frequency` allows. */
export interface Caps {
  /** For all recipients in the same zones the same array, until a day ends or, of a rolling period, the clock moves. */
  of(recipient: Recipient, nowMs: number): readonly DatedCap[];
  /** What a person has had who is capped: `2 messages since 2026-11-21 00:00 in Europe/London`. */
  describe(cap: DatedCap): string;
  /** A message that is older counts for no recipient, wherever they are. */
  earliestMs(nowMs: number): number;
}

/** People who may be in the same zones. */
interface Group {
  readonly zones: readonly string[];
  caps: readonly DatedCap[];
  fromMs: number;
  toMs: number;
}

/**
 * The caps of a campaign, dated for each recipient. Calendar units are those of the recipient's zone (the column, else
 * what the number says, else the campaign's `timeZone`); where several are possible, the earliest beginning counts,
 * because it is in none of them too early to send then. Loads the zones of numbers only where a calendar needs them.
 */
export async function createCaps(plan: Plan): Promise<Caps> {
  const { frequency, recipients, timeZone } = plan.campaign;
  const [{ dayOf, beginOf, wallText }, { createZoneReader }] = await Promise.all([
    import('../window/wall.ts'),
    import('../recipients/zone.ts'),
  ]);
  const isByZone = frequency.some(({ per }) => per.kind === 'calendar');
  const reader = isByZone ? createZoneReader(recipients, plan.columns) : null;
  const groups: Group[] = [];
  const groupOf = (id: number): Group => {
    // By position, without holes, which would make every look-up slow; the first one is of those without a known zone.
    while (groups.length <= id + 1) {
      const zones = groups.length === 0 ? [timeZone] : (reader?.names(groups.length - 1) ?? []);
      groups.push({ zones, caps: [], fromMs: Number.POSITIVE_INFINITY, toMs: Number.NEGATIVE_INFINITY });
    }
    return groups[id + 1] ?? { zones: [timeZone], caps: [], fromMs: 0, toMs: 0 };
  };
  /** Beginning and end of the day, week or month. */
  const bounds = (unit: 'day' | 'week' | 'month', zone: string, nowMs: number): readonly [number, number] => {
    const first = firstDay(unit, dayOf(nowMs, zone));
    return [beginOf(first, 0, zone), beginOf(first.add({ [`${unit}s`]: 1 }), 0, zone)];
  };
  const renew = (group: Group, nowMs: number): void => {
    let toMs = Number.POSITIVE_INFINITY;
    group.caps = frequency.map(({ max, per }): DatedCap => {
      if (per.kind === 'rolling') {
        toMs = Math.min(toMs, nowMs + 1);
        return { max, sinceMs: nowMs - per.ms + 1, zone: timeZone };
      }
      let [zone = timeZone, ...others] = group.zones;
      let [sinceMs, endMs] = bounds(per.unit, zone, nowMs);
      for (const other of others) {
        const [beginMs, otherEndMs] = bounds(per.unit, other, nowMs);
        if (beginMs < sinceMs) [sinceMs, zone] = [beginMs, other];
        endMs = Math.min(endMs, otherEndMs);
      }
      toMs = Math.min(toMs, endMs);
      return { max, sinceMs, zone };
    });
    group.fromMs = nowMs;
    group.toMs = toMs;
  };
  return {
    of(recipient, nowMs) {
      const group = groupOf(reader === null ? -1 : reader.of(recipient));
      if (nowMs >= group.toMs || nowMs < group.fromMs) renew(group, nowMs);
      return group.caps;
    },
    describe: ({ max, sinceMs, zone }) =>
      `${max} ${max === 1 ? 'message' : 'messages'} since ${wallText(sinceMs, zone)} in ${zone}`,
    earliestMs: (nowMs) => nowMs - Math.max(...frequency.map(({ per }) => longestMs(per))),
  };
}

function firstDay(unit: 'day' | 'week' | 'month', day: Temporal.PlainDate): Temporal.PlainDate {
  if (unit === 'week') return day.subtract({ days: day.dayOfWeek - 1 });
  return unit === 'month' ? day.with({ day: 1 }) : day;
}

const DAY_MS = 86_400_000;

/** Days that are not 24 hours long: one of a DST night, and those of a country that changes its zone. */
const ODD_MS = 12 * 3_600_000;

const LONGEST_DAYS = { day: 1, week: 7, month: 31 };

function longestMs(per: Period): number {
  return per.kind === 'rolling' ? per.ms : LONGEST_DAYS[per.unit] * DAY_MS + ODD_MS;
}
