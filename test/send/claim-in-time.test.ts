import { expect, it } from 'vitest';
import { claimInTime } from '../../src/send/group-commit.ts';

const claim = (row: number, untilMs?: number) => ({
  row,
  step: 0,
  to: 't',
  key: 'k',
  ...(untilMs === undefined ? {} : { untilMs }),
});

it('makes the claims whose window is open by the clock that dates them, and answers each in its place', () => {
  const made: number[] = [];
  const answers = claimInTime([claim(0, 1000), claim(1, 1001), claim(2), claim(3, 0)], 1000, false, (claims) => {
    made.push(...claims.map(({ row }) => row));
    return ['taken', 'claimed'];
  });
  expect(made).toEqual([1, 2]);
  expect(answers).toEqual(['closed', 'taken', 'claimed', 'closed']);
});

it('commits also where no recipient is left to claim: outcomes are in the same transaction', () => {
  let commits = 0;
  expect(
    claimInTime([claim(0, 1)], 1, false, () => {
      commits += 1;
      return [];
    }),
  ).toEqual(['closed']);
  expect(commits).toBe(1);
});

it('claims no recipient while the API asks to wait, and writes the outcomes all the same (F5)', () => {
  const made: number[] = [];
  const answers = claimInTime([claim(0), claim(1, 0)], 1, true, (claims) => {
    made.push(claims.length);
    return [];
  });
  expect(answers).toEqual(['held', 'held']);
  expect(made).toEqual([0]);
});
