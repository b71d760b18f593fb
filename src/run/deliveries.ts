import { foldDelivery, foldStates, hasEnded } from '../delivery/fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord, SentMessage } from '../ledger/records.ts';
import type { Judged } from '../ledger/said-states.ts';
import {
  type Campaign,
  DELIVERY_STATES,
  type Delivery,
  type LegOutcome,
  type Outcome,
  type UnmatchedReason,
} from '../model.ts';
import { createReferences } from '../plan/reference.ts';
import { countDelivery, type DeliveryCount } from '../report/deliveries.ts';
import type { CameBack } from '../report/tally.ts';
import { createRowSet } from '../util/row-set.ts';
import { countUnreached } from './unreached.ts';

/** What came back about the messages of a run. */
export interface Deliveries {
  /** Outcomes with what came back about each, legs included. Cheapest by some hundred at a time. */
  join(outcomes: readonly Outcome[]): readonly Outcome[];
  /** Reports that name a message of those that were joined, and are about none of them: how many, by why. */
  unmatched(): ReadonlyMap<UnmatchedReason, number>;
}

type Events = Pick<Ledger['events'], 'answered' | 'hasReferences' | 'hasReports' | 'reportsOf' | 'statesOf'>;

/**
 * Joins what came back to the rows of a run: reports by our reference and by the id of the API, where nothing that they
 * say disagrees (`mismatchOf`), and replies by the message that they were found to answer. Null where nothing came back at all, which is most runs: then a report costs nothing.
 * Else it costs a look-up a message, and another one and a hash where reports name our reference: about 3 us.
 */
export function openDeliveries({ events }: { readonly events: Events }, run: RunRecord): Deliveries | null {
  const answered = events.answered(run);
  const hasReports = events.hasReports(run.startedAtMs ?? run.createdAtMs);
  if (run.purgedAtMs === null && answered.size === 0 && !hasReports) return null;
  const unmatched = createUnmatched();
  const asker = hasReports ? createAsker(events, run, unmatched.judged) : null;
  return {
    unmatched: unmatched.counts,
    join(outcomes) {
      const reportedOf = asker?.(outcomes.map((one) => (isAsked(one, answered) ? one : null))) ?? keptOf;
      return outcomes.map((outcome, i) => {
        const { legs, row } = outcome;
        const answer = answered.get(row) ?? null;
        if (legs !== undefined) {
          const joined = legs.map((leg, n) => ({ ...leg, delivery: reportedOf(i, n, leg) }));
          return { ...outcome, delivery: answer ?? joined.at(-1)?.delivery ?? null, legs: joined };
        }
        const delivery = answer ?? reportedOf(i, 0, outcome);
        if (delivery === null) return outcome;
        const error = outcome.error ?? (ENDS.has(delivery) ? errorOf(events, run, outcome) : null);
        return { ...outcome, delivery, error };
      });
    },
  };
}

const ENDS: ReadonlySet<string> = new Set(DELIVERY_STATES.filter(hasEnded));

/** What the deciding report says of a message that did not arrive: hardly any is asked about. */
function errorOf({ reportsOf }: Pick<Events, 'reportsOf'>, run: RunRecord, outcome: Outcome): string | null {
  const { key } = outcome;
  if (key === null) return null;
  return foldDelivery(reportsOf(messageOf(run, createReferences(run), key, outcome)))?.error ?? null;
}

/** A message of a run, as reports about it are found and judged. */
export function messageOf(
  { environment }: Pick<RunRecord, 'environment'>,
  referenceOf: (key: string, channel: LegOutcome['channel'], resend?: number) => string | null,
  key: string,
  {
    channel,
    messageId,
    to,
    claimedAtMs,
    resend,
  }: Pick<LegOutcome, 'channel' | 'messageId' | 'to' | 'claimedAtMs' | 'resend'>,
): SentMessage {
  return { environment, reference: referenceOf(key, channel, resend), messageId, to, claimedAtMs: claimedAtMs ?? null };
}

/** Reports that were found by an id and are about nobody: where several share an id, one may be about one of them. */
function createUnmatched(): { readonly judged: Judged; readonly counts: Deliveries['unmatched'] } {
  const mismatched = new Map<number, UnmatchedReason>();
  const matched = createRowSet();
  return {
    judged(report, mismatch) {
      if (mismatch === null) matched.add(report);
      else mismatched.set(report, mismatch);
    },
    counts() {
      const counts = new Map<UnmatchedReason, number>();
      for (const [report, why] of mismatched) {
        if (!matched.has(report)) counts.set(why, (counts.get(why) ?? 0) + 1);
      }
      return counts;
    },
  };
}

/** Recipients by variant and by what came back. One pass over the list. */
export function countDeliveries(ledger: Pick<Ledger, 'events' | 'outcomes'>, run: RunRecord): readonly DeliveryCount[] {
  const deliveries = openDeliveries(ledger, run);
  if (deliveries === null) return [];
  const counts = countDelivery();
  for (const batch of ledger.outcomes(run)) for (const outcome of deliveries.join(batch)) counts.add(outcome);
  counts.addUnmatched(deliveries.unmatched());
  return counts.all();
}

/**
 * What came back about the messages of a run, for its summary.
 *
 * @param deliveries - as `countDeliveries` gives them
 * @param campaign - as it was sent, where it is at hand: only then it is known who can get a fallback
 */
export function cameBack(
  ledger: Pick<Ledger, 'events'>,
  run: RunRecord,
  deliveries: readonly DeliveryCount[],
  campaign: Pick<Campaign, 'fallbacks'> | null,
): CameBack {
  const due = campaign === null || run.purgedAtMs !== null ? 0 : countUnreached(ledger, run, campaign);
  // A purge takes the replies away, and leaves the word with whoever answered.
  const said = deliveries.filter(({ delivery }) => delivery === 'replied' || delivery === 'opted-out');
  const kept = run.purgedAtMs === null ? 0 : said.reduce((sum, { count }) => sum + count, 0);
  const recipients = Math.max(ledger.events.answered(run).size, kept);
  const replies = recipients === 0 ? {} : { replies: { recipients, review: countReview(ledger, run) } };
  return { deliveries, ...replies, ...(due === 0 ? {} : { fallbacksDue: due }) };
}

/** Replies to a run that somebody has to read. */
function countReview({ events }: Pick<Ledger, 'events'>, { number }: RunRecord): number {
  let count = 0;
  for (const batch of events.replies({ runs: [number], meanings: ['review'] })) count += batch.length;
  return count;
}

/** What reports say of a leg of an outcome, both by their place. */
type ReportedOf = (outcome: number, leg: number, said: LegOutcome) => Delivery | null;

/** What a purge takes away it leaves as a word. */
const keptOf: ReportedOf = (_outcome, _leg, { delivery = null }) => delivery;

/**
 * Of whom a report can come: a message that was refused, or is to be sent again, may have been received all the same.
 */
const WAS_SENT: ReadonlySet<string> = new Set(['accepted', 'in-doubt', 'rejected', 'pending']);

/** Whose reports are looked for: of somebody who answered they say nothing more, but of legs before that. */
function isAsked({ outcome, legs, row, key }: Outcome, answered: ReadonlyMap<number, Delivery>): boolean {
  return key !== null && (legs !== undefined || (WAS_SENT.has(outcome) && !answered.has(row)));
}

/** Looks for the reports of all messages of a batch at once; null stands for those of whom nothing is asked. */
function createAsker(
  events: Events,
  run: RunRecord,
  judged: Judged,
): (outcomes: readonly (Outcome | null)[]) => ReportedOf {
  const referenceOf = events.hasReferences() ? createReferences(run) : () => null;
  return (outcomes) => {
    const messages: SentMessage[] = [];
    const starts = outcomes.map((outcome) => {
      if (outcome === null) return -1;
      for (const leg of outcome.legs ?? [outcome]) {
        messages.push(messageOf(run, referenceOf, outcome.key ?? '', leg));
      }
      return messages.length - (outcome.legs?.length ?? 1);
    });
    const states = events.statesOf(messages, judged);
    return (outcome, leg, { delivery: kept = null }) => {
      const start = starts[outcome] ?? -1;
      const message = start < 0 ? undefined : messages[start + leg];
      if (message === undefined) return kept;
      const said = foldStates(states[start + leg] ?? 0);
      return (said === 'several-ends' ? foldDelivery(events.reportsOf(message))?.state : said) ?? kept;
    };
  };
}
