import { SKEW_MS } from '../ledger/events.ts';
import type { DeliveryRecord, Ledger, UnsettledRow } from '../ledger/ledger.ts';
import { createReferences } from '../plan/reference.ts';
import { listedForm } from '../suppression/form.ts';

type Events = Pick<Ledger['events'], 'unsettled' | 'quoting' | 'hasMessage' | 'hasOther' | 'reportsOf' | 'settle'>;

/** Networks give up on a message after three days at most. */
const LONGEST_MS = 72 * 3_600_000;

/**
 * Marks recipients in doubt as accepted if a delivery report proves it (failures.md, K2). The report names handbill's
 * reference, or the id of the API, and nothing in it disagrees (`mismatchOf`). Or it quotes the text, to that address, at
 * that time, and no other message of handbill can be meant. A recipient that waited for a second message does not get
 * it. Needs no lock. Returns how many were resolved.
 */
export function settleByReports({ events }: { readonly events: Events }, nowMs: number): number {
  const references = new Map<number, ReturnType<typeof createReferences>>();
  let settled = 0;
  // Taken as a whole first: what is settled leaves the order in which they are read.
  for (const row of [...events.unsettled()].flat()) {
    const referenceOf = references.get(row.run) ?? createReferences(row.identity);
    references.set(row.run, referenceOf);
    const own = events.reportsOf({
      environment: row.identity.environment,
      reference: referenceOf(row.key, row.channel, row.resend),
      messageId: row.messageId,
      to: row.to,
      claimedAtMs: row.sinceMs,
    });
    const report = own[0] ?? quoted(events, row);
    if (report === null) continue;
    const messageId = own.find((one) => one.messageId !== null)?.messageId ?? report.messageId;
    if (events.settle(row, { messageId, note: `reported ${report.state}`, nowMs })) settled += 1;
  }
  return settled;
}

/** The one report that quotes this message, if all of them are about one message that belongs to no other recipient. */
function quoted(events: Events, row: UnsettledRow): DeliveryRecord | null {
  if (row.sinceMs === null) return null;
  const reports = events.quoting(row, row.sinceMs - SKEW_MS, row.sinceMs + LONGEST_MS);
  const [first] = reports;
  if (first === undefined || first.messageId === null) return null;
  if (reports.some(({ messageId }) => messageId !== first.messageId)) return null;
  if (events.hasMessage(row.identity.environment, first.messageId)) return null;
  // One that was sent long before may be reported only now.
  return events.hasOther(row, row.sinceMs - SKEW_MS - LONGEST_MS, row.sinceMs + LONGEST_MS) ? null : first;
}

interface JoinOptions {
  /** As handbill.yaml says: a word of opting in takes back an opt-out that was a reply. */
  readonly startLifts: boolean;
  readonly now: () => number;
}

/** Finds the messages that replies answer which have come in since the last time; costs nothing where none have. */
export function joinReplies({ events }: Pick<Ledger, 'events'>, { startLifts, now }: JoinOptions): void {
  if (!events.hasUnjoined()) return;
  const steps = events.joinReplies({ startLifts, now, listed: listedForm, referencesOf: createReferences });
  for (const _ of steps);
}
