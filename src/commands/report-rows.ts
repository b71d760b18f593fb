import { InvalidArgumentError } from 'commander';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import { DELIVERIES, type Delivery, type Outcome, type OutcomeState } from '../model.ts';
import { countDelivery, type DeliveryCount } from '../report/deliveries.ts';
import { openDeliveries } from '../run/deliveries.ts';

/** What came back, or `none`: nothing did. */
export type DeliveryChoice = Delivery | 'none';

/** Which recipients of a run are asked for: those whom both name. */
export interface RowFilter {
  readonly outcomes?: readonly OutcomeState[];
  readonly deliveries?: readonly DeliveryChoice[];
}

/** Outcomes with what came back about each, in list order. */
export function* rowsOf(
  ledger: Pick<Ledger, 'events' | 'outcomes'>,
  run: RunRecord,
  filter: RowFilter,
): Generator<readonly Outcome[]> {
  const deliveries = openDeliveries(ledger, run);
  const { outcomes } = filter;
  for (const batch of ledger.outcomes(run, outcomes === undefined ? {} : { outcomes })) {
    yield chosen(deliveries?.join(batch) ?? batch, filter);
  }
}

/** Everybody with what came back, counted as they go by. */
export function countedRows(
  ledger: Pick<Ledger, 'events' | 'outcomes'>,
  run: RunRecord,
): { readonly rows: Iterable<readonly Outcome[]>; readonly counts: () => readonly DeliveryCount[] } {
  const counts = countDelivery();
  function* rows(): Generator<readonly Outcome[]> {
    for (const batch of rowsOf(ledger, run, {})) {
      for (const outcome of batch) counts.add(outcome);
      yield batch;
    }
  }
  return { rows: rows(), counts: counts.all };
}

function chosen(batch: readonly Outcome[], filter: RowFilter): readonly Outcome[] {
  if (filter.outcomes === undefined && filter.deliveries === undefined) return batch;
  return batch.filter((outcome) => isChosen(outcome, filter));
}

export function isChosen({ outcome, delivery = null }: Outcome, { outcomes, deliveries }: RowFilter): boolean {
  return outcomes?.includes(outcome) !== false && deliveries?.includes(delivery ?? 'none') !== false;
}

/** Parses one argument of `--delivery`: words, with commas between them. */
export function deliveryChoices(text: string, before: readonly DeliveryChoice[] = []): readonly DeliveryChoice[] {
  const words = text.split(',').map((word) => word.trim());
  const choices: readonly string[] = [...DELIVERIES, 'none'];
  const wrong = words.find((word) => !choices.includes(word));
  if (wrong !== undefined) throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
  return [...before, ...(words as DeliveryChoice[])];
}
