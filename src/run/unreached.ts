import { foldDelivery, hasArrived } from '../delivery/fold.ts';
import type { DeliveryRecord, UnreachedRow } from '../ledger/event-records.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { PendingRow, RunRecord, SentMessage } from '../ledger/records.ts';
import type { Campaign } from '../model.ts';
import { createReferences } from '../plan/reference.ts';

type Events = Pick<Ledger['events'], 'hasUnreached' | 'unreached' | 'reportsOf'>;

const BATCH = 1000;

/**
 * Recipients in list order whose message was accepted, reported not to have reached them, and is to be followed by a
 * fallback: as rows of the next leg, which begins when it is claimed. None where the campaign has no fallback for them.
 */
export function* unreachedRows(
  { events }: { readonly events: Events },
  run: RunRecord,
  { fallbacks }: Pick<Campaign, 'fallbacks'>,
): Generator<PendingRow, void> {
  if (fallbacks.length === 0 || !events.hasUnreached()) return;
  const isLeft = ({ used }: UnreachedRow) => fallbacks.some(({ channel }) => !used.includes(channel));
  const legs = fallbacks.map((_, leg) => legRows(events, run, leg, isLeft));
  const heads = legs.map((rows) => rows.next());
  for (;;) {
    let first = -1;
    for (const [i, head] of heads.entries()) {
      const least = heads[first];
      if (head.done !== true && (least === undefined || least.done === true || head.value.row < least.value.row))
        first = i;
    }
    const head = heads[first];
    const rows = legs[first];
    if (head === undefined || rows === undefined || head.done === true) return;
    const { row, leg, key, used, message } = head.value;
    yield { row, leg: leg + 1, key, attempts: 0, used, byReport: message };
    heads[first] = rows.next();
  }
}

/** How many there are: a pass over the rows that reports may be about. */
export function countUnreached(...args: Parameters<typeof unreachedRows>): number {
  let count = 0;
  for (const _ of unreachedRows(...args)) count += 1;
  return count;
}

function* legRows(
  events: Events,
  run: RunRecord,
  leg: number,
  isLeft: (row: UnreachedRow) => boolean,
): Generator<UnreachedRow & { readonly message: SentMessage }, void> {
  const referenceOf = createReferences(run);
  for (let after = -1; ; ) {
    const rows = events.unreached(run, leg, after, BATCH);
    for (const row of rows) {
      const channel = row.used.at(-1) ?? run.channel;
      const { messageId, to, claimedAtMs } = row;
      const reference = referenceOf(row.key, channel, row.resend);
      const message = { environment: run.environment, reference, messageId, to, claimedAtMs };
      if (isUnreached(events.reportsOf(message)) && isLeft(row)) yield { ...row, message };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return;
    after = last.row;
  }
}

/**
 * A report says that the channel does not reach this person, and none that the message arrived all the same, or that
 * the person opted out: a report that names no address suppresses nobody, so that no claim would know.
 */
export function isUnreached(reports: readonly DeliveryRecord[]): boolean {
  const standing = foldDelivery(reports);
  if (standing === null || hasArrived(standing.state)) return false;
  if (reports.some(({ cause }) => cause === 'opted-out')) return false;
  return reports.some(({ state, cause }) => state === 'undeliverable' || cause === 'unsupported-channel');
}

/** Rows that are pending and those that reports make due, in list order. A row is one or the other. */
export function withUnreached(
  pending: (afterRow: number, limit: number) => readonly PendingRow[],
  unreached: Iterator<PendingRow, void>,
): (afterRow: number, limit: number) => readonly PendingRow[] {
  let head = unreached.next();
  return (afterRow, limit) => {
    const rows = pending(afterRow, limit);
    if (head.done === true) return rows;
    const merged: PendingRow[] = [];
    let at = 0;
    while (merged.length < limit) {
      const next = rows[at];
      // Whoever was accepted while this pass went by comes behind it, and waits for the next one.
      while (head.done !== true && head.value.row <= afterRow) head = unreached.next();
      if (head.done !== true && (next === undefined || head.value.row < next.row)) {
        merged.push(head.value);
        head = unreached.next();
      } else if (next === undefined) break;
      else {
        merged.push(next);
        at += 1;
      }
    }
    return merged;
  };
}
