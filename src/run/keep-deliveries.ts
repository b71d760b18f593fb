import type { Ledger } from '../ledger/ledger.ts';
import type { KeptDelivery } from '../ledger/purge-store.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Outcome } from '../model.ts';
import { createReferences } from '../plan/reference.ts';
import { openDeliveries } from './deliveries.ts';

/**
 * Keeps what is known of each message of a run that is being purged, so that its report stays as it is: the state of
 * delivery of every leg, and of who answered that they did. Each step is a transaction of a thousand rows, and
 * yields how many reports it deleted. Nothing where nothing came back.
 */
export function* keepDeliveries(
  ledger: Pick<Ledger, 'events' | 'outcomes' | 'purge'>,
  run: RunRecord,
): Generator<number> {
  // As if it were not purged: there still is something to ask.
  const deliveries = openDeliveries(ledger, { ...run, purgedAtMs: null });
  if (deliveries === null) return;
  const referenceOf = createReferences(run);
  for (const batch of ledger.outcomes(run)) {
    const kept = deliveries.join(batch).flatMap((outcome) => keptOf(outcome, referenceOf));
    if (kept.length > 0) yield ledger.purge.keepDeliveries(run, kept);
  }
}

function keptOf(outcome: Outcome, referenceOf: ReturnType<typeof createReferences>): readonly KeptDelivery[] {
  const { row, key, legs } = outcome;
  if (key === null) return [];
  const all = legs ?? [outcome];
  return all.map(({ channel, messageId, delivery = null, resend }, leg) => {
    // The person answered the last of them, as far as a report shows it.
    const shown = leg === all.length - 1 ? (outcome.delivery ?? null) : delivery;
    return { row, leg, delivery: shown, reference: referenceOf(key, channel, resend), messageId };
  });
}
