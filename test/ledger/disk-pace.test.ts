import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDiskPace } from '../../src/ledger/disk-pace.ts';

/** Which of the commits wait for the disk, if the n-th of those takes so long. */
function waits(commits: number, takes: (nth: number) => number): boolean[] {
  const pace = createDiskPace();
  let nth = 0;
  return Array.from({ length: commits }, () => {
    const waits = pace.waits();
    if (waits) pace.took(takes(nth++));
    return waits;
  });
}

const share = (all: readonly boolean[]): number => all.filter(Boolean).length / all.length;

it('a disk is tried after eight commits, and waited for while it is quick', () => {
  expect(waits(12, () => 0.2)).toEqual([...new Array(8).fill(false), ...new Array(4).fill(true)]);
  expect(share(waits(1000, () => 0.5))).toBe(0.992);
});

it('a slow one is tried more and more rarely', () => {
  const tried = waits(20_000, () => 4).flatMap((is, at) => (is ? [at] : []));
  expect(tried.slice(0, 8)).toEqual([8, 17, 34, 67, 132, 261, 518, 775]);
  expect(new Set(tried.slice(6).map((at, i) => at - (tried[i + 5] ?? 0)))).toEqual(new Set([257]));
});

it('one commit of twenty may be late, and a disk that is slow one time in three is slow', () => {
  expect(share(waits(10_000, (nth) => (nth % 20 === 0 ? 30 : 0.3)))).toBeGreaterThan(0.99);
  expect(share(waits(10_000, (nth) => (nth % 3 === 0 ? 2 : 0.3)))).toBeLessThan(0.05);
});

it('a disk that becomes slow is left after three commits, and found when it is quick again', () => {
  const all = waits(3000, (nth) => (nth < 1000 || nth >= 1010 ? 0.3 : 9));
  const slow = all.slice(1008, 1011);
  expect([slow, all[1011]]).toEqual([[true, true, true], false]);
  expect(share(all.slice(-100))).toBe(1);
});

it('whatever the disk does, no more than three commits in a row wait for a slow one', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { minLength: 1, maxLength: 200 }), (ms) => {
      let inARow = 0;
      let most = 0;
      const pace = createDiskPace();
      for (const one of ms) {
        if (!pace.waits()) inARow = 0;
        else {
          pace.took(one);
          inARow = one > 0.5 ? inARow + 1 : 0;
          most = Math.max(most, inARow);
        }
      }
      return most <= 3;
    }),
  );
});
