import { hasArrived, hasEnded } from '../delivery/fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Delivery, DeliveryState, Outcome } from '../model.ts';
import { openDeliveries } from './deliveries.ts';

/** Accepted messages by what came back about them. Each is that of the last leg that was begun. */
export interface Returned {
  readonly accepted: number;
  /** Where they are counted too: refused by the API. */
  readonly rejected: number;
  /** Delivered, read or answered. */
  readonly arrived: number;
  /** They will not arrive, as far as is known. What is left of those accepted has no end yet. */
  readonly ended: number;
  /** Of those that arrived; whoever answered has read it. */
  readonly read: number;
  /** Answered, but not to opt out. */
  readonly replied: number;
  readonly optedOut: number;
}

export const NOTHING_RETURNED: Returned = Object.freeze({
  accepted: 0,
  rejected: 0,
  arrived: 0,
  ended: 0,
  read: 0,
  replied: 0,
  optedOut: 0,
});

/**
 * The message has come to an end: nothing that is still to come makes another one of it, but that it arrived after all.
 */
export function isFinal(delivery: Delivery | null): boolean {
  return delivery !== null && (isArrived(delivery) || hasEnded(delivery as DeliveryState));
}

function isArrived(delivery: Delivery): boolean {
  return delivery === 'replied' || delivery === 'opted-out' || hasArrived(delivery);
}

/**
 * Counts what came back about the messages of a run, in groups: a pass over the list, and two look-ups and a hash for
 * each accepted message. Everything is out of the ledger, so that whoever asks next is told the same.
 *
 * @param groupOf - the group that a recipient is counted in; null: in none
 * @param outcomes - who is counted
 */
export function countReturned<G>(
  ledger: Pick<Ledger, 'events' | 'outcomes'>,
  run: RunRecord,
  groupOf: (outcome: Outcome) => G | null,
  outcomes: readonly ('accepted' | 'rejected')[] = ['accepted'],
): ReadonlyMap<G, Returned> {
  const deliveries = openDeliveries(ledger, run);
  const groups = new Map<G, { -readonly [K in keyof Returned]: Returned[K] }>();
  for (const batch of ledger.outcomes(run, { outcomes })) {
    for (const outcome of deliveries?.join(batch) ?? batch) {
      const group = groupOf(outcome);
      if (group === null) continue;
      let counts = groups.get(group);
      if (counts === undefined) {
        counts = { ...NOTHING_RETURNED };
        groups.set(group, counts);
      }
      if (outcome.outcome === 'rejected') {
        counts.rejected += 1;
        continue;
      }
      counts.accepted += 1;
      const { delivery = null } = outcome;
      if (delivery === null) continue;
      if (isArrived(delivery)) counts.arrived += 1;
      else if (isFinal(delivery)) counts.ended += 1;
      if (delivery === 'read' || delivery === 'replied' || delivery === 'opted-out') counts.read += 1;
      if (delivery === 'replied') counts.replied += 1;
      if (delivery === 'opted-out') counts.optedOut += 1;
    }
  }
  return groups;
}

/** As `countReturned`, of all recipients together. */
export function returnedIn(ledger: Pick<Ledger, 'events' | 'outcomes'>, run: RunRecord): Returned {
  return countReturned(ledger, run, () => 'all').get('all') ?? NOTHING_RETURNED;
}
