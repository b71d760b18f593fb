import { type Calendar, HORIZON_MS, type Opening } from './calendar.ts';

/**
 * Whether several calendars are open all at once: the only hours that are right wherever a recipient is, when it is one of
 * several zones. Closed with an infinite change: they do not meet within a year.
 */
export function openingOf(calendars: readonly Calendar[], nowMs: number): Opening {
  for (let at = nowMs; at <= nowMs + HORIZON_MS; ) {
    const states = calendars.map((calendar) => calendar.at(at));
    const opensAtMs = Math.max(at, ...states.map(({ open, changesAtMs }) => (open ? at : changesAtMs)));
    if (opensAtMs > at) {
      at = opensAtMs;
      continue;
    }
    if (at > nowMs) return { open: false, changesAtMs: at };
    return { open: true, changesAtMs: Math.min(...states.map(({ changesAtMs }) => changesAtMs)) };
  }
  return { open: false, changesAtMs: Number.POSITIVE_INFINITY };
}
