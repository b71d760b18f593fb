import type { Delivery, Ends, Outcome, OutcomeState, Report, Totals } from '../model.ts';
import type { DeliveryCount } from './deliveries.ts';
import { LOST } from './fold-delivery.ts';
import type { Formats } from './locale.ts';

export type End = keyof Ends;

/** Words for people, in the order in which they ask; outcomes and reasons of the ledger are one level down. */
export const END_WORDS: Readonly<Record<End, string>> = {
  delivered: 'delivered',
  sent: 'sent',
  notDelivered: 'not delivered',
  unclear: 'unclear',
  notSent: 'not sent',
  waits: 'waiting',
  notTried: 'not tried yet',
};

/** As options spell them. */
export const END_OPTIONS = {
  delivered: 'delivered',
  sent: 'sent',
  notDelivered: 'not-delivered',
  unclear: 'unclear',
  notSent: 'not-sent',
  waits: 'waiting',
  notTried: 'not-tried',
} as const satisfies Readonly<Record<End, string>>;

export const ENDS = Object.keys(END_WORDS) as readonly End[];

export const END_MEANINGS: Readonly<Record<End, string>> = {
  delivered: '',
  sent: 'no final delivery report yet',
  notDelivered: 'refused, not posted, or reported as lost',
  unclear: 'may have it: no usable answer came',
  notSent: 'left out by a rule',
  waits: 'a rule or the API says later',
  notTried: '',
};

/** By the answer alone, before any report. */
export const END_OF: Readonly<Record<OutcomeState, End>> = {
  accepted: 'sent',
  rejected: 'notDelivered',
  failed: 'notDelivered',
  'in-doubt': 'unclear',
  skipped: 'notSent',
  deferred: 'waits',
  pending: 'notTried',
};

const ARRIVED: ReadonlySet<Delivery> = new Set(['delivered', 'read', 'replied', 'opted-out']);

/** The one reason of pending recipients who were not tried. */
const UNTRIED = 'stopped';

/** A report of arrival decides, whatever the API had answered; one of a loss, for an accepted message only. */
export function endOf({
  outcome,
  delivery = null,
  reason = null,
}: Pick<Outcome, 'outcome' | 'delivery'> & Partial<Pick<Outcome, 'reason'>>): End {
  if (delivery !== null && ARRIVED.has(delivery)) return 'delivered';
  if (outcome === 'pending' && reason !== null && reason !== UNTRIED) return 'waits';
  return outcome === 'accepted' && delivery !== null && LOST.has(delivery) ? 'notDelivered' : END_OF[outcome];
}

/** @param deliveries - may be a little older than the totals, in a run that goes on */
export function endsOf(
  { totals, reasons }: Pick<Report, 'totals' | 'reasons'>,
  deliveries: readonly DeliveryCount[] = [],
): Ends {
  const { accepted, rejected, failed, inDoubt, skipped, deferred, pending } = totals;
  const tried = Object.entries(reasons['pending'] ?? {}).map(([reason, count]) => (reason === UNTRIED ? 0 : count));
  const again = tried.reduce((sum, count) => sum + count, 0);
  const ends = {
    delivered: 0,
    sent: accepted,
    notDelivered: rejected + failed,
    unclear: inDoubt,
    notSent: skipped,
    waits: deferred + again,
    notTried: pending - again,
  };
  for (const { outcome, delivery, count } of deliveries) {
    const from = outcome === 'pending' && ends.notTried < count ? 'waits' : END_OF[outcome];
    const moved = Math.min(count, ends[from]);
    ends[from] -= moved;
    ends[endOf({ outcome, delivery })] += moved;
  }
  return ends;
}

/**
 * `9,073 of 20,000 delivered, 177 sent, 207 not sent (207 suppressed)`, without zeros.
 * @param rules - why messages were not sent; empty to omit them
 */
export function endsText(ends: Ends, recipients: number, say: Formats, rules = ''): string {
  const some = ENDS.filter((end) => ends[end] > 0);
  if (some.length === 0) return say.count(recipients, 'recipient');
  const partOf = (end: End, i: number): string =>
    `${say.number(ends[end])}${i === 0 ? ` of ${say.number(recipients)}` : ''} ${END_WORDS[end]}`;
  return some.map((end, i) => partOf(end, i) + (end === 'notSent' && rules !== '' ? ` (${rules})` : '')).join(', ');
}

export function totalsKey(outcome: OutcomeState): Exclude<keyof Totals, 'recipients'> {
  return outcome === 'in-doubt' ? 'inDoubt' : outcome;
}
