import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDueQueue } from '../../src/sandbox/reporter.ts';
import { chanceFor } from '../../src/sandbox/stories.ts';

it('gives things in the order of their time, those of one time in the order in which they came', () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 0, max: 20 }) }),
    fc.record({ takeBy: fc.integer({ min: 0, max: 20 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = createDueQueue<number>();
      let waiting: { dueMs: number; thing: number }[] = [];
      for (const [thing, one] of steps.entries()) {
        if ('add' in one) {
          queue.add(one.add, thing);
          waiting = [...waiting, { dueMs: one.add, thing }].toSorted((a, b) => a.dueMs - b.dueMs);
        } else {
          const [next] = waiting;
          const isDue = next !== undefined && next.dueMs <= one.takeBy;
          expect(queue.take(one.takeBy)).toBe(isDue ? next.thing : null);
          if (isDue) waiting = waiting.slice(1);
        }
        expect([queue.size, queue.nextMs]).toEqual([waiting.length, waiting[0]?.dueMs ?? null]);
      }
    }),
  );
});

it('chance is the same for the same seed and matter, another for others, and evenly spread', () => {
  const draw = (seed: number, about: string): number[] => {
    const chance = chanceFor(seed, about);
    return Array.from({ length: 5 }, chance);
  };
  expect(draw(1, 'a')).toEqual(draw(1, 'a'));
  expect(draw(1, 'a')).not.toEqual(draw(2, 'a'));
  expect(draw(1, 'a')).not.toEqual(draw(1, 'b'));
  const tenths = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i += 1) {
    const drawn = chanceFor(1, String(i))();
    expect(drawn >= 0 && drawn < 1).toBe(true);
    tenths[Math.floor(drawn * 10)] = (tenths[Math.floor(drawn * 10)] ?? 0) + 1;
  }
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
