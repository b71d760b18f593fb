import type { EachTime, Recipient } from '../model.ts';
import { DAY_MS } from '../util/time.ts';
import { type Calendar, openingOf, wallText } from './calendar.ts';
import { type Closed, endOfRow, type GateBounds, MOST_EARLIER_DAYS, type WindowGate, whyLate } from './gate.ts';
import type { Plan } from './plan.ts';

/** A message that a window moves to an earlier moment goes out within the last hour before the window closes. */
const LAST_MS = 3_600_000;

/**
 * The gate of `send.each`: opens for each recipient some time before that of the row, or in the last hour of the window
 * before that, and closes with the time itself, or with the validity of the message.
 * @param hours - of `send.window`; null: messages go at any hour
 */
export function createEachGate(
  { campaign: { send, validity } }: Pick<Plan, 'campaign'>,
  each: EachTime,
  hours: WindowGate | null,
  { now, lateAtMs }: GateBounds,
): WindowGate {
  const { before, timeZone } = each;
  const endOf = (atMs: number): number => endOfRow(validity, each, atMs);
  const known = new Map<readonly Calendar[], Map<number, number>>();
  const opensAt = (recipient: Recipient, atMs: number): number => {
    const dueMs = atMs - before.ms;
    const calendars = hours?.calendars(recipient) ?? null;
    if (calendars === null) return dueMs;
    const found = known.get(calendars) ?? new Map<number, number>();
    known.set(calendars, found);
    const opensMs = found.get(dueMs) ?? lastOpening(calendars, dueMs);
    if (found.size > MOST_KNOWN) found.clear();
    found.set(dueMs, opensMs);
    return opensMs;
  };
  const texts = new Map<number, string>();
  const textOf = (opensMs: number): string => {
    const text = texts.get(opensMs) ?? `goes out ${wallText(opensMs, timeZone)} in ${timeZone}`;
    if (texts.size > MOST_KNOWN) texts.clear();
    texts.set(opensMs, text);
    return text;
  };
  return {
    closed(recipient) {
      const { atMs = 0 } = recipient;
      const nowMs = now();
      const endMs = endOf(atMs);
      const ended = endMs < atMs ? 'its validity ended' : 'its time was';
      if (nowMs >= endMs) return over('expired', `${ended} ${wallText(endMs, timeZone)} in ${timeZone}`);
      const closed = hours?.closed(recipient) ?? null;
      if (closed !== null && hours?.calendars(recipient) === null) return closed;
      const opensMs = opensAt(recipient, atMs);
      if (opensMs >= lateAtMs) return over('expired', `${textOf(opensMs)}, ${whyLate(send, opensMs)}`);
      if (nowMs < opensMs)
        return { decision: 'defer', reason: 'too-early', detail: textOf(opensMs), opensAtMs: opensMs };
      if (closed?.decision !== 'defer' || (closed.opensAtMs ?? endMs) < endMs) return closed;
      return over('window-closed', `${closed.detail}, after its time`);
    },
    closesAtMs(recipient) {
      const { atMs = 0 } = recipient;
      if (now() < opensAt(recipient, atMs)) return 0;
      return Math.min(endOf(atMs), hours?.closesAtMs(recipient) ?? Number.POSITIVE_INFINITY);
    },
    calendars: () => null,
  };
}

/** Times that are kept: most rows share theirs with others. */
const MOST_KNOWN = 10_000;

function over(reason: 'expired' | 'window-closed', detail: string): Closed {
  return { decision: 'skip', reason, detail };
}

/** The moment itself where all calendars are open then, or are not open in the two weeks before. */
function lastOpening(calendars: readonly Calendar[], dueMs: number): number {
  if (openingOf(calendars, dueMs).open) return dueMs;
  for (const days of [2, MOST_EARLIER_DAYS]) {
    let last: number | null = null;
    for (let ms = dueMs - days * DAY_MS; ms < dueMs; ) {
      const { open, changesAtMs } = openingOf(calendars, ms);
      if (open) last = Math.max(ms, changesAtMs - LAST_MS);
      ms = changesAtMs;
    }
    if (last !== null) return last;
  }
  return dueMs;
}
