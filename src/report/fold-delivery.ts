import { DELIVERY_STATES, type Delivery, type DeliveryReport, type DeliveryState } from '../model.ts';

export type DeliveryFact = Pick<DeliveryReport, 'state' | 'word' | 'cause' | 'error' | 'channel' | 'atMs'>;

/**
 * The state of a message as a fold over its reports: any order and any number of repetitions give the same.
 * Reports skip states, come twice and overtake each other, and many carriers never report `delivered`. So states have
 * ranks and only rise. An end (`expired`, `failed` ...) is above `sent`, because a late `sent` changes nothing.
 * `delivered` is above every end, because the handset has the message. Of several ends the last one counts. Returns the
 * report that decides; null for none.
 */
export function foldDelivery<T extends DeliveryFact>(facts: Iterable<T>): T | null {
  let best: T | null = null;
  for (const fact of facts) {
    if (best === null || isAbove(fact, best)) best = fact;
  }
  return best;
}

/**
 * The same from states alone, as bits by their place in `DELIVERY_STATES`; null for none. `several-ends`: the time
 * decides which counts, so use `foldDelivery`.
 */
export function foldStates(said: number): DeliveryState | 'several-ends' | null {
  return FOLDED[said] ?? null;
}

export function hasArrived(state: DeliveryState): boolean {
  return RANK[state] > ENDED;
}

/** The message will not arrive, as far as is known. */
export function hasEnded(state: DeliveryState): boolean {
  return RANK[state] === ENDED;
}

const ENDED = 3;

const RANK: Readonly<Record<DeliveryState, number>> = {
  unknown: 0,
  queued: 1,
  sent: 2,
  expired: ENDED,
  undeliverable: ENDED,
  failed: ENDED,
  rejected: ENDED,
  delivered: 4,
  read: 5,
};

/** The message has not arrived, and will not. */
export const LOST: ReadonlySet<Delivery> = new Set(DELIVERY_STATES.filter(hasEnded));

const FOLDED: readonly (DeliveryState | 'several-ends' | null)[] = Array.from(
  { length: 1 << DELIVERY_STATES.length },
  (_, said) => {
    const states = DELIVERY_STATES.filter((_, i) => (said & (1 << i)) !== 0);
    const highest = Math.max(...states.map((state) => RANK[state]));
    const [first = null, ...others] = states.filter((state) => RANK[state] === highest);
    return others.length === 0 ? first : 'several-ends';
  },
);

/** A total order, whatever the order of arrival: a report without a time never decides by that of its arrival. */
function isAbove(a: DeliveryFact, b: DeliveryFact): boolean {
  const rank = RANK[a.state] - RANK[b.state];
  if (rank !== 0) return rank > 0;
  // The last of several ends, the first of all others: that is when it happened.
  const isEnd = RANK[a.state] === ENDED;
  const missing = isEnd ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const [ownMs, otherMs] = [a.atMs ?? missing, b.atMs ?? missing];
  if (ownMs !== otherMs) return isEnd ? ownMs > otherMs : ownMs < otherMs;
  return textOf(a) > textOf(b);
}

function textOf({ state, word, cause, error, channel }: DeliveryFact): string {
  return JSON.stringify([state, cause, word, error, channel]);
}
