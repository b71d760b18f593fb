import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createTimeCounts } from '../../src/web/time-counts.ts';

const START = Date.UTC(2026, 10, 21, 9, 0, 3) + 700;
const SECOND = 1_000;
const DAY = 86_400_000;

function counted(offsets: readonly number[]) {
  const counts = createTimeCounts(['a'], START);
  for (const offset of offsets) counts.add('a', START + offset);
  return counts.slots();
}

describe('counts over time', () => {
  test.each([
    ['nothing', [], 0, 0],
    ['a second', [0, 10, 200], 1, SECOND],
    ['a minute', [0, 59 * SECOND], 60, SECOND],
    ['four minutes fill it', [0, 239 * SECOND], 240, SECOND],
    ['one second more makes slots wider', [0, 240 * SECOND], 49, 5 * SECOND],
    ['an hour: 241 slots of 15 s would be too many', [0, 3_600 * SECOND], 61, 60 * SECOND],
    ['a day', [0, DAY], 97, 15 * 60 * SECOND],
    ['a month', [0, 30 * DAY], 121, 6 * 3_600 * SECOND],
    ['ten years', [0, 3_650 * DAY], 123, 30 * DAY],
  ])('%s', (_label, offsets, slots, widthMs) => {
    const found = counted(offsets);
    expect([found.length, found[0]?.widthMs ?? 0]).toEqual([slots, widthMs]);
    expect(found.reduce((sum, { counts }) => sum + counts.a, 0)).toBe(offsets.length);
  });

  it('loses no recipient, and puts each where it belongs, in whatever order they come', () => {
    const offset = fc.oneof(
      fc.integer({ min: 0, max: 300 * SECOND }),
      fc.integer({ min: 0, max: 20 * DAY }),
      fc.integer({ min: -DAY, max: 4_000 * DAY }),
    );
    fc.assert(
      fc.property(fc.array(offset, { maxLength: 200 }), (offsets) => {
        const slots = counted(offsets);
        expect(slots.length).toBeLessThanOrEqual(240);
        let sum = 0;
        for (const { fromMs, widthMs, counts } of slots) {
          const inside = offsets
            .map((ms) => START + Math.max(0, ms))
            .filter((ms) => ms >= fromMs && ms < fromMs + widthMs);
          expect(counts.a).toBe(inside.length);
          expect(fromMs % widthMs).toBe(0);
          sum += counts.a;
        }
        expect(sum).toBe(offsets.length);
        expect(slots[0]?.counts.a ?? 1).toBeGreaterThan(0);
        expect(slots.at(-1)?.counts.a ?? 1).toBeGreaterThan(0);
      }),
    );
  });

  it('counts several things beside each other', () => {
    const counts = createTimeCounts(['read', 'lost'], START);
    counts.add('lost', START + 5 * SECOND);
    counts.add('read', START + 2 * SECOND);
    counts.add('read', Number.NaN);
    expect(counts.slots().map(({ counts: { read, lost } }) => [read, lost])).toEqual([
      [1, 0],
      [0, 0],
      [0, 0],
      [0, 1],
    ]);
  });
});
