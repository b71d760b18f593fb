import { expect, it } from 'vitest';
import { mostWithin, rateBetween } from './arrivals.ts';
import { median } from './bench.ts';
import { type Figures, isReached, mergeFigures, tableOf } from './figures.ts';

const ORDER = ['send', 'rate', 'help'];

function figuresOf(...kept: readonly (readonly [measurement: string, id: string, value: number])[]): Figures {
  const figures = kept.map(([measurement, id, value]) => ({ measurement, id, what: id, value, unit: 'times' }));
  return { node: '24.0.0', cores: 2, figures };
}

it('keeps the figures of measurements that were not taken again, in the order of the bench', () => {
  const older = figuresOf(['help', 'help', 1], ['send', 'send', 2], ['send', 'gone', 3]);
  const merged = mergeFigures(older, figuresOf(['rate', 'rate', 4], ['send', 'send', 5]), ORDER);
  expect(merged).toEqual(figuresOf(['send', 'send', 5], ['rate', 'rate', 4], ['help', 'help', 1]));
});

it('drops the figures of a measurement that no longer exists', () => {
  expect(mergeFigures(figuresOf(['retired', 'x', 1]), figuresOf(['send', 'send', 2]), ORDER)).toEqual(
    figuresOf(['send', 'send', 2]),
  );
});

it.each([{ cores: 4 }, { node: '26.0.0' }])(
  'does not put figures of different machines into one table: %o',
  (other) => {
    const older = { ...figuresOf(['send', 'send', 1]), ...other };
    expect(() => mergeFigures(older, figuresOf(['help', 'help', 1]), ORDER)).toThrow('measure all of them');
  },
);

it.each([
  { value: 1.5, goal: { atMost: 1.5 }, reached: true },
  { value: 1.51, goal: { atMost: 1.5 }, reached: false },
  { value: 0.95, goal: { atLeast: 0.95 }, reached: true },
  { value: 0.94, goal: { atLeast: 0.95 }, reached: false },
  { value: Number.NaN, goal: { atMost: 1 }, reached: false },
])('$value against $goal: $reached', ({ value, goal, reached }) => {
  expect(isReached({ value, goal })).toBe(reached);
});

it('marks in its table what misses its goal', () => {
  const [send, rate] = figuresOf(['send', 'send', 2], ['rate', 'rate', 1]).figures;
  const figures = [send, rate].flatMap((one) => (one ? [{ ...one, goal: { atMost: 1.5 } }] : []));
  expect(tableOf({ node: '24.0.0', cores: 2, figures })).toContain(
    'send        2.00 times  (at most 1.5: MISSED)\nrate        1.00 times  (at most 1.5: reached)\n',
  );
});

it('finds the fullest second wherever it begins', () => {
  expect(mostWithin([0, 400, 900, 1000, 1100, 1399, 2400], 1000)).toBe(5);
  expect(mostWithin([0, 1000, 2000], 1000)).toBe(1);
  expect(mostWithin([], 1000)).toBe(0);
});

it('takes a rate from the time between two arrivals', () => {
  expect(rateBetween([0, 250, 500, 750, 1000], 0, 4)).toBe(4);
  expect(rateBetween([0, 900, 1000, 1100, 5000], 1, 3)).toBe(10);
});

it('takes the middle of several figures', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 2, 9])).toBe(3);
});
