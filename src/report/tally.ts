import {
  type Halt,
  OUTCOMES,
  type OutcomeState,
  type Report,
  type RequestFigures,
  type RunState,
  type SmsFacts,
  type Totals,
} from '../model.ts';
import { unitsOf } from '../util/money.ts';

/** Recipients that share an outcome, a reason and an encoding: what the ledger can count in one query. */
export interface Count {
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  /** null for whatever is not an SMS with a text of ours. */
  readonly encoding: SmsFacts['encoding'] | null;
  readonly count: number;
  /** SMS parts of all of them together. */
  readonly parts: number;
  /** Price of all of them together in micro-units; null where no price is known. */
  readonly costMicros: number | null;
}

/** What a report says about the run itself. */
export type RunFacts = Pick<
  Report,
  'run' | 'campaign' | 'environment' | 'occurrence' | 'ledger' | 'startedAt' | 'finishedAt'
> & { readonly state: RunState; readonly halt: Halt | null };

/** Reports a run: `deliveries` counts delivery states, where reports of them came in. */
export function buildReport(
  run: RunFacts,
  counts: readonly Count[],
  requests: RequestFigures,
  deliveries: Report['deliveries'] = {},
): Report {
  return {
    version: 1,
    run: run.run,
    campaign: run.campaign,
    environment: run.environment,
    occurrence: run.occurrence,
    state: run.state,
    halt: run.halt,
    ledger: withoutPassword(run.ledger),
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    totals: totalsOf(counts),
    reasons: reasonsOf(counts),
    requests,
    sms: smsOf(counts),
    deliveries,
  };
}

/** Recipients by outcome; they add up to `recipients`. */
export function totalsOf(counts: readonly Count[]): Totals {
  const of = (outcome: OutcomeState) => sum(counts, (count) => (count.outcome === outcome ? count.count : 0));
  return {
    recipients: sum(counts, (count) => count.count),
    accepted: of('accepted'),
    rejected: of('rejected'),
    failed: of('failed'),
    skipped: of('skipped'),
    deferred: of('deferred'),
    inDoubt: of('in-doubt'),
    pending: of('pending'),
  };
}

/** Recipients by outcome and reason, the most frequent reason first; outcomes are named as in `totals`. */
export function reasonsOf(counts: readonly Count[]): Report['reasons'] {
  const byOutcome: [string, Readonly<Record<string, number>>][] = [];
  for (const outcome of OUTCOMES) {
    const byReason = new Map<string, number>();
    for (const { outcome: own, reason, count } of counts) {
      if (own === outcome && reason !== null && count > 0) byReason.set(reason, (byReason.get(reason) ?? 0) + count);
    }
    if (byReason.size === 0) continue;
    const ordered = [...byReason].sort(([a, most], [b, more]) => more - most || (a < b ? -1 : 1));
    byOutcome.push([totalsKey(outcome), Object.fromEntries(ordered)]);
  }
  return Object.fromEntries(byOutcome);
}

/**
 * Parts, messages by encoding and the price of what was probably sent: accepted or in doubt. The price is the sum of
 * the prices that are known, in units of the currency; null when none is.
 */
export function smsOf(counts: readonly Count[]): Report['sms'] {
  const sent = counts.filter((count) => count.outcome === 'accepted' || count.outcome === 'in-doubt');
  const encodings: Partial<Record<SmsFacts['encoding'], number>> = {};
  for (const encoding of ['GSM-7', 'UCS-2'] as const) {
    const messages = sum(sent, (count) => (count.encoding === encoding ? count.count : 0));
    if (messages > 0) encodings[encoding] = messages;
  }
  const priced = sent.filter((count) => count.costMicros !== null);
  return {
    parts: sum(sent, (count) => count.parts),
    encodings,
    cost: priced.length === 0 ? null : unitsOf(sum(priced, (count) => count.costMicros ?? 0)),
  };
}

/** The name that an outcome has in `totals` and `reasons`. */
export function totalsKey(outcome: OutcomeState): Exclude<keyof Totals, 'recipients'> {
  return outcome === 'in-doubt' ? 'inDoubt' : outcome;
}

/** The address of a shared ledger may hold a password; reports are passed on. */
function withoutPassword(ledger: string): string {
  return ledger.replace(/^(postgres(?:ql)?:\/\/[^/?#@:]*):[^/?#]*@/, '$1:***@');
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
