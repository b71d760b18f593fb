import type { Forecast } from '../model.ts';
import { type Formats, PLAIN } from '../report/locale.ts';
import { instantMs, iso } from '../util/time.ts';
import type { Calendar } from './calendar.ts';
import type { Forecaster } from './estimate.ts';
import type { Plan } from './plan.ts';
import { createWindowGate, lastMoment } from './window.ts';

type Waiting = { readonly recipients: number; readonly calendar: Calendar };

interface Bounds {
  /** Recipients a second; null: no limit. */
  readonly perSecond: number | null;
  /** Ms since 1970. */
  readonly startMs: number;
  /** The last moment at which a message may go out, in ms since 1970; infinite: there is none. */
  readonly endMs: number;
}

const MINUTE_MS = 60_000;
const HORIZON_MS = 366 * 86_400_000;

/** Windows that are open share the rate. Latency is unknown, so a run without a rate takes no time. */
export function forecast(
  groups: readonly Waiting[],
  { perSecond, startMs, endMs }: Bounds,
): { readonly finishedMs: number | null; readonly expire: number } {
  const left = groups.map((group) => ({ ...group }));
  const lastMs = Math.min(endMs, startMs + HORIZON_MS);
  let finishedMs = startMs;
  for (let nowMs = startMs; nowMs <= lastMs; ) {
    const waiting = left.filter(({ recipients }) => recipients > 0);
    if (waiting.length === 0) return { finishedMs, expire: 0 };
    const states = waiting.map((group) => ({ group, ...group.calendar.at(nowMs) }));
    const untilMs = Math.min(lastMs, ...states.map(({ changesAtMs }) => changesAtMs));
    const open = states.filter((state) => state.open).map(({ group }) => group);
    const total = open.reduce((sum, { recipients }) => sum + recipients, 0);
    // The first one goes at once, where any window is open.
    const possible = perSecond === null ? total : 1 + ((untilMs - nowMs) / 1000) * perSecond;
    const share = possible >= total ? 1 : possible / total;
    for (const group of open) group.recipients -= share === 1 ? group.recipients : group.recipients * share;
    if (total > 0 && share === 1) finishedMs = nowMs + (perSecond === null ? 0 : ((total - 1) / perSecond) * 1000);
    if (untilMs >= lastMs) break;
    nowMs = untilMs;
  }
  const rest = left.reduce((sum, { recipients }) => sum + recipients, 0);
  if (rest === 0) return { finishedMs, expire: 0 };
  return { finishedMs: null, expire: lastMs === endMs ? Math.ceil(rest - 1e-6) : 0 };
}

/**
 * Begins at the occurrence's instant where that is later. Null: neither a rate nor a window bounds the run.
 * @param ratePerSecond - of this start, where it sets one
 */
export async function createForecaster(
  plan: Plan,
  { nowMs, ratePerSecond = null }: { readonly nowMs: number; readonly ratePerSecond?: number | null },
): Promise<Forecaster | null> {
  const { campaign, environment, recipientsPerRequest } = plan;
  const rates = [ratePerSecond, environment.ratePerSecond, campaign.send.ratePerSecond].filter((rate) => rate !== null);
  const { window, notAfterMs } = campaign.send;
  // With `send.each` each row has its own end.
  if ((rates.length === 0 && window === null) || campaign.recipients.each !== null) return null;
  const startMs = Math.max(nowMs, instantMs(plan.occurrence) ?? nowMs);
  const gate = await createWindowGate(plan, { now: () => startMs, startMs });
  const { openingOf } = gate === null ? { openingOf: () => OPEN } : await import('./calendar.ts');
  const counts = new Map<readonly Calendar[], number>();
  const perSecond = rates.length === 0 ? null : Math.min(...rates) * recipientsPerRequest;
  const endMs = Math.min(notAfterMs ?? Number.POSITIVE_INFINITY, lastMoment(plan, startMs));
  return {
    add(recipient) {
      const calendars = gate === null ? ALWAYS : gate.calendars(recipient);
      // Without a known time zone a recipient is not sent to.
      if (calendars !== null) counts.set(calendars, (counts.get(calendars) ?? 0) + 1);
    },
    result() {
      const groups = [...counts].map(([calendars, recipients]) => {
        return { recipients, calendar: { at: (ms: number) => openingOf(calendars, ms) } };
      });
      const { finishedMs, expire } = forecast(groups, { perSecond, startMs, endMs });
      if (finishedMs !== null && finishedMs - startMs < MINUTE_MS) return null;
      const recipients = groups.reduce((sum, group) => sum + group.recipients, 0);
      // A minute is as exact as a rate without latency can be.
      const minute = finishedMs === null ? null : Math.ceil(finishedMs / MINUTE_MS) * MINUTE_MS;
      return { finishesAt: iso(minute), recipients, expire };
    },
  };
}

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
