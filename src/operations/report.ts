import { setImmediate as turn } from 'node:timers/promises';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type {
  Campaign,
  Channel,
  Delivery,
  EarlierMessage,
  LegOutcome,
  Outcome,
  OutcomeState,
  Project,
  Report,
} from '../model.ts';
import { readPriceList } from '../plan/prices.ts';
import { createReferences } from '../plan/reference.ts';
import { countDelivery, type DeliveryCount } from '../report/deliveries.ts';
import { foldDelivery } from '../report/fold-delivery.ts';
import type { ReferenceOf, ReportOptions } from '../report/record.ts';
import { cameBack, countDeliveries, messageOf, openDeliveries } from '../run/deliveries.ts';
import { summarise } from '../run/summary.ts';
import { joinRepliesOf } from './join-replies.ts';
import { type ProjectOptions, present, type Settled, settle } from './options.ts';
import { ledgerHere, projectHere } from './project-ledger.ts';
import { findRun, PLAN_FILE, sentCampaign, takesPlans } from './runs.ts';

/** Which recipients of a run: those that match all that is given. */
export interface OutcomesOptions extends ProjectOptions {
  /** Only with these outcomes. Default: all. */
  readonly outcomes?: readonly OutcomeState[];
  /** Only with this delivery state; `none`: no report. Default: all. */
  readonly deliveries?: readonly (Delivery | 'none')[];
}

/** What became of the message on one channel. */
export interface LegResult {
  readonly channel: Channel;
  readonly to: string | null;
  /** handbill's own id of the message; null where nothing was to be sent. */
  readonly reference: string | null;
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  /** Requests over all starts. */
  readonly attempts: number;
  readonly httpStatus: number | null;
  /** The id that the API gave out. */
  readonly messageId: string | null;
  /** The API's reason for a refusal; text from outside, never trusted. */
  readonly error: string | null;
  /** The delivery state of the message; null: no report. */
  readonly delivery: Delivery | null;
  /** SMS parts; null on other channels. */
  readonly parts: number | null;
  readonly encoding: 'GSM-7' | 'UCS-2' | null;
  /** In units of the price list's currency; null without a price. */
  readonly cost: number | null;
  /** ISO 8601 in UTC; null while nothing happened. */
  readonly updatedAt: string | null;
}

/** The outcome of one row of the list: of its last channel step, where it has several. */
export interface RecipientOutcome extends LegResult {
  /** First line of the row in its file. */
  readonly line: number;
  /** Null after a purge, and where the row has no address. */
  readonly key: string | null;
  readonly variant: string | null;
  /** Every channel step in order, the last included; absent where there is one only. */
  readonly legs?: readonly LegResult[];
  /** The address that the list has by now, where it is not the one that the message went to; absent else. */
  readonly listTo?: string;
  /** Messages to addresses that were corrected since, the first one first; absent if there are none. */
  readonly earlier?: readonly EarlierMessage[];
}

/**
 * `handbill report`: the summary of a run, with the delivery reports until now.
 *
 * @param run - id of a run, or name of a campaign for its newest one
 * @throws HandbillError exit 2 (`run-not-found`, a project file that is wrong), 7 (ledger)
 */
export async function report(run: string, options: ProjectOptions = {}): Promise<Report> {
  const settled = settle(options);
  const { ledger, found, project } = await openRun(run, settled);
  try {
    const { campaign } = await sentCampaign(found, project, settled);
    const deliveries = countDeliveries(ledger, found);
    return summarise(ledger, found, null, campaign, cameBack(ledger, found, deliveries, campaign));
  } finally {
    ledger.close();
  }
}

/**
 * `handbill report --format jsonl`: what became of every row of a run, in list order. Read from the ledger a thousand
 * at a time, so that memory stays flat; the ledger is closed when the loop ends or is left.
 *
 * @param run - id of a run, or name of a campaign for its newest one
 * @throws HandbillError exit 2 (`run-not-found`, a project file that is wrong), 7 (ledger; also where the list of the
 *   run was replaced meanwhile)
 */
export async function* outcomes(
  run: string,
  options: OutcomesOptions = {},
): AsyncGenerator<RecipientOutcome, void, undefined> {
  const { ledger, found } = await openRun(run, settle(options));
  try {
    const referenceOf = createReferences(found);
    for (const batch of rowsOf(ledger, found, present(options))) {
      for (const outcome of batch) yield toOutcome(outcome, referenceOf);
      // Reading is synchronous: others of this process have their turn between two batches.
      await turn();
    }
  } finally {
    ledger.close();
  }
}

/** A run with its open ledger, after replies were joined to messages. */
async function openRun(run: string, settled: ReturnType<typeof settle>) {
  const reading = await projectHere(settled, settled.ledger);
  await joinRepliesOf(reading, settled);
  const ledger = ledgerHere(reading, settled);
  try {
    return { ledger, found: findRun(ledger, run), project: reading.project };
  } catch (error) {
    ledger.close();
    throw error;
  }
}

function toOutcome(outcome: Outcome, referenceOf: ReturnType<typeof createReferences>): RecipientOutcome {
  const { line, key, variant, legs, listTo, earlier } = outcome;
  const corrected = { ...(listTo === undefined ? {} : { listTo }), ...(earlier === undefined ? {} : { earlier }) };
  const last = { line, key, variant, ...toLeg(outcome, key, referenceOf), ...corrected };
  return legs === undefined ? last : { ...last, legs: legs.map((leg) => toLeg(leg, key, referenceOf)) };
}

function toLeg(leg: LegOutcome, key: string | null, referenceOf: ReturnType<typeof createReferences>): LegResult {
  const { channel, to, outcome, reason, attempts, httpStatus, messageId, error, delivery = null, resend } = leg;
  const { parts, encoding, cost, updatedAt } = leg;
  const reference = key === null ? null : referenceOf(key, channel, resend);
  const sent = { channel, to, reference, outcome, reason, attempts, httpStatus, messageId, error, delivery };
  return { ...sent, parts, encoding, cost: isDue(leg) ? cost : 0, updatedAt };
}

/** What was not sent costs nothing; the price of it is known all the same. */
function isDue({ outcome, cost }: LegOutcome): boolean {
  return cost === null || outcome === 'accepted' || outcome === 'in-doubt';
}

/** What the summary of a run is made of, beside its counts. */
export interface Summary {
  /** The campaign as it was sent; null where that is not known any more. */
  readonly campaign: Campaign | null;
  /** The report as it is now, with these deliveries. */
  readonly reportOf: (deliveries: readonly DeliveryCount[]) => Report;
  /** Without delivery reports and replies. */
  readonly plain: () => Report;
  readonly options: ReportOptions;
}

/** Where it is shown. */
interface Shown {
  readonly colour: { readonly out: boolean };
  readonly width: number;
  readonly tableWidth?: number;
}

export async function openSummary(
  ledger: Ledger,
  run: RunRecord,
  context: Pick<Settled, 'cwd'> & Shown,
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

/** Which recipients of a run are asked for: those that match both. */
export type RowFilter = Pick<OutcomesOptions, 'outcomes' | 'deliveries'>;

/**
 * Outcomes with the delivery reports and replies of each, in list order.
 *
 * @param unmatched - called at the end with the reports that match no recipient, by reason
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

/** All recipients with their delivery reports and replies, counted as they are read. */
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
