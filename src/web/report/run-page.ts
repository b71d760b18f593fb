import type { DeliveryRecord, Ledger } from '../../ledger/ledger.ts';
import type { RunRecord } from '../../ledger/records.ts';
import type { Delivery, Outcome, ReplyMeaning } from '../../model.ts';
import { countedRows, isChosen, type RowFilter, type Summary } from '../../operations/report.ts';
import { createReferences } from '../../plan/expand.ts';
import { LOST } from '../../report/fold-delivery.ts';
import { messageOf } from '../../send/deliveries.ts';
import { type Meter, metered } from '../../util/long-work.ts';
import { type ReportPageOptions, reportPage } from './report.ts';
import type { ReturnTimes } from './returned.ts';

interface PageOptions extends RowFilter, Pick<ReportPageOptions, 'nowMs' | 'turn'> {
  readonly full?: boolean;
  readonly meter?: Meter;
}

/** The page of a run, with one pass over its list. Counts recipients outside the filter, but does not list them. */
export async function* runPage(
  ledger: Ledger,
  found: RunRecord,
  options: PageOptions,
  { plain, reportOf, options: shown }: Pick<Summary, 'options' | 'plain' | 'reportOf'>,
): AsyncGenerator<string> {
  // Held until the list was counted: a reader of the page may be slow.
  using moment = new DisposableStack();
  moment.use(ledger.hold());
  const run = ledger.findRun(found) ?? found;
  const { rows: all, counts } = countedRows(ledger, run, shown.referenceOf);
  const { nowMs, turn, meter } = options;
  const replies = await readReplies(ledger, run, turn);
  // The events of a purged run are deleted.
  const timesOf = run.purgedAtMs === null ? { timesOf: returnTimes(ledger, run, replies.times) } : {};
  const rows = meter === undefined ? all : metered(all, meter);
  yield* reportPage(plain(), rows, {
    ...shown,
    nowMs,
    ...(turn && { turn }),
    completed() {
      const report = reportOf(counts());
      moment.dispose();
      return report;
    },
    isListed: (outcome) => isChosen(outcome, options),
    replies: replies.counts,
    addresses: options.full ? 'whole' : 'masked',
    ...timesOf,
  });
}

/**
 * Replies to the messages of a run by meaning, that of the reviewer or else the one read from the text, and when the
 * first reply to each row came.
 */
async function readReplies({ events }: Ledger, { number }: RunRecord, turn: PageOptions['turn']) {
  const counts: Record<ReplyMeaning, number> = { 'opt-out': 0, 'opt-in': 0, review: 0, answer: 0 };
  const times = new Map<number, number>();
  for (const batch of events.replies({ runs: [number] })) {
    for (const { meaning, review, answers, atMs, receivedAtMs } of batch) {
      counts[review?.meaning ?? meaning] += 1;
      const at = atMs ?? receivedAtMs;
      if (answers !== null) times.set(answers.row, Math.min(at, times.get(answers.row) ?? at));
    }
    await turn?.();
  }
  return { counts, times };
}

/**
 * The times of the reports and replies about a recipient, as written in them, else of their arrival. A row costs two
 * look-ups, about 4 us, and a reply some bytes of memory.
 */
function returnTimes({ events }: Ledger, run: RunRecord, replied: ReadonlyMap<number, number>) {
  const referenceOf = events.hasReferences() ? createReferences(run) : () => null;
  return (outcome: Outcome): ReturnTimes => {
    const { row, key, delivery = null } = outcome;
    if (delivery === null || key === null) return NEVER;
    const repliedMs = ANSWERS.has(delivery) ? (replied.get(row) ?? null) : null;
    const reports = events.reportsOf(messageOf(run, referenceOf, key, outcome));
    if (LOST.has(delivery)) return { ...NEVER, 'did not arrive': firstOf(reports, ({ state }) => state === delivery) };
    if (!ARRIVED.has(delivery) && !ANSWERS.has(delivery)) return NEVER;
    const readMs = firstOf(reports, ({ state }) => state === 'read') ?? repliedMs;
    const arrivedMs = firstOf(reports, ({ state }) => ARRIVED.has(state)) ?? repliedMs;
    return {
      ...NEVER,
      arrived: arrivedMs,
      read: delivery === 'delivered' ? null : (readMs ?? arrivedMs),
      replied: repliedMs,
    };
  };
}

const NEVER: ReturnTimes = { arrived: null, read: null, replied: null, 'did not arrive': null };
const ARRIVED: ReadonlySet<Delivery> = new Set(['delivered', 'read']);
const ANSWERS: ReadonlySet<Delivery> = new Set(['replied', 'opted-out']);

function firstOf(reports: readonly DeliveryRecord[], isMeant: (report: DeliveryRecord) => boolean): number | null {
  const times = reports.filter(isMeant).map(({ atMs, receivedAtMs }) => atMs ?? receivedAtMs);
  return times.length === 0 ? null : Math.min(...times);
}
