import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareRatios, type Recorded } from './guard-compare.ts';
import { GUARDED, type Least } from './guard-takes.ts';

const RECORDED: Recorded = { margin: 1.3, ratios: { send: 2, help: 1.5 } };

it.each([
  { why: 'as recorded', measured: { send: 2, help: 1.5 }, failing: [] },
  { why: 'faster', measured: { send: 1, help: 1.1 }, failing: [] },
  { why: 'slower within the margin', measured: { send: 2.59, help: 1.94 }, failing: [] },
  { why: 'slower than the margin allows', measured: { send: 2.61, help: 1.5 }, failing: ['send'] },
  { why: 'no number', measured: { send: Number.NaN, help: 1.5 }, failing: ['send'] },
  { why: 'never recorded', measured: { send: 2, help: 1.5, list: 1 }, failing: ['list'] },
  { why: 'not measured any more', measured: { send: 2 }, failing: ['help'] },
])('$why: $failing', ({ measured, failing }) => {
  const verdicts = compareRatios(measured, RECORDED);
  expect(verdicts.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(failing);
});

it('says on one line what was measured, what was recorded and what is allowed', () => {
  expect(compareRatios({ send: 2.7, help: 1.2 }, RECORDED).map(({ line }) => line)).toEqual([
    'FAIL  send: 2.70 times, recorded 2.00, at most 2.60',
    'ok    help: 1.20 times, recorded 1.50, at most 1.95',
  ]);
});

it('takes what is done for each row without the start', () => {
  const least: Least = { bare: 10, send: 25, csv: 130, validate: 500, preview: 700, empty: 30, help: 45, small: 300 };
  expect(Object.values(GUARDED).map(({ ratio }) => ratio(least))).toEqual([2.5, 2, 4, 1.5, 10]);
});

it('takes anew all that a ratio is made of', () => {
  const least: Least = { bare: 1, send: 2, csv: 3, validate: 4, preview: 5, empty: 6, help: 7, small: 8 };
  for (const [name, { takes, ratio }] of Object.entries(GUARDED)) {
    for (const take of Object.keys(least)) {
      const changed = ratio({ ...least, [take]: 100 }) !== ratio(least);
      expect(changed, `${name}: ${take}`).toBe((takes as readonly string[]).includes(take));
    }
  }
});

it.each([
  { kind: 'cpu', ratios: 5, least: 1.15, most: 1.5 },
  { kind: 'instructions', ratios: 4, least: 1.1, most: 1.3 },
])('has a record of $kind that leaves room for noise and no more', ({ kind, ratios, least, most }) => {
  const text = readFileSync(join(import.meta.dirname, 'guard.json'), 'utf8');
  const recorded = (JSON.parse(text) as Record<string, Recorded>)[kind];
  expect(recorded?.margin).toBeGreaterThan(least);
  expect(recorded?.margin).toBeLessThan(most);
  expect(Object.keys(recorded?.ratios ?? {})).toHaveLength(ratios);
});

it('has a record of every ratio that is guarded', () => {
  const text = readFileSync(join(import.meta.dirname, 'guard.json'), 'utf8');
  expect(Object.keys((JSON.parse(text) as { cpu: Recorded }).cpu.ratios)).toEqual(Object.keys(GUARDED));
});
