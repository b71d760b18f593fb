import {
  DELIVERIES,
  type Delivery,
  type Outcome,
  type Report,
  UNMATCHED_REASONS,
  type UnmatchedReason,
  type VariantResult,
} from '../model.ts';

export interface DeliveryCount {
  readonly variant: string | null;
  /** Null: `count` reports name a message of the run but are not about it, for the reason `unmatched`. */
  readonly delivery: Delivery | null;
  readonly unmatched?: UnmatchedReason;
  readonly count: number;
}

export function countDelivery(): {
  add(outcome: Pick<Outcome, 'variant' | 'delivery'>): void;
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

/** Reports that name a message of the run but are not about it, by reason; null for none. */
export function unmatchedOf(counts: readonly DeliveryCount[]): NonNullable<Report['unmatchedReports']> | null {
  const found = UNMATCHED_REASONS.flatMap((why) => {
    const count = counts.find(({ unmatched }) => unmatched === why)?.count ?? 0;
    return count === 0 ? [] : [[why, count] as const];
  });
  return found.length === 0 ? null : Object.fromEntries(found);
}

export function deliveriesOf(counts: readonly DeliveryCount[]): Report['deliveries'] {
  return Object.fromEntries(
    DELIVERIES.flatMap((word) => {
      const count = counts.reduce((sum, one) => (one.delivery === word ? sum + one.count : sum), 0);
      return count === 0 ? [] : [[word, count]];
    }),
  );
}

/** Progress of messages, proven by reports and replies: who read a message is also among `delivered`, and so on. */
export interface Returned {
  readonly delivered: number;
  /** Null where no report says "read": replies alone make no figure of readers. */
  readonly read: number | null;
  /** Without opt-outs. */
  readonly replied: number;
  readonly optedOut: number;
}

/**
 * A reply implies that the message was read, and a read that it was delivered.
 * @param counts - recipients by their latest state
 * @param hasRead - whether any report says "read". Default: whether `counts` has one
 */
export function returnedOf(
  counts: Readonly<Partial<Record<Delivery, number>>>,
  hasRead = (counts.read ?? 0) > 0,
): Returned {
  const { delivered = 0, read = 0, replied = 0, 'opted-out': optedOut = 0 } = counts;
  const seen = read + replied + optedOut;
  return { delivered: delivered + seen, read: hasRead ? seen : null, replied, optedOut };
}

/** `read` is absent where `Returned` has null. */
export type VariantDeliveries = Pick<VariantResult, 'delivered' | 'read' | 'replied' | 'optedOut'>;

export function variantDeliveries(counts: readonly DeliveryCount[], variant: string): VariantDeliveries {
  const own = counts.filter((count) => count.variant === variant);
  const hasRead = counts.some(({ delivery, count }) => delivery === 'read' && count > 0);
  const { delivered, read, ...answers } = returnedOf(deliveriesOf(own), hasRead);
  return { delivered, ...(read === null ? {} : { read }), ...answers };
}
