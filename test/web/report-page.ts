import { writeFileSync } from 'node:fs';
import type { Outcome, Report } from '../../src/model.ts';
import { reportPage } from '../../src/web/report/report.ts';
import { collect, FELL_BACK, OUTCOMES_OF_ALL_KINDS, outcome, RETURNED, RUN, TROUBLED } from '../report/examples.ts';

const START = Date.parse(RUN.startedAt);

/** Writes the page of a report. @returns its address */
export async function writeReport(path: string, report: Report, outcomes: readonly Outcome[]): Promise<string> {
  const times = (row: number) => START + 1_000 * (row + 1) ** 2;
  const text = await collect(
    reportPage(report, [outcomes], {
      nowMs: START + 9e6,
      currency: 'EUR',
      replies: { 'opt-out': 1, 'opt-in': 0, review: 2, answer: 12 },
      timesOf: ({ row }) => ({ arrived: times(row), read: times(row) + 5e4, replied: null, 'did not arrive': null }),
    }),
  );
  writeFileSync(path, text);
  return `file://${path}`;
}

/** Everything that the page can show. */
export const FULL: Report = { ...RETURNED, halt: TROUBLED.halt, reasons: TROUBLED.reasons };
export const ROWS: readonly Outcome[] = [
  ...OUTCOMES_OF_ALL_KINDS,
  FELL_BACK,
  ...Array.from({ length: 200 }, (_, i) =>
    outcome({ row: 10 + i, updatedAt: new Date(START + i * 300).toISOString(), delivery: 'delivered' }),
  ),
];
