import type { DeliveryRecord, Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Delivery, Outcome } from '../model.ts';
import type { ReturnTimes } from '../pages/report-returned.ts';
import { createReferences } from '../plan/reference.ts';
import { messageOf } from '../run/deliveries.ts';

/**
 * Says when something came back about somebody, by what reports and replies say, else by when they came in. Null for a
 * run that was purged, whose words stayed and whose events did not. A row costs two look-ups, about 4 us, and a reply
 * some bytes of memory.
 */
export function returnTimes(
  { events }: Pick<Ledger, 'events'>,
  run: RunRecord,
): ((outcome: Outcome) => ReturnTimes) | null {
  if (run.purgedAtMs !== null) return null;
  const replied = replyTimes(events, run);
  const referenceOf = events.hasReferences() ? createReferences(run) : () => null;
  return (outcome) => {
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
const LOST: ReadonlySet<Delivery> = new Set(['expired', 'undeliverable', 'failed', 'rejected']);

function firstOf(reports: readonly DeliveryRecord[], isMeant: (report: DeliveryRecord) => boolean): number | null {
  let first: number | null = null;
  for (const report of reports) {
    const atMs = report.atMs ?? report.receivedAtMs;
    if (isMeant(report) && (first === null || atMs < first)) first = atMs;
  }
  return first;
}

/** When each row was answered first. */
function replyTimes(events: Ledger['events'], run: RunRecord): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  for (const batch of events.replies({ runs: [run.number] })) {
    for (const { answers, atMs, receivedAtMs } of batch) {
      if (answers === null) continue;
      const at = atMs ?? receivedAtMs;
      times.set(answers.row, Math.min(at, times.get(answers.row) ?? at));
    }
  }
  return times;
}
