import { InvalidArgumentError } from 'commander';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import {
  type Campaign,
  DELIVERIES,
  type Delivery,
  type EarlierMessage,
  type Outcome,
  type OutcomeState,
  type Project,
  type Report,
} from '../model.ts';
import { readPriceList } from '../plan/prices.ts';
import { createReferences } from '../plan/reference.ts';
import { countDelivery, type DeliveryCount } from '../report/deliveries.ts';
import { foldDelivery } from '../report/fold-delivery.ts';
import type { ReferenceOf, ReportOptions } from '../report/record.ts';
import { cameBack, messageOf, openDeliveries } from '../run/deliveries.ts';
import { summarise } from '../run/summary.ts';
import type { CommandContext } from './context.ts';
import { PLAN_FILE, sentCampaign, takesPlans } from './runs.ts';

/** What the summary of a run is made of, beside its counts. */
export interface Summary {
  /** The campaign as it was sent; null where that is not known any more. */
  readonly campaign: Campaign | null;
  /** The report as it is now, with these deliveries. */
  readonly reportOf: (deliveries: readonly DeliveryCount[]) => Report;
  /** Without what came back. */
  readonly plain: () => Report;
  readonly options: ReportOptions;
}

export async function openSummary(
  ledger: Ledger,
  run: RunRecord,
  context: CommandContext,
  project: Project,
): Promise<Summary> {
  const { file, campaign } = await sentCampaign(run, project, context);
  return {
    campaign,
    plain: () => summarise(ledger, run, null, campaign),
    reportOf(deliveries) {
      // It may be another one than it was when the command began.
      const now = ledger.findRun(run) ?? run;
      return summarise(ledger, now, null, campaign, cameBack(ledger, now, deliveries, campaign));
    },
    options: {
      colour: context.colour.out,
      width: context.tableWidth ?? context.width,
      referenceOf: referencesOf(run),
      currency: (await readPriceList(project)).prices?.currency ?? null,
      ...(file === null ? {} : { campaignFile: file }),
      ...(takesPlans(run, project) ? { planFile: PLAN_FILE } : {}),
    },
  };
}

function referencesOf(run: RunRecord): ReferenceOf {
  const referenceOf = createReferences(run);
  return ({ key, channel, resend }) => (key === null ? null : referenceOf(key, channel, resend));
}

/** What came back, or `none`: nothing did. */
export type DeliveryChoice = Delivery | 'none';

/** Which recipients of a run are asked for: those whom both name. */
export interface RowFilter {
  readonly outcomes?: readonly OutcomeState[];
  readonly deliveries?: readonly DeliveryChoice[];
}

/**
 * Outcomes with what came back about each, in list order.
 *
 * @param unmatched - told in the end of reports that are about none of them, by why
 */
export function* rowsOf(
  ledger: Pick<Ledger, 'earlier' | 'events' | 'outcomes'>,
  run: RunRecord,
  filter: RowFilter,
  unmatched?: ReturnType<typeof countDelivery>['addUnmatched'],
): Generator<readonly Outcome[]> {
  const deliveries = openDeliveries(ledger, run);
  const { outcomes } = filter;
  const withEarlier = earlierJoiner(ledger, run);
  for (const batch of ledger.outcomes(run, outcomes === undefined ? {} : { outcomes })) {
    yield withEarlier(chosen(deliveries?.join(batch) ?? batch, filter));
  }
  if (deliveries !== null) unmatched?.(deliveries.unmatched());
}

/** Adds the messages that went to earlier addresses, of the few recipients that have any. */
export function earlierJoiner(
  ledger: Pick<Ledger, 'earlier' | 'events'>,
  run: RunRecord,
): (batch: readonly Outcome[]) => readonly Outcome[] {
  let known: ReturnType<Ledger['earlier']> | null = null;
  const referenceOf = createReferences(run);
  const earlierOf = ({ key, resend = 0 }: Outcome): readonly EarlierMessage[] => {
    if (key === null) return [];
    known ??= ledger.earlier(run);
    return (known.get(key) ?? []).slice(0, resend).map((one) => {
      const { channel, to, messageId, httpStatus, sentAtMs } = one;
      const claimed = sentAtMs === null ? {} : { claimedAtMs: sentAtMs };
      const message = messageOf(run, referenceOf, key, { ...one, ...claimed });
      const { reference } = message;
      const delivery = foldDelivery(ledger.events.reportsOf(message))?.state ?? null;
      const sentAt = sentAtMs === null ? null : new Date(sentAtMs).toISOString();
      return { channel, to, reference, messageId, httpStatus, delivery, sentAt };
    });
  };
  return (batch) => {
    if (!batch.some(({ resend }) => resend !== undefined)) return batch;
    return batch.map((one) => (one.resend === undefined ? one : { ...one, earlier: earlierOf(one) }));
  };
}

/** Everybody with what came back, counted as they go by. */
export function countedRows(
  ledger: Pick<Ledger, 'earlier' | 'events' | 'outcomes'>,
  run: RunRecord,
): { readonly rows: Iterable<readonly Outcome[]>; readonly counts: () => readonly DeliveryCount[] } {
  const counts = countDelivery();
  function* rows(): Generator<readonly Outcome[]> {
    for (const batch of rowsOf(ledger, run, {}, counts.addUnmatched)) {
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
