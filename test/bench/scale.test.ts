import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MEASURED, planTable, simulate, workersTable } from './scale.ts';

it('docs/internals/measurements.md has these tables', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs/internals/measurements.md'), 'utf8');
  expect(page).toContain(workersTable());
  expect(page).toContain(planTable());
});

it('never carries more than its parts could: a worker its own work, the ledger its commits', () => {
  for (const workers of [1, 2, 3, 5, 9]) {
    const rate = simulate(workers, MEASURED);
    expect(rate).toBeLessThanOrEqual(workers * (1000 / (MEASURED.work + MEASURED.row)));
    expect(rate).toBeLessThanOrEqual(1000 / MEASURED.row);
  }
});

it('is bound by the API where that is slow', () => {
  // 10 requests in flight, each a second under way.
  expect(simulate(1, { ...MEASURED, api: 1000 }, 10)).toBeGreaterThan(9);
  expect(simulate(1, { ...MEASURED, api: 1000 }, 10)).toBeLessThanOrEqual(10);
});
