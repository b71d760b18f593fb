import type { PriceList } from '../content/price.ts';
import { EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LoadRow, RunIdentity, RunRecord } from '../ledger/records.ts';
import type { Decision } from '../model.ts';
import { type Checked, checkList, listInput } from '../plan/check.ts';
import type { Estimate, Estimator } from '../plan/estimate.ts';
import type { Plan } from '../plan/plan.ts';
import { openReach, type Reached } from '../plan/reach.ts';
import { changedInputs } from '../plan/seal.ts';
import { identityHash } from '../plan/settings.ts';
import { checkHashKey, type Suppressions, suppressionView } from '../plan/suppression.ts';
import { timeView } from '../plan/window.ts';
import { createSeen } from '../recipients/duplicates.ts';
import { hashList, type ListDigest } from '../recipients/read.ts';
import { refuseLate } from './late.ts';
import { winnerOfRun } from './winner.ts';

export interface PrepareOptions {
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly prices: PriceList | null;
  readonly suppressions: Suppressions;
  readonly skipInvalid: boolean;
  readonly amend: boolean;
  readonly retryRejected: boolean;
  /** The variant that everybody gets who is not in the test; null: what the run or the campaign says. */
  readonly winner: string | null;
  readonly late: boolean;
  readonly nowMs: number;
  /** Ends the preparation: nothing is left of it. */
  readonly interrupt: AbortSignal;
}

/** A run that is ready to be started. */
export interface Prepared {
  /** Of the bytes that were looked at: the send pass reads no others. */
  readonly list: ListDigest;
  /** What a first look at the list came to; null where an unfinished run continues with unchanged inputs. */
  readonly estimate: Estimate | null;
  /** Recipients to send to in this start. */
  readonly toDo: number;
  readonly continues: boolean;
  /** Whom other runs reached; null where no rule asks for it. */
  readonly reached: Reached | null;
  /** Makes the rows count. Until then everything can be forgotten without a trace. */
  seal(): RunRecord;
  discard(): void;
}

const LOAD_BATCH = 4000;

/**
 * Brings a run to where it can be started, under its lock: a new run is checked row by row and loaded in the same
 * pass; an unfinished one continues with what the ledger holds, provided that no input changed; with `amend` the new
 * inputs are checked, loaded beside the old list and merged with it.
 *
 * Throws `HandbillError` (exit 2): invalid rows, limits, changed inputs, too late; (exit 130): interrupted.
 */
export async function prepareRun(options: PrepareOptions): Promise<Prepared> {
  const { ledger, plan } = options;
  checkHashKey(options.suppressions, ledger);
  const existing = ledger.findRun(identityOf(plan));
  if (existing === null) return load(options, null);
  refusePurged(existing);
  if (existing.identityHash !== identityHash(plan.campaign)) throw refuse(identityChanged(plan));
  await refuseLate(options, existing);
  const list = await hashList(plan.campaign.recipients);
  // J1
  const changes = changedInputs(existing.inputs, [...plan.inputs, listInput(plan, list)], 'this run began');
  if (changes.length === 0) return continued(options, existing, list);
  if (options.amend) return load(options, existing);
  const hint = 'Undo the change, or add --amend: final outcomes stay, everybody else gets the new content.';
  throw refuse(...changes.map((change) => ({ ...change, hint })));
}

export function identityOf(plan: Plan): RunIdentity {
  return { environment: plan.environment.name, campaign: plan.campaign.name, occurrence: plan.occurrence };
}

async function continued(options: PrepareOptions, run: RunRecord, list: ListDigest): Promise<Prepared> {
  const { ledger, plan, nowMs } = options;
  const open = new Set(['pending', 'failed', 'deferred', ...(options.retryRejected ? ['rejected'] : [])]);
  const waits = winnerOf(options, run) === null;
  const toDo = ledger
    .counts(run)
    .filter(({ outcome, reason }) => open.has(outcome) && !(waits && reason === 'winner-undecided'))
    .reduce((sum, { count }) => sum + count, 0);
  return {
    list,
    estimate: null,
    toDo,
    continues: true,
    reached: toDo === 0 ? null : await openReach(plan, ledger, nowMs),
    seal: () => {
      if (options.retryRejected) ledger.retryRejected(run);
      return withWinner(options, run);
    },
    discard: () => undefined,
  };
}

/** Checks the whole list and loads it as it goes; refused or not confirmed, it leaves nothing behind. */
async function load(options: PrepareOptions, existing: RunRecord | null): Promise<Prepared> {
  const { ledger, plan, nowMs } = options;
  const reached = await openReach(plan, ledger, nowMs);
  const { channel, isCounted } = plan.campaign;
  const draft = ledger.beginLoad(identityOf(plan), { channel, nowMs, isCounted });
  const checked = await checkAndLoad(options, draft, existing, reached).catch((error: unknown) => {
    ledger.discardLoad(draft);
    throw error;
  });
  const { inputs, list, estimate } = checked;
  return {
    list,
    estimate,
    toDo: estimate.send,
    continues: existing !== null,
    reached,
    seal: () => {
      if (existing === null) {
        return withWinner(
          options,
          ledger.sealLoad(draft, { inputs, identityHash: identityHash(plan.campaign), nowMs }),
        );
      }
      const run = ledger.amend(existing, draft, { inputs, nowMs });
      if (options.retryRejected) ledger.retryRejected(run);
      return withWinner(options, run);
    },
    discard: () => ledger.discardLoad(draft),
  };
}

/** What somebody said last counts: now, at an earlier start, in the campaign. */
function winnerOf({ plan, winner }: PrepareOptions, run: RunRecord | null): string | null {
  return winner ?? winnerOfRun(plan, run) ?? plan.campaign.split.winner;
}

function withWinner({ ledger, winner }: PrepareOptions, run: RunRecord): RunRecord {
  return winner === null || winner === run.winner ? run : ledger.setWinner(run, winner);
}

async function checkAndLoad(
  options: PrepareOptions,
  draft: RunRecord,
  existing: RunRecord | null,
  reached: Reached | null,
): Promise<Checked> {
  const { ledger, plan, prices, suppressions, nowMs } = options;
  const seen = createSeen();
  let rows: LoadRow[] = [];
  const flush = (): void => {
    if (rows.length > 0) ledger.load(draft, rows);
    rows = [];
  };
  const view = {
    isNew: (key: string) => seen.add(key),
    ...suppressionView(suppressions, ledger, () => nowMs),
    ...reached?.view(() => nowMs),
    ...(await timeView(plan, nowMs, existing?.startedAtMs ?? nowMs)),
    skipInvalid: options.skipInvalid,
    winner: winnerOf(options, existing),
  };
  const checked = await checkList(plan, view, prices, (batch, estimator) => {
    if (options.interrupt.aborted) throw interruptedEarly();
    for (const decision of batch) rows.push(loadRow(decision, estimator));
    if (rows.length >= LOAD_BATCH) flush();
  });
  flush();
  return checked;
}

/** I2, before the first request: there is nothing to finish. */
export function interruptedEarly(): HandbillError {
  return new HandbillError(EXIT.interrupted, [
    problem('interrupted', 'Nothing was sent: the command was told to stop before it began.'),
  ]);
}

function loadRow(decision: Decision, estimator: Estimator): LoadRow {
  const { row, line, key, to } = decision;
  if (decision.decision === 'send') {
    const { sms, variant } = decision;
    const costMicros = estimator.costOf(decision);
    const facts = { parts: sms?.parts ?? null, encoding: sms?.encoding ?? null, costMicros, variant };
    return { row, line, key, to, state: 'pending', reason: null, ...facts };
  }
  if (decision.decision === 'defer') {
    const facts = { parts: null, encoding: null, costMicros: null, variant: null };
    return { row, line, key, to, state: 'deferred', reason: decision.reason, ...facts };
  }
  const reason = decision.decision === 'done' ? null : decision.reason;
  return { row, line, key, to, state: 'skipped', reason, parts: null, encoding: null, costMicros: null, variant: null };
}

/**
 * Refuses a run out of which personal data was taken: whoever was sent to would look new.
 *
 * @throws HandbillError exit 2
 */
export function refusePurged(run: RunRecord): void {
  if (run.purgedAtMs === null) return;
  const day = new Date(run.purgedAtMs).toISOString().slice(0, 10);
  throw refuse(
    problem('run-purged', `This occurrence (${run.occurrence}) was purged on ${day}: its recipients are not known.`, {
      hint: 'Nobody of it could be sent to at most once any more. Use another --occurrence for a new run.',
    }),
  );
}

function identityChanged(plan: Plan) {
  return problem('identity-changed', '`key`, `to` or `defaultCountry` changed since this run began.', {
    at: { file: plan.campaign.file },
    hint: 'Everybody would look new, and earlier recipients would be sent to twice. Undo it, or use another --occurrence.',
  });
}
