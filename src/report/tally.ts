import {
  type Campaign,
  type Channel,
  type Halt,
  OUTCOMES,
  type OutcomeState,
  type Report,
  type RequestFigures,
  type RunState,
  type Totals,
} from '../model.ts';
import { shownLedger } from '../util/ledger-address.ts';
import { type Count, smsOf, sum } from './count.ts';
import { type DeliveryCount, deliveriesOf, unmatchedOf, variantDeliveries } from './deliveries.ts';
import { legTotals } from './legs.ts';
import { compareVariants } from './variants.ts';

/** What a report says about the run itself. */
export type RunFacts = Pick<
  Report,
  | 'run'
  | 'campaign'
  | 'environment'
  | 'occurrence'
  | 'ledger'
  | 'startedAt'
  | 'finishedAt'
  | 'purgedAt'
  | 'opensAt'
  | 'changed'
  | 'winner'
  | 'winnerAt'
> & { readonly state: RunState; readonly halt: Halt | null };

/** What a report can say more, where it is known. */
export interface Known {
  readonly cameBack?: CameBack | null;
  /** The campaign as it was sent: the order of its variants and steps, and those without recipients. */
  readonly campaign?: CampaignShape | null;
}

/** What came back about the messages of a run. */
export interface CameBack extends Pick<Report, 'replies' | 'fallbacksDue'> {
  readonly deliveries: readonly DeliveryCount[];
}

export interface CampaignShape extends Pick<Campaign, 'channel'> {
  readonly variants: readonly { readonly name: string }[];
  readonly fallbacks: readonly { readonly channel: Channel }[];
}

/** Reports a run. `legs` counts all legs; of a recipient with several, what became of the last one counts. */
export function buildReport(
  run: RunFacts,
  legs: readonly Count[],
  requests: RequestFigures,
  { cameBack = null, campaign = null }: Known = {},
): Report {
  const counts = legs.filter(({ fellBack }) => !fellBack);
  return {
    version: 1,
    run: run.run,
    campaign: run.campaign,
    environment: run.environment,
    occurrence: run.occurrence,
    state: run.state,
    halt: run.halt,
    ledger: shownLedger(run.ledger),
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    ...(run.purgedAt === undefined ? {} : { purgedAt: run.purgedAt }),
    ...(run.opensAt === undefined ? {} : { opensAt: run.opensAt }),
    totals: totalsOf(counts),
    reasons: reasonsOf(counts),
    requests,
    sms: smsOf(counts),
    deliveries: deliveriesOf(cameBack?.deliveries ?? []),
    ...unmatchedIn(cameBack?.deliveries ?? []),
    ...(cameBack?.replies === undefined ? {} : { replies: cameBack.replies }),
    ...(cameBack?.fallbacksDue === undefined ? {} : { fallbacksDue: cameBack.fallbacksDue }),
    ...(run.changed === undefined ? {} : { changed: run.changed }),
    ...legsOf(legs, campaign),
    ...variantsOf(counts, campaign, cameBack?.deliveries ?? []),
    ...(run.winner === undefined ? {} : { winner: run.winner }),
    ...(run.winnerAt === undefined ? {} : { winnerAt: run.winnerAt }),
  };
}

function unmatchedIn(counts: readonly DeliveryCount[]): Pick<Report, 'unmatchedReports'> {
  const unmatched = unmatchedOf(counts);
  return unmatched === null ? {} : { unmatchedReports: unmatched };
}

function legsOf(legs: readonly Count[], campaign: CampaignShape | null): Pick<Report, 'legs'> {
  const { channel, fallbacks = [] } = campaign ?? {};
  if (fallbacks.length === 0 && legs.every(({ leg, fellBack }) => leg === 0 && !fellBack)) return {};
  const channels = channel === undefined ? [] : [channel, ...fallbacks.map((fallback) => fallback.channel)];
  return { legs: legTotals(legs, channels) };
}

function variantsOf(
  counts: readonly Count[],
  campaign: CampaignShape | null,
  deliveries: readonly DeliveryCount[],
): Pick<Report, 'variants' | 'significance'> {
  const names = campaign?.variants.map(({ name }) => name) ?? [];
  if (names.length === 0 && counts.every(({ variant }) => variant === null)) return {};
  const compared = compareVariants(counts, names);
  if (deliveries.length === 0) return compared;
  const variants = compared.variants.map((one) => ({ ...one, ...variantDeliveries(deliveries, one.name) }));
  return { ...compared, variants };
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

/** The name that an outcome has in `totals` and `reasons`. */
export function totalsKey(outcome: OutcomeState): Exclude<keyof Totals, 'recipients'> {
  return outcome === 'in-doubt' ? 'inDoubt' : outcome;
}
