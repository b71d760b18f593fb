import { Temporal } from 'temporal-polyfill';
import type { Frequency, SendWindow } from '../../../src/model.ts';
import { openMinutes } from '../../plan/calendar-oracle.ts';
import type { Person } from './campaigns.ts';

const MINUTE = 60_000;
/** Minutes that are worked out at once, which costs little more than one. */
const BLOCK = 2880;

const MOST_BLOCKS = 1000;
const blocks = new Map<string, readonly boolean[]>();

/** Whether a recipient may be sent to at an instant: in every zone that they may be in. */
export function isInside(window: SendWindow, { zones }: Person, ms: number): boolean {
  const unknown = window.unknown === null ? [] : [window.unknown];
  const theirs = window.timeZone === 'recipient' ? (zones ?? unknown) : [window.timeZone];
  return theirs.length > 0 && theirs.every((zone) => isOpenIn(window, zone, ms));
}

function isOpenIn({ hours, holidays }: SendWindow, zone: string, ms: number): boolean {
  if (hours === null) return true;
  const minute = Math.floor(ms / MINUTE);
  const block = Math.floor(minute / BLOCK);
  const id = JSON.stringify([hours, holidays, zone, block]);
  const open = blocks.get(id) ?? openMinutes({ hours: [hours], holidays }, zone, block * BLOCK * MINUTE, BLOCK);
  if (blocks.size > MOST_BLOCKS) blocks.clear();
  blocks.set(id, open);
  return open[minute - block * BLOCK] === true;
}

/** What was sent at this instant or later counts towards a cap; of several zones, where the day began first. */
export function countsFrom({ per }: Frequency, { zones }: Person, ownZone: string, ms: number): number {
  if (per.kind === 'rolling') return ms - per.ms + 1;
  return Math.min(...(zones ?? [ownZone]).map((zone) => beginning(per.unit, zone, ms)));
}

/** The first moment of the day, week or month in a zone. */
export function beginning(unit: 'day' | 'week' | 'month', zone: string, ms: number): number {
  const now = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
  const days = unit === 'day' ? 0 : unit === 'week' ? now.dayOfWeek - 1 : now.day - 1;
  return now.toPlainDate().subtract({ days }).toZonedDateTime(zone).epochMilliseconds;
}
