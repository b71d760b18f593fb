import type { LegCount, ResultRecord } from '../ledger/records.ts';
import type { LogAbout } from '../operations/observer.ts';
import type { Plan } from '../plan/plan.ts';
import { channelOf } from './attempts.ts';
import type { Instruments } from './instruments.ts';

/** Counts messages by outcome as their results are committed. */
export function createMessageCount(
  instruments: Instruments,
  about: LogAbout,
  plan: Plan | null,
): (results: readonly ResultRecord[]) => void {
  const where = whereOf(about);
  return (results) => {
    for (const { state, reason, leg, next } of results) {
      if (state === 'pending') {
        // Stopped before its first byte: no attempt follows in this start.
        if (reason !== 'stopped') instruments.retries(1, { ...where, reason });
        continue;
      }
      const fellBack = next !== undefined;
      const [outcome, why] = fellBack ? (['rejected', 'fell-back'] as const) : ([state, reason] as const);
      instruments.messages(1, { ...where, outcome, reason: why, channel: channelOf(plan, leg) });
    }
  };
}

/** What no result says: who was left out or put off in a round, and how many parts its messages had. */
export function countRound(
  instruments: Instruments,
  about: LogAbout,
  before: readonly LegCount[],
  after: readonly LegCount[],
): void {
  const where = whereOf(about);
  const known = new Map<string, { count: number; parts: number }>();
  for (const [sign, counts] of [[-1, before] as const, [1, after] as const]) {
    for (const { outcome, reason, channel, count, parts } of counts) {
      const key = JSON.stringify([outcome, reason, channel]);
      const sum = known.get(key) ?? { count: 0, parts: 0 };
      known.set(key, { count: sum.count + sign * count, parts: sum.parts + sign * parts });
    }
  }
  for (const [key, { count, parts }] of known) {
    const [outcome, reason, channel] = JSON.parse(key) as [LegCount['outcome'], string | null, string];
    // A recipient that was put off may be sent to now: then there are fewer than before.
    if (LEFT_OUT.has(outcome) && count > 0) instruments.messages(count, { ...where, outcome, reason, channel });
    if (SENT.has(outcome) && parts > 0) instruments.parts(parts, { ...where, channel });
  }
}

const LEFT_OUT: ReadonlySet<string> = new Set(['skipped', 'deferred']);
const SENT: ReadonlySet<string> = new Set(['accepted', 'in-doubt']);

function whereOf({ campaign, environment }: LogAbout): { readonly campaign: string; readonly environment: string } {
  return { campaign: campaign ?? '', environment: environment ?? '' };
}
