import { SKEW_MS } from '../ledger/events.ts';
import type {
  DeliveryRecord,
  InDoubtRow,
  JoinFacts,
  Judged,
  KeptDelivery,
  Ledger,
  UnreachedRow,
} from '../ledger/ledger.ts';
import { isRedirected, type PendingRow, type RunRecord, type SentMessage } from '../ledger/records.ts';

import type {
  Campaign,
  Delivery,
  DeliveryState,
  Outcome,
  OutcomeState,
  StepOutcome,
  UnmatchedReason,
} from '../model.ts';
import { createReferences } from '../plan/expand.ts';
import { lateAtOf } from '../plan/gate.ts';
import { countFeedback, type Feedback } from '../report/deliveries.ts';
import { foldDelivery, foldStates, hasArrived, hasEnded, LOST } from '../report/fold-delivery.ts';
import type { CameBack } from '../report/tally.ts';
import { totalsOf } from '../report/variants.ts';
import { createRowSet } from '../util/row-set.ts';

type Events = Pick<Ledger['events'], 'answered' | 'hasReferences' | 'hasReports' | 'reportsOf' | 'statesOf'>;

/**
 * Joins delivery reports and replies to the rows of a run. Reports match by handbill's reference or the id of the API,
 * if nothing else in them disagrees (`mismatchOf`); replies by the message that they answer. Null if the run has
 * neither, as most. Else it costs a look-up a message, and another one and a hash if reports name our reference: about
 * 3 us.
 */
export function openDeliveries({ events }: { readonly events: Events }, run: RunRecord) {
  const answered = events.answered(run);
  const hasReports = events.hasReports(run.startedAtMs ?? run.createdAtMs);
  if (run.purgedAtMs === null && answered.size === 0 && !hasReports) return null;
  const unmatched = createUnmatched();
  const asker = hasReports ? createAsker(events, run, unmatched.judged) : null;
  return {
    /** Reports that name a joined message but are about none of them, by reason. */
    unmatched: unmatched.counts,
    /** For all channel steps. Cheapest by some hundred at a time. */
    join(outcomes: readonly Outcome[]): readonly Outcome[] {
      const reportedOf = asker?.(outcomes.map((one) => (isAsked(one, answered) ? one : null))) ?? keptOf;
      return outcomes.map((outcome, i) => {
        const { steps, row, key } = outcome;
        const answer = answered.get(row) ?? null;
        const joined = steps?.map((step, n) => ({ ...step, delivery: reportedOf(i, n, step) }));
        const delivery = answer ?? (joined === undefined ? reportedOf(i, 0, outcome) : joined.at(-1)?.delivery) ?? null;
        if (delivery === null && joined === undefined) return outcome;
        let { error } = outcome;
        // Rarely needed: the error in the deciding report of a message that did not arrive.
        if (error === null && key !== null && delivery !== null && LOST.has(delivery)) {
          error = foldDelivery(events.reportsOf(messageOf(run, createReferences(run), key, outcome)))?.error ?? null;
        }
        return { ...outcome, delivery, error, ...(joined === undefined ? {} : { steps: joined }) };
      });
    },
  };
}

export function messageOf(
  run: Pick<RunRecord, 'environment' | 'inputs'>,
  referenceOf: (key: string, channel: StepOutcome['channel'], resend?: number) => string | null,
  key: string,
  {
    channel,
    messageId,
    to,
    claimedAtMs = null,
    resend,
    postedFrom = run.environment,
  }: Pick<StepOutcome, 'channel' | 'messageId' | 'to' | 'resend' | 'postedFrom'> & {
    readonly claimedAtMs?: number | null;
  },
): SentMessage {
  return {
    environment: postedFrom,
    reference: referenceOf(key, channel, resend),
    messageId,
    to: isRedirected(run) ? null : to,
    claimedAtMs,
  };
}

/** Reports that match an id but no message: if several messages share an id, a report may be about one of them. */
function createUnmatched() {
  const mismatched = new Map<number, UnmatchedReason>();
  const matched = createRowSet();
  const judged: Judged = (report, mismatch) => {
    if (mismatch === null) matched.add(report);
    else mismatched.set(report, mismatch);
  };
  return {
    judged,
    counts(): ReadonlyMap<UnmatchedReason, number> {
      const counts = new Map<UnmatchedReason, number>();
      for (const [report, why] of mismatched) {
        if (!matched.has(report)) counts.set(why, (counts.get(why) ?? 0) + 1);
      }
      return counts;
    },
  };
}

/** Counts reports after `last` that are about no message. Scans the runs, newest first, until all are found. */
export function countUnmatched(
  ledger: Ledger,
  { last, count }: { readonly last: number; readonly count: number },
): number {
  const matched = createRowSet();
  const judged: Judged = (report, mismatch) => {
    if (mismatch === null && report > last) matched.add(report);
  };
  for (const run of ledger.runs().toReversed()) {
    if (matched.size === count) break;
    if (run.purgedAtMs !== null) continue;
    const asker = createAsker(ledger.events, run, judged);
    for (const batch of ledger.outcomes(run)) asker(batch.map((one) => (isAsked(one, new Map()) ? one : null)));
  }
  return count - matched.size;
}

const WENT_WRONG: readonly OutcomeState[] = ['rejected', 'failed', 'in-doubt'];

/** One scan of the list; none where nothing was reported and no message went wrong. */
export function feedbackOf(ledger: Ledger, run: RunRecord): Feedback {
  const deliveries = openDeliveries(ledger, run);
  const counts = countFeedback();
  // The ledger keeps the steps of a finished run, and has no index of these outcomes.
  if (deliveries === null && !ledger.steps(run).some(({ outcome }) => WENT_WRONG.includes(outcome)))
    return counts.all();
  for (const batch of ledger.outcomes(run, deliveries === null ? { outcomes: WENT_WRONG } : {}))
    for (const outcome of deliveries?.join(batch) ?? batch) counts.add(outcome);
  if (deliveries !== null) counts.addUnmatched(deliveries.unmatched());
  return counts.all();
}

/**
 * Delivery reports and replies of a run, for its summary.
 * @param feedback - from `feedbackOf`
 * @param campaign - as it was sent, if available: only then it is known who can get a fallback
 */
export function cameBack(
  ledger: Ledger,
  run: RunRecord,
  { deliveries, unmatched, causes }: Feedback,
  campaign: Campaign | null,
  nowMs: number,
): CameBack {
  const isOver = campaign === null || run.purgedAtMs !== null || run.closedAtMs !== null;
  const due = isOver ? 0 : countUnreached(ledger, run, campaign, nowMs);
  // A purge, or the erasure of a person, deletes replies and leaves a word in the row of each recipient who answered.
  const said = deliveries.filter(({ delivery }) => delivery === 'replied' || delivery === 'opted-out');
  const kept = said.reduce((sum, { count }) => sum + count, 0);
  const recipients = Math.max(ledger.events.answered(run).size, kept);
  let review = 0;
  for (const batch of recipients === 0 ? [] : ledger.events.replies({ runs: [run.number], meanings: ['review'] })) {
    review += batch.length;
  }
  const replies = recipients === 0 ? {} : { replies: { recipients, review } };
  const before = ledger.runBefore(run);
  const steps = before === null ? [] : ledger.steps(before).filter(({ fellBack }) => !fellBack);
  const { accepted, rejected, failed, skipped } = totalsOf(steps);
  // A purge takes the words of the API out of the rows.
  return {
    deliveries,
    unmatched,
    causes: run.purgedAtMs === null ? causes : [],
    ...replies,
    ...(before === null
      ? {}
      : { before: { run: before.id, occurrence: before.occurrence, accepted, rejected, failed, skipped } }),
    ...(due === 0 ? {} : { fallbacksDue: due }),
  };
}

/** The report state of a channel step of an outcome, both by index. */
type ReportedOf = (outcome: number, step: number, said: StepOutcome) => Delivery | null;

/** A purge leaves the state as a word. */
const keptOf: ReportedOf = (_outcome, _step, { delivery = null }) => delivery;

/** Messages that a report can be about: one that was refused, or is sent again, may have been received nevertheless. */
const WAS_SENT: ReadonlySet<string> = new Set(['accepted', 'in-doubt', 'rejected', 'pending']);

/** Messages whose reports are needed: not an answered one, but the channel steps before it. */
function isAsked({ outcome, steps, row, key }: Outcome, answered: ReadonlyMap<number, Delivery>): boolean {
  return key !== null && (steps !== undefined || (WAS_SENT.has(outcome) && !answered.has(row)));
}

/** Looks up the reports of all messages of a batch at once; null for messages whose reports are not needed. */
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
      for (const step of outcome.steps ?? [outcome]) {
        messages.push(messageOf(run, referenceOf, outcome.key ?? '', step));
      }
      return messages.length - (outcome.steps?.length ?? 1);
    });
    const states = events.statesOf(messages, judged);
    return (outcome, step, { delivery: kept = null }) => {
      const start = starts[outcome] ?? -1;
      const message = start < 0 ? undefined : messages[start + step];
      if (message === undefined) return kept;
      const said = foldStates(states[start + step] ?? 0);
      return (said === 'several-ends' ? foldDelivery(events.reportsOf(message))?.state : said) ?? kept;
    };
  };
}

/** Accepted messages by delivery state and reply. Each is that of the last channel step that was begun. */
export type Returned = Readonly<Record<keyof typeof NOTHING_RETURNED, number>>;

export const NOTHING_RETURNED = Object.freeze({
  accepted: 0,
  /** Refused by the API; counted there too. */
  rejected: 0,
  /** Delivered, read or answered. */
  arrived: 0,
  /** As far as is known they will not arrive. The rest of those accepted has no end yet. */
  ended: 0,
  /** Those that arrived and were read, or answered. 0 while no report of the run means "read". */
  read: 0,
  /** Answered, but not to opt out. */
  replied: 0,
  optedOut: 0,
});

/** The message has ended: only a report of its arrival can still change it. */
export function isFinal(delivery: Delivery | null): boolean {
  return delivery !== null && (isArrived(delivery) || hasEnded(delivery as DeliveryState));
}

function isArrived(delivery: Delivery): boolean {
  return delivery === 'replied' || delivery === 'opted-out' || hasArrived(delivery);
}

/**
 * Counts delivery states and replies of a run's messages, in groups: a scan of the list, and two look-ups and a hash
 * for
 * each accepted message. All of it comes from the ledger, so every later call gives the same.
 * @param groupOf - null: in no group
 * @param outcomes - the counted recipients
 */
export function countReturned<G>(
  ledger: Ledger,
  run: RunRecord,
  groupOf: (outcome: Outcome) => G | null,
  outcomes: readonly ('accepted' | 'rejected')[] = ['accepted'],
): ReadonlyMap<G, Returned> {
  const deliveries = openDeliveries(ledger, run);
  const groups = new Map<G, Record<keyof Returned, number>>();
  let hasRead = false;
  for (const batch of ledger.outcomes(run, { outcomes })) {
    for (const outcome of deliveries?.join(batch) ?? batch) {
      const group = groupOf(outcome);
      if (group === null) continue;
      let counts = groups.get(group);
      if (counts === undefined) {
        counts = { ...NOTHING_RETURNED };
        groups.set(group, counts);
      }
      if (outcome.outcome === 'rejected') {
        counts.rejected += 1;
        continue;
      }
      counts.accepted += 1;
      const { delivery = null } = outcome;
      if (delivery === null) continue;
      if (isArrived(delivery)) counts.arrived += 1;
      else if (isFinal(delivery)) counts.ended += 1;
      if (delivery === 'read' || delivery === 'replied' || delivery === 'opted-out') counts.read += 1;
      hasRead ||= delivery === 'read';
      if (delivery === 'replied') counts.replied += 1;
      if (delivery === 'opted-out') counts.optedOut += 1;
    }
  }
  if (!hasRead) for (const counts of groups.values()) counts.read = 0;
  return groups;
}

export function returnedIn(ledger: Ledger, run: RunRecord): Returned {
  return countReturned(ledger, run, () => 'all').get('all') ?? NOTHING_RETURNED;
}

type UnreachedEvents = Pick<Ledger['events'], 'answered' | 'hasUnreached' | 'unreached' | 'reportsOf'>;

const BATCH = 1000;

/**
 * Recipients in list order whose message was accepted, reported not to have reached them, and will be followed by a
 * fallback: as rows of the next step, which begins when it is claimed. Skips those without a fallback in the campaign,
 * those who answered, and those whose latest time has passed.
 */
export function* unreachedRows(
  { events }: { readonly events: UnreachedEvents },
  run: RunRecord,
  campaign: Campaign,
  nowMs: number,
): Generator<PendingRow, void> {
  const { fallbacks } = campaign;
  if (fallbacks.length === 0 || !events.hasUnreached()) return;
  const lateAt = lateAtOf({ campaign }, run.startedAtMs ?? nowMs);
  const answered = events.answered(run);
  const isLeft = ({ row, steps, key }: UnreachedRow) =>
    nowMs < lateAt(key) &&
    !answered.has(row) &&
    fallbacks.some((next) => steps.every((one) => one.channel !== next.channel));
  const steps = fallbacks.map((_, step) => stepRows(events, run, step, isLeft));
  const heads = steps.map((rows) => rows.next());
  for (;;) {
    let first = -1;
    for (const [i, head] of heads.entries()) {
      const least = heads[first];
      if (head.done !== true && (least === undefined || least.done === true || head.value.row < least.value.row))
        first = i;
    }
    const head = heads[first];
    const rows = steps[first];
    if (head === undefined || rows === undefined || head.done === true) return;
    const { row, step, key, steps: before, variant, messages } = head.value;
    const used = before.map(({ channel }) => channel);
    yield { row, step: step + 1, key, attempts: 0, used, facts: { variant }, byReport: messages };
    heads[first] = rows.next();
  }
}

/** A pass over the rows that reports may be about. */
export function countUnreached(...args: Parameters<typeof unreachedRows>): number {
  let count = 0;
  for (const _ of unreachedRows(...args)) count += 1;
  return count;
}

function* stepRows(
  events: UnreachedEvents,
  run: RunRecord,
  step: number,
  isLeft: (row: UnreachedRow) => boolean,
): Generator<UnreachedRow & { readonly messages: readonly SentMessage[] }, void> {
  const referenceOf = createReferences(run);
  for (let after = -1; ; ) {
    const rows = events.unreached(run, step, after, BATCH);
    for (const row of rows) {
      const messages = row.steps.map((one) => messageOf(run, referenceOf, row.key, one));
      if (isUnreached(events, messages) && isLeft(row)) yield { ...row, messages };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return;
    after = last.row;
  }
}

/**
 * A report shows that the channel of the last message does not reach this person, and none that any of the messages
 * arrived nevertheless, or that the person opted out: a report without an address adds no suppression that a claim could
 * find.
 */
export function isUnreached(
  { reportsOf }: Pick<UnreachedEvents, 'reportsOf'>,
  messages: readonly SentMessage[],
): boolean {
  const reports = messages.map(reportsOf);
  if (reports.flat().some(({ state, cause }) => hasArrived(state) || cause === 'opted-out')) return false;
  return (
    reports.at(-1)?.some(({ state, cause }) => state === 'undeliverable' || cause === 'unsupported-channel') === true
  );
}

/** Pending rows and those that reports make due, in list order. A row is one or the other. */
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
      // A recipient accepted during this scan, in a row before its position, waits for the next scan.
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

/**
 * Keeps the result of each message of a run that is being purged, so that its report stays the same: the delivery state
 * of each step, and whether the recipient answered. Each step is a transaction of a thousand rows, and yields how many
 * reports it deleted. Nothing to do without reports and replies.
 */
export function* keepDeliveries(ledger: Ledger, run: RunRecord): Generator<number> {
  // As if it were not purged, so that its reports are read.
  const deliveries = openDeliveries(ledger, { ...run, purgedAtMs: null });
  if (deliveries === null) return;
  const referenceOf = createReferences(run);
  for (const batch of ledger.outcomes(run)) {
    const kept = deliveries.join(batch).flatMap((outcome) => toKeep(outcome, referenceOf));
    if (kept.length > 0) yield ledger.purge.keepDeliveries(run, kept);
  }
}

/** The kept results of an outcome that was read with its reports. */
export function toKeep(outcome: Outcome, referenceOf: ReturnType<typeof createReferences>): readonly KeptDelivery[] {
  const { row, key, steps } = outcome;
  if (key === null) return [];
  const all = steps ?? [outcome];
  return all.map(({ channel, messageId, delivery = null, resend, postedFrom }, step) => {
    // The person answered the last of them, as far as a report shows it.
    const shown = step === all.length - 1 ? (outcome.delivery ?? null) : delivery;
    const ids = { reference: referenceOf(key, channel, resend), messageId };
    return { row, step, delivery: shown, ...ids, ...(postedFrom === undefined ? {} : { postedFrom }) };
  });
}

type EvidenceEvents = Pick<
  Ledger['events'],
  'inDoubt' | 'quoting' | 'hasMessage' | 'hasOther' | 'reportsOf' | 'resolve'
>;

/** Networks give up on a message after three days at most. */
const LONGEST_MS = 72 * 3_600_000;

/**
 * Marks recipients in doubt as accepted if a delivery report proves it (failures.md, K2). The report names handbill's
 * reference, or the id of the API, and nothing in it disagrees (`mismatchOf`). Or it quotes the text, to that address,
 * at that time, and can mean no other message of handbill. A recipient that waited for a second message does not get
 * it. Needs no lock. Returns how many were resolved.
 */
export function resolveByReports({ events }: { readonly events: EvidenceEvents }, nowMs: number): number {
  const references = new Map<number, ReturnType<typeof createReferences>>();
  let resolved = 0;
  // Read as a whole first: resolved rows leave the order in which they are read.
  for (const row of [...events.inDoubt()].flat()) {
    const referenceOf = references.get(row.run) ?? createReferences(row.identity);
    references.set(row.run, referenceOf);
    const own = events.reportsOf({
      environment: row.postedFrom ?? row.identity.environment,
      reference: referenceOf(row.key, row.channel, row.resend),
      messageId: row.messageId,
      to: row.isRedirected ? null : row.to,
      claimedAtMs: row.sinceMs,
    });
    const report = own[0] ?? quoted(events, row);
    if (report === null) continue;
    const messageId = own.find((one) => one.messageId !== null)?.messageId ?? report.messageId;
    if (events.resolve(row, { messageId, note: `reported ${report.state}`, nowMs })) resolved += 1;
  }
  return resolved;
}

/** The one report that quotes this message, if all of them are about one message that belongs to no other recipient. */
function quoted(events: EvidenceEvents, row: InDoubtRow): DeliveryRecord | null {
  if (row.sinceMs === null) return null;
  const reports = events.quoting(row, row.sinceMs - SKEW_MS, row.sinceMs + LONGEST_MS);
  const [first] = reports;
  if (first === undefined || first.messageId === null) return null;
  if (reports.some(({ messageId }) => messageId !== first.messageId)) return null;
  if (events.hasMessage(row.postedFrom ?? row.identity.environment, first.messageId)) return null;
  // A message from long before may be reported only now.
  return events.hasOther(row, row.sinceMs - SKEW_MS - LONGEST_MS, row.sinceMs + LONGEST_MS) ? null : first;
}

/** Finds the messages of replies that came in since the last call; costs nothing if there are none. */
export function joinReplies({ events }: Ledger, facts: Omit<JoinFacts, 'referencesOf'>): void {
  if (events.hasUnjoined()) for (const _ of events.joinReplies({ ...facts, referencesOf: createReferences }));
}
