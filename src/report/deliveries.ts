import {
  DELIVERIES,
  type Delivery,
  type Outcome,
  type OutcomeState,
  type Report,
  type ReportedCause,
  UNMATCHED_REASONS,
  type UnmatchedReason,
  type VariantResult,
} from '../model.ts';
import { countCauses } from './causes.ts';

export interface DeliveryCount {
  readonly variant: string | null;
  readonly outcome: OutcomeState;
  readonly delivery: Delivery;
  readonly count: number;
}

/** Counts that need a scan of the list. */
export interface Feedback {
  readonly deliveries: readonly DeliveryCount[];
  /** Reports that name a message of the run but are not about it. */
  readonly unmatched: NonNullable<Report['unmatchedReports']>;
  /** The most frequent first. */
  readonly causes: readonly ReportedCause[];
}

export function countFeedback() {
  const groups = new Map<string, { -readonly [K in keyof DeliveryCount]: DeliveryCount[K] }>();
  let unmatched: Feedback['unmatched'] = {};
  const causes = countCauses();
  return {
    add(one: Outcome): void {
      causes.add(one);
      const { variant, outcome, delivery = null } = one;
      if (delivery === null) return;
      const key = `${outcome} ${delivery} ${variant ?? ''}`;
      const known = groups.get(key);
      if (known === undefined) groups.set(key, { variant, outcome, delivery, count: 1 });
      else known.count += 1;
    },
    addUnmatched(counts: ReadonlyMap<UnmatchedReason, number>): void {
      unmatched = Object.fromEntries(
        UNMATCHED_REASONS.flatMap((why) => (counts.has(why) ? [[why, counts.get(why)]] : [])),
      );
    },
    all: (): Feedback => ({ deliveries: [...groups.values()], unmatched, causes: causes.all() }),
  };
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
