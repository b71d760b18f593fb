import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { ReplyMeaning, Report } from '../model.ts';
import { countedRows, isChosen, type RowFilter } from '../operations/report.ts';
import { reportPage } from '../pages/report.ts';
import type { ReplyCounts } from '../pages/report-returned.ts';
import type { DeliveryCount } from '../report/deliveries.ts';
import { readLatency } from '../report/latency.ts';
import type { ReportOptions } from '../report/record.ts';
import { type Meter, metered } from '../util/meter.ts';
import { returnTimes } from './report-times.ts';

/** Who is listed, and how. */
export interface PageOptions extends RowFilter {
  readonly full?: true;
  readonly nowMs: number;
  /** Counts the rows of the list as they go by. */
  readonly meter?: Meter;
  /** Awaited between two steps of a pass, where others want to go on in between. */
  readonly turn?: () => Promise<void> | undefined;
}

/** What the report of the run is made of. */
export interface PageSummary {
  readonly plain: () => Report;
  readonly reportOf: (deliveries: readonly DeliveryCount[]) => Report;
  readonly options: ReportOptions;
}

/** The page of a run, in pieces: one pass over its list. Who is not chosen counts all the same, and is not listed. */
export async function* runPage(
  ledger: Pick<Ledger, 'earlier' | 'events' | 'outcomes'>,
  run: RunRecord,
  options: PageOptions,
  { plain, reportOf, options: shown }: PageSummary,
): AsyncGenerator<string> {
  const { rows: all, counts } = countedRows(ledger, run);
  const timesOf = returnTimes(ledger, run);
  const { nowMs, turn, meter } = options;
  const rows = meter === undefined ? all : metered(all, meter);
  yield* reportPage(plain(), turn === undefined ? rows : inTurns(rows, turn), {
    ...shown,
    nowMs,
    completed: () => reportOf(counts()),
    isListed: (outcome) => isChosen(outcome, options),
    latency: readLatency(run.figures?.['latency']),
    replies: await countReplies(ledger, run, turn),
    addresses: options.full ? 'whole' : 'masked',
    ...(timesOf === null ? {} : { timesOf }),
  });
}

/** Replies to the messages of a run by what they mean, as somebody read them or else as they were taken. */
async function countReplies(
  { events }: Pick<Ledger, 'events'>,
  { number }: RunRecord,
  turn: PageOptions['turn'],
): Promise<ReplyCounts> {
  const counts: Record<ReplyMeaning, number> = { 'opt-out': 0, 'opt-in': 0, review: 0, answer: 0 };
  for (const batch of events.replies({ runs: [number] })) {
    for (const { meaning, review } of batch) counts[review?.meaning ?? meaning] += 1;
    await turn?.();
  }
  return counts;
}

async function* inTurns<T>(items: Iterable<T>, turn: NonNullable<PageOptions['turn']>): AsyncGenerator<T> {
  for (const item of items) {
    yield item;
    await turn();
  }
}
