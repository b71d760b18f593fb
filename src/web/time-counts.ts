export interface Slot<Name extends string> {
  readonly fromMs: number;
  readonly widthMs: number;
  readonly counts: Readonly<Record<Name, number>>;
}

/**
 * Counts in a fixed number of slots, which grow wider over time: the duration of a run is unknown at first, and memory
 * stays flat. Slots begin at full seconds, minutes, hours or days in UTC.
 * @param startMs - in ms since 1970, as all times here
 */
export function createTimeCounts<Name extends string>(names: readonly Name[], startMs: number) {
  let width = 0;
  let widthMs = WIDTHS_MS[width] ?? 1_000;
  let first = Math.floor(startMs / widthMs);
  const held = new Map(names.map((name) => [name, new Float64Array(SLOTS)] as const));
  let last = -1;

  const widen = (toMs: number): void => {
    const [before, began] = [widthMs, first];
    while (Math.floor(toMs / widthMs) - first >= SLOTS && width < WIDTHS_MS.length - 1) {
      widthMs = WIDTHS_MS[++width] ?? widthMs;
      first = Math.floor(startMs / widthMs);
    }
    for (const counts of held.values()) {
      const old = counts.slice();
      counts.fill(0);
      for (const [i, count] of old.entries()) {
        const at = Math.floor(((began + i) * before) / widthMs) - first;
        if (count > 0) counts[at] = (counts[at] ?? 0) + count;
      }
    }
    last = last < 0 ? last : Math.floor(((began + last) * before) / widthMs) - first;
  };

  return {
    /** Events before the start count in the first slot. */
    add(name: Name, atMs: number): void {
      if (!Number.isFinite(atMs)) return;
      let at = Math.floor(Math.max(atMs, startMs) / widthMs) - first;
      if (at >= SLOTS) {
        widen(atMs);
        at = Math.min(Math.floor(atMs / widthMs) - first, SLOTS - 1);
      }
      const counts = held.get(name);
      if (counts === undefined) return;
      counts[at] = (counts[at] ?? 0) + 1;
      if (at > last) last = at;
    },
    /** From the first slot in use to the last; empty when nothing was counted. */
    slots(): readonly Slot<Name>[] {
      const used = Array.from({ length: last + 1 }, (_, i) => i);
      const begin = used.findIndex((i) => [...held.values()].some((counts) => (counts[i] ?? 0) > 0));
      return used.slice(Math.max(0, begin)).map((i) => ({
        fromMs: (first + i) * widthMs,
        widthMs,
        counts: Object.fromEntries([...held].map(([name, counts]) => [name, counts[i] ?? 0])) as Record<Name, number>,
      }));
    },
  };
}

/** More than a chart has room for, so that it looks well when slots have just grown fivefold. */
const SLOTS = 240;
/**
 * 1, 5 and 15 seconds; 1, 5 and 15 minutes; 1, 3 and 6 hours; 1, 5, 30 and 360 days. Each divides the next, so that
 * slots can be added up.
 */
const WIDTHS_MS = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 21_600, 86_400, 432_000, 2_592_000, 31_104_000].map(
  (seconds) => 1_000 * seconds,
);
