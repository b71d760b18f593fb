import { describe, expect, it } from 'vitest';
import type { Recorded } from './guard-compare.ts';
import { type Kind, takeFigures } from './guard-rounds.ts';

type Name = 'yardstick' | 'row' | 'start';

const RECORDED: Recorded = {
  margin: 0.2,
  figures: { rows: { value: 2, spread: 0.01 }, starts: { value: 3, spread: 0.01 } },
};

/** Takes that cost so much, one after the other, and the last of it from there on; and the order in which they came. */
function kindOf(costs: Readonly<Record<Name, readonly number[]>>, together = 1) {
  const order: Name[] = [];
  let running = 0;
  let atOnce = 0;
  const take = (name: Name) => ({
    times: 1,
    cost: async () => {
      running += 1;
      atOnce = Math.max(atOnce, running);
      await Promise.resolve();
      running -= 1;
      const earlier = order.filter((one) => one === name).length;
      order.push(name);
      return costs[name][earlier] ?? costs[name].at(-1) ?? Number.NaN;
    },
  });
  const kind: Kind<Name> = {
    takes: { yardstick: take('yardstick'), row: take('row'), start: take('start') },
    guarded: {
      rows: { takes: ['yardstick', 'row'], figure: ({ row, yardstick }) => row / yardstick },
      starts: { takes: ['yardstick', 'start'], figure: ({ start, yardstick }) => start / yardstick },
    },
    together,
  };
  return { kind, order, atOnce: () => atOnce };
}

describe('figures', () => {
  it('are of the least of each take', async () => {
    const { kind } = kindOf({ yardstick: [12, 10], row: [20, 24], start: [33, 30] });
    expect(await takeFigures(kind, RECORDED, { least: 2, most: 4 })).toEqual({ rows: 2, starts: 3 });
  });

  it('are taken in turn', async () => {
    const { kind, order } = kindOf({ yardstick: [10], row: [20], start: [30] });
    await takeFigures(kind, RECORDED, { least: 2, most: 4 });
    expect(order).toEqual(['yardstick', 'row', 'start', 'yardstick', 'row', 'start']);
  });

  it('that seem too slow are taken again until they do not, without the others', async () => {
    const { kind, order } = kindOf({ yardstick: [10], row: [50, 50, 21], start: [30] });
    expect(await takeFigures(kind, RECORDED, { least: 1, most: 4 })).toEqual({ rows: 2.1, starts: 3 });
    expect(order).toEqual(['yardstick', 'row', 'start', 'yardstick', 'row', 'yardstick', 'row']);
  });

  it('that stay too slow are repeated often enough, and not without end', async () => {
    const { kind, order } = kindOf({ yardstick: [10], row: [25], start: [30] });
    expect(await takeFigures(kind, RECORDED, { least: 1, most: 3 })).toEqual({ rows: 2.5, starts: 3 });
    expect(order.filter((name) => name === 'row')).toHaveLength(3);
  });

  it.each([1, 2])('are taken so many at once: %i', async (together) => {
    const { kind, atOnce } = kindOf({ yardstick: [10], row: [20], start: [30] }, together);
    await takeFigures(kind, RECORDED, { least: 1, most: 1 });
    expect(atOnce()).toBe(together);
  });
});
