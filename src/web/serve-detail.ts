import type { RunRecord } from '../ledger/records.ts';
import { OUTCOMES, type Outcome, type OutcomeState } from '../model.ts';
import type { RunDetail, VariantCount } from '../pages/serve-run-detail.ts';
import { createTimeCounts } from '../pages/time-counts.ts';
import { countDelivery } from '../report/deliveries.ts';
import { openDeliveries } from '../run/deliveries.ts';
import { createTurns } from '../util/turns.ts';
import type { OpenLedger } from './serve-ledger.ts';

/** Looks at everybody in a run: when they came to an outcome, what came back, by variant. Others go on in between. */
export async function detailOf({ ledger }: OpenLedger, run: RunRecord): Promise<RunDetail> {
  const turn = createTurns();
  const deliveries = openDeliveries(ledger, run);
  const counts = countDelivery();
  const variants = createVariants();
  const times = createTimeCounts(['accepted', 'others'], run.startedAtMs ?? run.createdAtMs);
  let parts = 0;
  let cost: number | null = null;
  for (const batch of ledger.outcomes(run)) {
    for (const outcome of deliveries?.join(batch) ?? batch) {
      counts.add(outcome);
      variants.add(outcome);
      const { outcome: state, updatedAt } = outcome;
      if (updatedAt !== null && SETTLED.has(state))
        times.add(state === 'accepted' ? state : 'others', Date.parse(updatedAt));
      for (const leg of outcome.legs ?? [outcome]) {
        if (leg.outcome !== 'accepted' && leg.outcome !== 'in-doubt') continue;
        parts += leg.parts ?? 0;
        if (leg.cost !== null) cost = (cost ?? 0) + leg.cost;
      }
    }
    await turn();
  }
  if (deliveries !== null) counts.addUnmatched(deliveries.unmatched());
  return { times: times.slots(), deliveries: counts.all(), variants: variants.all(), parts, cost: rounded(cost) };
}

/** Costs are millionths: what adding them up as fractions leaves is cut off. */
function rounded(cost: number | null): number | null {
  return cost === null ? null : Math.round(cost * 1e6) / 1e6;
}

const SETTLED: ReadonlySet<OutcomeState> = new Set(['accepted', 'rejected', 'failed', 'in-doubt']);

const ARRIVED: ReadonlySet<string> = new Set(['delivered', 'read', 'replied', 'opted-out']);

function createVariants() {
  const found = new Map<string, { counts: Record<OutcomeState, number>; delivered: number }>();
  return {
    add({ variant, outcome, delivery = null }: Outcome): void {
      if (variant === null) return;
      let known = found.get(variant);
      if (known === undefined) {
        known = {
          counts: Object.fromEntries(OUTCOMES.map((one) => [one, 0])) as Record<OutcomeState, number>,
          delivered: 0,
        };
        found.set(variant, known);
      }
      known.counts[outcome] += 1;
      if (delivery !== null && ARRIVED.has(delivery)) known.delivered += 1;
    },
    all: (): readonly VariantCount[] =>
      [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, counted]) => ({ name, ...counted })),
  };
}
