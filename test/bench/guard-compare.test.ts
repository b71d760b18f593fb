import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareFigures, middleOf, type Recorded, recordOf } from './guard-compare.ts';
import { COUNTED, TIMED } from './guard-takes.ts';

const RECORDED: Recorded = {
  margin: 0.3,
  figures: { send: { value: 2, spread: 0.1 }, help: { value: 1.5, spread: 0.05 } },
};

it.each([
  { why: 'as recorded', measured: { send: 2, help: 1.5 }, failing: [] },
  { why: 'faster', measured: { send: 1, help: 1.1 }, failing: [] },
  { why: 'slower within the margin', measured: { send: 2.59, help: 1.94 }, failing: [] },
  { why: 'slower than the margin allows', measured: { send: 2.61, help: 1.5 }, failing: ['send'] },
  { why: 'no number', measured: { send: Number.NaN, help: 1.5 }, failing: ['send'] },
  { why: 'never recorded', measured: { send: 2, help: 1.5, list: 1 }, failing: ['list'] },
  { why: 'not measured any more', measured: { send: 2 }, failing: ['help'] },
])('$why: $failing', ({ measured, failing }) => {
  const verdicts = compareFigures(measured, RECORDED);
  expect(verdicts.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(failing);
});

it('says on one line what was measured, what was recorded and what is allowed', () => {
  expect(compareFigures({ send: 2.7, help: 1.2, list: 1 }, RECORDED).map(({ line }) => line)).toEqual([
    'FAIL  send: 2.70, recorded 2.00, at most 2.60 (+35.0%, margin 30%)',
    'ok    help: 1.20, recorded 1.50, at most 1.95 (-20.0%, margin 30%)',
    'FAIL  list: 1.00, without a record to compare with',
  ]);
});

it('compares only what is measured', () => {
  expect(compareFigures({ help: 1.5 }, recordOf(RECORDED, ['help'])).map(({ ok }) => ok)).toEqual([true]);
});

it('records the middle of several runs, and how far apart they lay', () => {
  const runs = [2.2, 1.9, 2, 2.1, 4].map((send) => ({ send, help: 1.5 }));
  expect(middleOf(runs)).toEqual({ send: { value: 2.1, spread: 1 }, help: { value: 1.5, spread: 0 } });
});

it('takes what is done for each row without the start', () => {
  const least = { bare: 10, send: 25, csv: 130, validate: 500, preview: 700, empty: 30, help: 45, small: 300 };
  expect(Object.values(TIMED).map(({ figure }) => figure(least))).toEqual([2.5, 2, 4, 1.5, 10]);
  const counts = { preview: 500e6, few: 310e6, validate: 400e6, small: 300e6, help: 60e6, empty: 30e6 };
  expect(Object.values(COUNTED).map(({ figure }) => figure(counts))).toEqual([19, 10, 10, 2]);
});

it('takes anew all that a figure is made of', () => {
  const least = { bare: 1, send: 2, csv: 3, validate: 4, preview: 5, empty: 6, help: 7, small: 8, few: 9 };
  for (const [name, { takes, figure }] of Object.entries({ ...TIMED, ...COUNTED })) {
    for (const take of Object.keys(least)) {
      const changed = figure({ ...least, [take]: 100 }) !== figure(least);
      expect(changed, `${name}: ${take}`).toBe((takes as readonly string[]).includes(take));
    }
  }
});

const records = JSON.parse(readFileSync(join(import.meta.dirname, 'guard.json'), 'utf8')) as {
  readonly cpu: Recorded;
  readonly instructions: Recorded & { readonly counter: string };
};

it.each([
  { kind: 'CPU time', recorded: records.cpu, guarded: TIMED, most: 0.5 },
  { kind: 'instructions', recorded: records.instructions, guarded: COUNTED, most: 0.15 },
])(
  'has a record of $kind that leaves room for noise and no more',
  ({ recorded: { margin, figures }, guarded, most }) => {
    expect(Object.keys(figures)).toEqual(Object.keys(guarded));
    for (const [name, { value, spread }] of Object.entries(figures)) {
      expect(value, name).toBeGreaterThan(0);
      expect(spread * 1.5, name).toBeLessThanOrEqual(margin);
    }
    expect(margin).toBeLessThanOrEqual(most);
  },
);

it('has margins that find what was planted: each row twice through JSON, in the loop that decides', () => {
  // As it was counted, before and with it. CPU time, with its margin, is for what is worse.
  const figures = { preview: { value: 101.92, spread: 0 }, validate: { value: 61.83, spread: 0 } };
  const judged = compareFigures({ preview: 129.67, validate: 83.22 }, { margin: records.instructions.margin, figures });
  expect(judged.map(({ ok }) => ok)).toEqual([false, false]);
});

it('has counted with the Node that is installed: with another one, instructions could not be compared', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8');
  const { devDependencies } = JSON.parse(text) as { devDependencies: { node: string } };
  expect(records.instructions.counter).toBe(`Node ${devDependencies.node} x64`);
});
