import {
  type Campaign,
  type Channel,
  OUTCOMES,
  type OutcomeState,
  type Report,
  type RequestFigures,
  type SmsFacts,
  type StepCount,
  type StepTotals,
  type VersionResult,
  type WinnerDecision,
  type WinnerMetric,
} from '../model.ts';
import { given } from '../util/given.ts';
import { shownLedger } from '../util/ledger-address.ts';
import { unitsOf } from '../util/units.ts';
import { type DeliveryCount, deliveriesOf, type Feedback, variantDeliveries } from './deliveries.ts';
import { endsOf, totalsKey } from './ends.ts';
import { versionName, wasSent } from './record.ts';
import { compareShares, sampleOf, sum, totalsOf, type VariantCount, variantResults } from './variants.ts';
import { verdictText } from './verdict.ts';

/** Facts of a run that the report takes as they are. */
export type RunFacts = Omit<
  Report,
  | keyof CameBack
  | 'version'
  | 'versions'
  | 'verdict'
  | 'totals'
  | 'ends'
  | 'reasons'
  | 'requests'
  | 'sms'
  | 'unmatchedReports'
  | 'steps'
  | 'variants'
  | 'significance'
> & {
  readonly versions?: readonly Pick<VersionResult, 'since' | 'commits' | 'inputs'>[];
};

export type CameBack = Pick<Report, 'before' | 'replies' | 'fallbacksDue'> & Feedback;

export interface CampaignShape extends Pick<Campaign, 'channel'> {
  readonly variants: readonly { readonly name: string; readonly where?: object | null }[];
  readonly fallbacks: readonly { readonly channel: Channel }[];
  /** The metric for the winner of a test; absent or null: none. */
  readonly split?: { readonly decides: { readonly by: WinnerMetric } | null };
}

/**
 * `steps` counts all steps; for a recipient with several, the last one counts. `campaign`: as it was sent, for the order of
 * variants and steps, also of those without recipients.
 */
export function buildReport(
  run: RunFacts,
  steps: readonly StepCount[],
  requests: RequestFigures,
  known: { readonly cameBack?: CameBack | null; readonly campaign?: CampaignShape | null } = {},
): Report {
  const { cameBack = null, campaign = null } = known;
  const counts = steps.filter(({ fellBack }) => !fellBack);
  const { deliveries = [], unmatched = {}, causes = [] } = cameBack ?? {};
  const { versions = [], secondMessages: _second, changed: _changed, winner, winnerAt: _winnerAt, ...facts } = run;
  const [totals, reasons] = [totalsOf(counts), reasonsOf(counts)];
  const { channel, fallbacks = [] } = campaign ?? {};
  const isStepped = fallbacks.length > 0 || steps.some(({ step, fellBack }) => step !== 0 || fellBack);
  const channels = channel === undefined ? [] : [channel, ...fallbacks.map((fallback) => fallback.channel)];
  const report = {
    ...facts,
    ledger: shownLedger(run.ledger),
    // Omitted for a single version: the report is about it.
    ...(versions.length > 1 && {
      versions: versions.map((one, i) => {
        const own = counts.filter(({ version }) => version === i + 1);
        return { name: versionName(i + 1), ...one, totals: totalsOf(own) };
      }),
    }),
    totals,
    ...(cameBack === null ? {} : { ends: endsOf({ totals, reasons }, deliveries) }),
    reasons,
    requests,
    sms: smsOf(steps),
    deliveries: deliveriesOf(deliveries),
    ...(causes.length === 0 ? {} : { causes }),
    ...(Object.keys(unmatched).length === 0 ? {} : { unmatchedReports: unmatched }),
    ...(cameBack && given(cameBack, 'replies', 'before', 'fallbacksDue')),
    ...given(run, 'secondMessages', 'changed'),
    ...(isStepped && { steps: stepTotals(steps, channels) }),
    ...comparedVariants(counts, campaign, deliveries, winner ?? null),
    ...given(run, 'winner', 'winnerAt'),
  } as const;
  return { version: 1, verdict: verdictText(report), ...report };
}

function comparedVariants(
  counts: readonly VariantCount[],
  campaign: CampaignShape | null,
  deliveries: readonly DeliveryCount[],
  winner: WinnerDecision | null,
): Pick<Report, 'variants' | 'significance'> {
  const names = campaign?.variants.map(({ name }) => name) ?? [];
  if (names.length === 0 && counts.every(({ variant }) => variant === null)) return {};
  const results = variantResults(counts, names);
  const variants =
    deliveries.length === 0 ? results : results.map((one) => ({ ...one, ...variantDeliveries(deliveries, one.name) }));
  // The messages of the test decided the winner, while the report also counts later ones.
  if (winner !== null && winner.by !== null) {
    return { variants, significance: compareShares(winner.shares, winner.by) };
  }
  const by = campaign?.split?.decides?.by ?? 'accepted';
  // Variants with a condition have different recipients: a difference is not due to the message.
  const conditional = new Set(campaign?.variants.flatMap(({ name, where = null }) => (where === null ? [] : [name])));
  const shares = variants
    .filter(({ name }) => !conditional.has(name))
    .map((one) => ({ name: one.name, ...sampleOf(by, one) }));
  return { variants, significance: compareShares(shares, by) };
}

/** The most frequent reason first; outcomes are named as in `totals`. */
function reasonsOf(counts: readonly StepCount[]): Report['reasons'] {
  const byOutcome = OUTCOMES.map((outcome) => {
    const byReason = new Map<string, number>();
    for (const { outcome: own, reason, count } of counts) {
      if (own === outcome && reason !== null && count > 0) byReason.set(reason, (byReason.get(reason) ?? 0) + count);
    }
    const ordered = [...byReason].sort(([a, most], [b, more]) => more - most || (a < b ? -1 : 1));
    return [totalsKey(outcome), Object.fromEntries(ordered)] as const;
  });
  return Object.fromEntries(byOutcome.filter(([, reasons]) => Object.keys(reasons).length > 0));
}

/**
 * Parts, encodings and cost of messages that were probably sent, on any step. The cost is the sum of the known prices,
 * in units of the currency; null when none is known.
 */
function smsOf(counts: readonly StepCount[]): Report['sms'] {
  const sent = counts.filter(wasSent);
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

/**
 * The outcomes on each channel; a campaign has each at most once.
 * @param channels - the campaign's channel and its fallbacks, in order, if known; others follow
 */
export function stepTotals(counts: readonly StepCount[], channels: readonly Channel[] = []): readonly StepTotals[] {
  const inOrder = counts.toSorted((a, b) => a.step - b.step || (a.channel < b.channel ? -1 : 1));
  const all = new Set([...channels, ...inOrder.map(({ channel }) => channel)]);
  return [...all].map((channel) => totalsOfStep(channel, counts));
}

function totalsOfStep(channel: Channel, all: readonly StepCount[]): StepTotals {
  const counts = all.filter((count) => count.channel === channel);
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
