import { DELIVERIES, type Delivery, type Outcome, type Report, type VariantResult } from '../model.ts';

/** Recipients that share a variant and what came back about their last message. */
export interface DeliveryCount {
  readonly variant: string | null;
  readonly delivery: Delivery;
  readonly count: number;
}

/** Counts what came back, as recipients go by. */
export function countDelivery(): {
  add(outcome: Pick<Outcome, 'variant' | 'delivery'>): void;
  all(): readonly DeliveryCount[];
} {
  const byVariant = new Map<string | null, Map<Delivery, number>>();
  return {
    add({ variant, delivery = null }) {
      if (delivery === null) return;
      const counts = byVariant.get(variant) ?? new Map<Delivery, number>();
      byVariant.set(variant, counts.set(delivery, (counts.get(delivery) ?? 0) + 1));
    },
    all: () =>
      [...byVariant].flatMap(([variant, counts]) =>
        [...counts].map(([delivery, count]) => ({ variant, delivery, count })),
      ),
  };
}

/** Recipients by what came back, in the order of the words; nothing about whom nothing did. */
export function deliveriesOf(counts: readonly DeliveryCount[]): Report['deliveries'] {
  return Object.fromEntries(
    DELIVERIES.flatMap((word) => {
      const count = sumOf(counts, (delivery) => delivery === word);
      return count === 0 ? [] : [[word, count]];
    }),
  );
}

/** What came back about the messages of one variant: each figure holds the next, but for opting out. */
export type VariantDeliveries = Required<Pick<VariantResult, 'delivered' | 'read' | 'replied' | 'optedOut'>>;

/** A message that was answered was read, and one that was read was delivered. */
export function variantDeliveries(counts: readonly DeliveryCount[], variant: string): VariantDeliveries {
  const own = counts.filter((count) => count.variant === variant);
  const of = (...words: readonly Delivery[]) => sumOf(own, (delivery) => words.includes(delivery));
  return {
    delivered: of('delivered', 'read', 'replied', 'opted-out'),
    read: of('read', 'replied', 'opted-out'),
    replied: of('replied'),
    optedOut: of('opted-out'),
  };
}

function sumOf(counts: readonly DeliveryCount[], isMeant: (delivery: Delivery) => boolean): number {
  return counts.reduce((sum, { delivery, count }) => (isMeant(delivery) ? sum + count : sum), 0);
}
