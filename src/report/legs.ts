import type { Channel, LegTotals, OutcomeState } from '../model.ts';
import { type Count, smsOf, sum } from './count.ts';

/**
 * What became of the messages on each channel; a campaign has each at most once.
 *
 * @param channels - the campaign's own and those of its fallbacks, in order, where they are known; others follow
 */
export function legTotals(counts: readonly Count[], channels: readonly Channel[] = []): readonly LegTotals[] {
  const inOrder = counts.toSorted((a, b) => a.leg - b.leg || (a.channel < b.channel ? -1 : 1));
  const all = new Set([...channels, ...inOrder.map(({ channel }) => channel)]);
  return [...all].map((channel) =>
    totalsOf(
      channel,
      counts.filter((count) => count.channel === channel),
    ),
  );
}

function totalsOf(channel: Channel, counts: readonly Count[]): LegTotals {
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
