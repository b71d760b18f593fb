import type { Forecast } from '../model.ts';
import { type Formats, PLAIN } from '../report/locale.ts';
import { iso } from '../util/time.ts';
import type { Calendar } from './calendar.ts';
import type { Forecaster } from './estimate.ts';
import { lateAt } from './gate.ts';
import { type Plan, rateOf } from './plan.ts';
import { beginOf, createWindowGate } from './window.ts';

/** Rows of the list that follow one another and have the same windows. */
interface Rows {
  recipients: number;
  readonly calendar: Calendar;
}

const MINUTE_MS = 60_000;
const HORIZON_MS = 366 * 86_400_000;

/**
 * A start sends, in list order, to those whose window is open when it begins. The next one begins in the minute in which
 * it has ended and a window is open. Latency is unknown, so a run without a rate takes no time.
 * @param bounds - requests a second, recipients of each and requests at once; when it begins, and when it is too late, in
 * ms since 1970
 */
export function forecast(
  rows: readonly Rows[],
  bounds: Readonly<Record<'perSecond' | 'perRequest' | 'inFlight' | 'startMs' | 'endMs', number>>,
): { readonly finishedMs: number | null; readonly expire: number } {
  const { perSecond, perRequest, inFlight, startMs, endMs } = bounds;
  const intervalMs = 1000 / perSecond;
  const lastMs = Math.min(endMs, startMs + HORIZON_MS);
  let left = rows;
  let finishedMs = startMs;
  for (let nowMs = startMs; nowMs < lastMs; ) {
    const beganMs = nowMs;
    let turns = 0;
    const turnMs = (): number => beganMs + Math.max(0, Math.ceil(turns / perRequest) - 1) * intervalMs;
    left = left.flatMap(({ recipients, calendar }) => {
      const { open, changesAtMs } = calendar.at(beganMs);
      if (!open) return [{ recipients, calendar }];
      const inTime = Math.ceil((Math.min(changesAtMs, lastMs) - beganMs) / intervalMs) * perRequest - turns;
      const sent = Math.min(recipients, Math.max(0, inTime));
      turns += sent;
      if (sent > 0) finishedMs = turnMs();
      // Those whose window closes while they wait for their turns take these turns with them.
      turns += Math.min(recipients - sent, Math.max(0, inTime + inFlight * perRequest) - sent);
      return sent === recipients ? [] : [{ recipients: recipients - sent, calendar }];
    });
    if (left.length === 0) return { finishedMs, expire: 0 };
    const endedMs = turnMs();
    const states = left.map(({ calendar }) => calendar.at(endedMs));
    const opensMs = states.map(({ open, changesAtMs }) => (open ? endedMs : changesAtMs));
    nowMs = Math.ceil(opensMs.reduce((a, b) => Math.min(a, b)) / MINUTE_MS) * MINUTE_MS;
  }
  return { finishedMs: null, expire: lastMs === endMs ? sumOf(left) : 0 };
}

function sumOf(rows: readonly Rows[]): number {
  return rows.reduce((sum, { recipients }) => sum + recipients, 0);
}

/**
 * Begins at the occurrence's instant where that is later. Null: neither a rate nor a window bounds the run.
 * @param ratePerSecond - of this start, where it sets one
 */
export async function createForecaster(
  plan: Plan,
  { nowMs, ratePerSecond = null }: { readonly nowMs: number; readonly ratePerSecond?: number | null },
): Promise<Forecaster | null> {
  const { campaign, environment, recipientsPerRequest: perRequest } = plan;
  const perSecond = rateOf(plan, ratePerSecond) ?? Number.POSITIVE_INFINITY;
  // With `send.each` each row has its own end.
  if ((perSecond === Number.POSITIVE_INFINITY && campaign.send.window === null) || campaign.recipients.each !== null)
    return null;
  const inFlight = environment.concurrency ?? campaign.send.concurrency;
  const startMs = beginOf(plan, nowMs);
  const bounds = { perSecond, perRequest, inFlight, startMs, endMs: lateAt(plan, startMs) };
  const gate = await createWindowGate(plan, { now: () => startMs, lateAtMs: bounds.endMs });
  const { openingOf } = gate === null ? { openingOf: () => OPEN } : await import('./calendar.ts');
  const rows: Rows[] = [];
  const lastOf = new Map<readonly Calendar[], Rows>();
  return {
    add(recipient) {
      const calendars = gate === null ? ALWAYS : gate.calendars(recipient);
      // Without a known time zone a recipient is not sent to.
      if (calendars === null) return;
      const last = lastOf.get(calendars);
      const isNear = rows.length >= EXACT_ROWS && (last?.recipients ?? MERGED) < MERGED;
      if (last !== undefined && (isNear || last === rows.at(-1))) last.recipients += 1;
      else {
        const next = { recipients: 1, calendar: last?.calendar ?? { at: (ms: number) => openingOf(calendars, ms) } };
        lastOf.set(calendars, next);
        rows.push(next);
      }
    },
    result() {
      const { finishedMs, expire } = forecast(rows, bounds);
      if (finishedMs !== null && finishedMs - startMs < MINUTE_MS) return null;
      // A minute is as exact as a rate without latency can be.
      const minute = finishedMs === null ? null : Math.ceil(finishedMs / MINUTE_MS) * MINUTE_MS;
      return { finishesAt: iso(minute), recipients: sumOf(rows), expire };
    },
  };
}

/** In longer lists, up to so many rows near each other count as one, so that memory hardly grows with the list. */
const EXACT_ROWS = 1000;
const MERGED = 250;

const ALWAYS: readonly Calendar[] = [];
const OPEN = { open: true, changesAtMs: Number.POSITIVE_INFINITY };

/** `about 2026-11-27 10:05 UTC`, and how many expire; null: in less than a minute. */
export function forecastText(
  { forecast: found }: { readonly forecast?: Forecast },
  formats: Formats = PLAIN,
): string | null {
  if (found === undefined) return null;
  const { finishesAt, recipients, expire } = found;
  if (expire > 0) return `${formats.number(expire)} of ${formats.number(recipients)} expire before their turn`;
  return finishesAt === null ? 'not within a year' : `about ${formats.instant(finishesAt)}`;
}
