import {
  type Campaign,
  type Channel,
  type Halt,
  type LegTotals,
  OUTCOMES,
  type OutcomeState,
  type Report,
  type RequestFigures,
  type RunState,
  type SmsFacts,
  type Totals,
} from '../model.ts';
import { shownLedger } from '../util/ledger-address.ts';
import { unitsOf } from '../util/money.ts';
import { type DeliveryCount, deliveriesOf, unmatchedOf, variantDeliveries } from './deliveries.ts';
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
interface Known {
  readonly cameBack?: CameBack | null;
  /** The campaign as it was sent: the order of its variants and steps, and those without recipients. */
  readonly campaign?: CampaignShape | null;
}

/** Delivery reports and replies for the messages of a run. */
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
function reasonsOf(counts: readonly Count[]): Report['reasons'] {
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

/** Recipients of one leg that share all of this: what the ledger can count in one query. */
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
  readonly variant: string | null;
  readonly channel: Channel;
  /** 0 for the campaign's own message, then its fallbacks. */
  readonly leg: number;
  /** They could not receive this leg, and are counted again with the next one. */
  readonly fellBack: boolean;
}

/**
 * Parts, messages by encoding and the price of what was probably sent: accepted or in doubt, on any leg (one that fell
 * back was refused, and costs nothing). The price is the sum of the prices that are known, in units of the currency;
 * null when none is.
 */
function smsOf(counts: readonly Count[]): Report['sms'] {
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

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/**
 * What became of the messages on each channel; a campaign has each at most once.
 *
 * @param channels - the campaign's own and those of its fallbacks, in order, where they are known; others follow
 */
export function legTotals(counts: readonly Count[], channels: readonly Channel[] = []): readonly LegTotals[] {
  const inOrder = counts.toSorted((a, b) => a.leg - b.leg || (a.channel < b.channel ? -1 : 1));
  const all = new Set([...channels, ...inOrder.map(({ channel }) => channel)]);
  return [...all].map((channel) =>
    totalsOfLeg(
      channel,
      counts.filter((count) => count.channel === channel),
    ),
  );
}

function totalsOfLeg(channel: Channel, counts: readonly Count[]): LegTotals {
  const of = (wanted: OutcomeState) =>
    sum(counts, ({ outcome, fellBack, count }) => (outcome === wanted && !fellBack ? count : 0));
  const attempted = {
    accepted: of('accepted'),
    rejected: of('rejected'),
    inDoubt: of('in-doubt'),
    failed: of('failed'),
    fellBack: sum(counts, ({ fellBack, count }) => (fellBack ? count : 0)),
  };
  const { parts, cost } = smsOf(counts);
  return {
    channel,
    attempted: sum(Object.values(attempted), (count) => count),
    ...attempted,
    pending: of('pending'),
    parts,
    cost,
  };
}
