import { expect, it } from 'vitest';
import { claimInTime } from '../../src/send/group-commit.ts';

/** A clock that shows these times, one after the other; then the last. */
const clock = (times: readonly number[], { isHeld = false, isStopped = false } = {}) => {
  let at = 0;
  return {
    now: () => times[Math.min(at++, times.length - 1)] ?? 0,
    isHeld: () => isHeld,
    isStopped: () => isStopped,
  };
};

const claim = (row: number, untilMs?: number) => ({
  row,
  step: 0,
  to: 't',
  key: 'k',
  ...(untilMs === undefined ? {} : { untilMs }),
});

it('makes the claims whose window is open by the clock that dates them, and answers each in its place', () => {
  const made: number[] = [];
  const answers = claimInTime([claim(0, 1000), claim(1, 1001), claim(2), claim(3, 0)], clock([1000]), (claims) => {
    made.push(...claims.map(({ row }) => row));
    return ['taken', 'claimed'];
  });
  expect(made).toEqual([1, 2]);
  expect(answers).toEqual(['closed', 'taken', 'claimed', 'closed']);
});

it('commits also where no recipient is left to claim: outcomes are in the same transaction', () => {
  let commits = 0;
  expect(
    claimInTime([claim(0, 1)], clock([1]), () => {
      commits += 1;
      return [];
    }),
  ).toEqual(['closed']);
  expect(commits).toBe(1);
});

it('claims no recipient while the API asks to wait, and writes the outcomes all the same (F5)', () => {
  const made: number[] = [];
  const answers = claimInTime([claim(0), claim(1, 0)], clock([1], { isHeld: true }), (claims) => {
    made.push(claims.length);
    return [];
  });
  expect(answers).toEqual(['held', 'held']);
  expect(made).toEqual([0]);
});

it('withdraws what was claimed, when its window closed before the claim was on the disk (A2)', () => {
  const answers = claimInTime([claim(0, 500), claim(1, 1001), claim(2), claim(3, 1002)], clock([1000, 1001]), () => [
    'claimed',
    'claimed',
    'claimed',
  ]);
  expect(answers).toEqual(['closed', 'withdrawn', 'claimed', 'claimed']);
});

it('withdraws every claim of a start that was stopped during the commit, and no other answer (B9)', () => {
  const answers = claimInTime([claim(0), claim(1)], clock([1], { isStopped: true }), () => ['suppressed', 'claimed']);
  expect(answers).toEqual(['suppressed', 'withdrawn']);
});
