import { setImmediate as turn } from 'node:timers/promises';
import type { Channel, Delivery, EarlierMessage, LegOutcome, Outcome, OutcomeState, Report } from '../../model.ts';
import { type ProjectOptions, settle } from './options.ts';

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
  /** What the API said of a refusal; text from outside, never trusted. */
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
  /** Messages to addresses that were corrected since, the first one first; absent where there are none. */
  readonly earlier?: readonly EarlierMessage[];
}

/**
 * `handbill runs`: the summaries of all runs in the ledger, the one started last first; none where nothing was ever sent.
 *
 * @throws HandbillError exit 2 (a project file that is wrong), 7 (ledger)
 */
export async function listRuns(options: ProjectOptions = {}): Promise<readonly Report[]> {
  const settled = settle(options);
  const [{ projectHere }, { openExistingLedger }, runs] = await Promise.all([
    import('../project-ledger.ts'),
    import('../../ledger/open.ts'),
    import('../runs.ts'),
  ]);
  const { project } = await projectHere(settled, settled.ledger);
  const ledger = openExistingLedger(project.ledger, { nowMs: settled.now() });
  try {
    return ledger === null ? [] : runs.listRuns(ledger);
  } finally {
    ledger?.close();
  }
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
    const [{ sentCampaign }, { cameBack, countDeliveries }, { summarise }] = await Promise.all([
      import('../runs.ts'),
      import('../../run/deliveries.ts'),
      import('../../run/summary.ts'),
    ]);
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
  const { outcomes: states, deliveries } = options;
  const { ledger, found } = await openRun(run, settle(options));
  try {
    const [{ rowsOf }, { createReferences }] = await Promise.all([
      import('../report.ts'),
      import('../../plan/reference.ts'),
    ]);
    const referenceOf = createReferences(found);
    const filter = {
      ...(states === undefined ? {} : { outcomes: states }),
      ...(deliveries === undefined ? {} : { deliveries }),
    };
    for (const batch of rowsOf(ledger, found, filter)) {
      for (const outcome of batch) yield toOutcome(outcome, referenceOf);
      // Reading is synchronous: others of this process have their turn between two batches.
      await turn();
    }
  } finally {
    ledger.close();
  }
}

/** A run with its open ledger, once it was looked for what replies answer. */
async function openRun(run: string, settled: ReturnType<typeof settle>) {
  const [{ projectHere, ledgerHere }, { joinRepliesOf }, { findRun }] = await Promise.all([
    import('../project-ledger.ts'),
    import('../join-replies.ts'),
    import('../runs.ts'),
  ]);
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

type ReferenceOf = (key: string, channel: Channel, resend?: number) => string;

function toOutcome(outcome: Outcome, referenceOf: ReferenceOf): RecipientOutcome {
  const { line, key, variant, legs, listTo, earlier } = outcome;
  const corrected = { ...(listTo === undefined ? {} : { listTo }), ...(earlier === undefined ? {} : { earlier }) };
  const last = { line, key, variant, ...toLeg(outcome, key, referenceOf), ...corrected };
  return legs === undefined ? last : { ...last, legs: legs.map((leg) => toLeg(leg, key, referenceOf)) };
}

function toLeg(leg: LegOutcome, key: string | null, referenceOf: ReferenceOf): LegResult {
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
