import type { OutcomeState, Significance, Totals, VariantResult } from '../model.ts';
import { wilson } from './intervals.ts';
import { significanceOf } from './significance.ts';

/** Recipients that share a variant and an outcome: what the ledger can count in one query. */
export interface VariantCount {
  /** Null for those that have none: held out, waiting for a winner, left out before they were assigned. */
  readonly variant: string | null;
  readonly outcome: OutcomeState;
  readonly count: number;
}

/** The part of a report that compares variants. */
export interface Comparison {
  readonly variants: readonly VariantResult[];
  /** Null where there are not two variants to compare. */
  readonly significance: Significance | null;
}

/**
 * What became of each variant, and whether they differ by more than chance. Compared is how many the API accepted
 * among those that it accepted or refused: recipients in doubt, or never posted, say nothing about the message.
 *
 * @param names - the variants in the order of the campaign, where it is known; others follow by name
 */
export function compareVariants(counts: readonly VariantCount[], names: readonly string[] = []): Comparison {
  const variants = orderOf(counts, names).map((name) => resultOf(name, counts));
  const samples = variants.map(({ accepted, rejected }) => ({ part: accepted, whole: accepted + rejected }));
  return { variants, significance: variants.length < 2 ? null : significanceOf(samples) };
}

function orderOf(counts: readonly VariantCount[], names: readonly string[]): readonly string[] {
  const others = new Set(counts.flatMap(({ variant }) => (variant === null ? [] : [variant])));
  for (const name of names) others.delete(name);
  return [...names, ...[...others].sort((a, b) => (a < b ? -1 : 1))];
}

function resultOf(name: string, counts: readonly VariantCount[]): VariantResult {
  const own = counts.filter(({ variant }) => variant === name);
  const of = (wanted: OutcomeState) =>
    own.reduce((sum, { outcome, count }) => (outcome === wanted ? sum + count : sum), 0);
  const totals: Totals = {
    recipients: own.reduce((sum, { count }) => sum + count, 0),
    accepted: of('accepted'),
    rejected: of('rejected'),
    failed: of('failed'),
    skipped: of('skipped'),
    deferred: of('deferred'),
    inDoubt: of('in-doubt'),
    pending: of('pending'),
  };
  const interval = wilson({ part: totals.accepted, whole: totals.accepted + totals.rejected });
  return {
    name,
    ...totals,
    rate: interval === null ? null : rounded(interval.rate),
    low: interval === null ? null : rounded(interval.low),
    high: interval === null ? null : rounded(interval.high),
  };
}

/** To a ten thousandth of a percent: more says nothing, and fewer digits are the same on every machine. */
function rounded(share: number): number {
  return Math.round(share * 1e6) / 1e6;
}
