import type { Delivery, Ends, Outcome, OutcomeState, Report, Totals } from '../model.ts';
import type { DeliveryCount } from './deliveries.ts';
import { LOST } from './fold-delivery.ts';
import type { Formats } from './locale.ts';

export type End = keyof Ends;

/** In the order in which people ask. Outcomes and reasons of the ledger are one level down. */
export const END_TABLE = {
  delivered: { words: 'delivered', option: 'delivered', means: '' },
  sent: { words: 'sent', option: 'sent', means: 'no final delivery report yet' },
  notDelivered: { words: 'not delivered', option: 'not-delivered', means: 'refused, not posted, or reported as lost' },
  unclear: { words: 'unclear', option: 'unclear', means: 'may have it: no usable answer came' },
  notSent: { words: 'not sent', option: 'not-sent', means: 'left out by a rule' },
  waits: { words: 'waiting', option: 'waiting', means: 'a rule or the API says later' },
  notTried: { words: 'not tried yet', option: 'not-tried', means: '' },
} as const satisfies Readonly<Record<End, Readonly<Record<'words' | 'option' | 'means', string>>>>;

export const ENDS = Object.keys(END_TABLE) as readonly End[];

/** By the answer alone, before any report. */
const END_OF: Readonly<Record<OutcomeState, End>> = {
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
export function endOf(of: Pick<Outcome, 'outcome' | 'delivery'> & Partial<Pick<Outcome, 'reason'>>): End {
  const { outcome, delivery = null, reason = null } = of;
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
    `${say.number(ends[end])}${i === 0 ? ` of ${say.number(recipients)}` : ''} ${END_TABLE[end].words}`;
  return some.map((end, i) => partOf(end, i) + (end === 'notSent' && rules !== '' ? ` (${rules})` : '')).join(', ');
}

export function totalsKey(outcome: OutcomeState): Exclude<keyof Totals, 'recipients'> {
  return outcome === 'in-doubt' ? 'inDoubt' : outcome;
}
