import { join } from 'node:path';
import { addWalk, type Bench } from './bench.ts';
import { EVENTS_A_ROW, writeReports } from './deliveries-project.ts';
import type { Usage } from './measure.ts';
import { writeProject } from './project.ts';

/** A report before and after two reports about each message came in, and what it takes to take them over. */
export async function measureDeliveries(bench: Bench): Promise<void> {
  const { rows } = bench.sizes;
  await writeProject(bench.folder, 'http://127.0.0.1:9');
  const file = await writeReports(bench.folder, rows);
  const ledger = ['--ledger', join(bench.folder, '.handbill', 'ledger.db')];
  const report = (format: string): Promise<Usage> => bench.handbill(['report', '--format', format, ...ledger]);
  const ofRows = { count: rows, unit: 'row', peakGoal: { atMost: 200 } };
  const before = { id: 'report-before', what: 'report --format json, nothing came back', ...ofRows };
  addWalk(bench, before, await report('json'));
  const events = { id: 'reconcile', what: 'reconcile', ...ofRows, count: rows * EVENTS_A_ROW, unit: 'event' };
  addWalk(bench, events, await bench.handbill(['listen', '--quiet', '--from', file, ...ledger]));
  addWalk(bench, { id: 'report-json', what: 'report --format json', ...ofRows }, await report('json'));
  addWalk(bench, { id: 'report-jsonl', what: 'report --format jsonl', ...ofRows }, await report('jsonl'));
}
