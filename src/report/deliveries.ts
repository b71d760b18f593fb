import {
  DELIVERIES,
  type Delivery,
  type Outcome,
  type Report,
  UNMATCHED_REASONS,
  type UnmatchedReason,
  type VariantResult,
} from '../model.ts';

/** Recipients that share a variant and the delivery state of their last message. */
export interface DeliveryCount {
  readonly variant: string | null;
  /** Null: `count` are reports that name a message of the run and are not about it, for the reason `unmatched`. */
  readonly delivery: Delivery | null;
  readonly unmatched?: UnmatchedReason;
  readonly count: number;
}

/** Counts delivery reports and replies, as recipients go by. */
export function countDelivery(): {
  add(outcome: Pick<Outcome, 'variant' | 'delivery'>): void;
  /** Adds reports that are about none of them, by why. */
  addUnmatched(counts: ReadonlyMap<UnmatchedReason, number>): void;
  all(): readonly DeliveryCount[];
} {
  const byVariant = new Map<string | null, Map<Delivery, number>>();
  const unmatched: DeliveryCount[] = [];
  return {
    add({ variant, delivery = null }) {
      if (delivery === null) return;
      const counts = byVariant.get(variant) ?? new Map<Delivery, number>();
      byVariant.set(variant, counts.set(delivery, (counts.get(delivery) ?? 0) + 1));
    },
    addUnmatched(counts) {
      for (const [why, count] of counts) unmatched.push({ variant: null, delivery: null, unmatched: why, count });
    },
    all: () => [
      ...[...byVariant].flatMap(([variant, counts]) =>
        [...counts].map(([delivery, count]) => ({ variant, delivery, count })),
      ),
      ...unmatched,
    ],
  };
}

/** Reports that name a message of the run and are not about it, by why; null for none. */
export function unmatchedOf(counts: readonly DeliveryCount[]): NonNullable<Report['unmatchedReports']> | null {
  const found = UNMATCHED_REASONS.flatMap((why) => {
    const count = counts.find(({ unmatched }) => unmatched === why)?.count ?? 0;
    return count === 0 ? [] : [[why, count] as const];
  });
  return found.length === 0 ? null : Object.fromEntries(found);
}

/** Recipients by delivery state, in the order of the words; those without a report are left out. */
export function deliveriesOf(counts: readonly DeliveryCount[]): Report['deliveries'] {
  return Object.fromEntries(
    DELIVERIES.flatMap((word) => {
      const count = sumOf(counts, (delivery) => delivery === word);
      return count === 0 ? [] : [[word, count]];
    }),
  );
}

/** Delivery reports and replies for the messages of one variant: each figure holds the next, but for opting out. */
export type VariantDeliveries = Required<Pick<VariantResult, 'delivered' | 'read' | 'replied' | 'optedOut'>>;

/** A message that was answered was read, and one that was read was delivered. */
export function variantDeliveries(counts: readonly DeliveryCount[], variant: string): VariantDeliveries {
  const own = counts.filter((count) => count.variant === variant);
  const of = (...words: readonly Delivery[]) => sumOf(own, (delivery) => delivery !== null && words.includes(delivery));
  return {
    delivered: of('delivered', 'read', 'replied', 'opted-out'),
    read: of('read', 'replied', 'opted-out'),
    replied: of('replied'),
    optedOut: of('opted-out'),
  };
}

function sumOf(counts: readonly DeliveryCount[], isMeant: (delivery: Delivery | null) => boolean): number {
  return counts.reduce((sum, { delivery, count }) => (isMeant(delivery) ? sum + count : sum), 0);
}
