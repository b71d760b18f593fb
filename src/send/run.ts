import { HandbillError } from '../errors.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { PendingRow, RunRecord } from '../ledger/records.ts';
import type { RunState, StepCount } from '../model.ts';
import { standInOf } from '../plan/elsewhere.ts';
import type { Api } from './api.ts';
import { asksReports, createCanary, createGate, type Gate, judgeReports } from './canary.ts';
import {
  countUnreached,
  joinReplies,
  resolveByReports,
  returnedIn,
  unreachedRows,
  withUnreached,
} from './deliveries.ts';
import { createFirstPendingRows, createPendingRows, feed } from './producer.ts';
import { addFigures, answersIn, firstOpeningMs, type Progress, stateAfter, sumOf } from './progress.ts';
import type { Sharing } from './sharing.ts';
import type { PreparedStart } from './start.ts';
import { inputHalt, ledgerHalt } from './stop.ts';
import { TIMERS } from './timers.ts';
import { findWinner, winnerIn } from './winner.ts';
import { openWork, type Work } from './work.ts';

/** One pass of a start, which opens its connections anew. */
export interface Pass {
  readonly run: RunRecord;
  /** Recipients of this pass; null: all. */
  readonly limit: number | null;
  /** Requests of this start in the passes before; null: it is the first. */
  readonly posted: number | null;
}

export type RunEnd = Awaited<ReturnType<typeof sendRun>>;

/**
 * One pass of a start, under the lock of its run: sends to all pending recipients, in list order, and records the
 * outcomes. Feeds p-limit with back-pressure from the same stream of decisions that preview prints; slow start sets its
 * concurrency.
 * @param sharing - null: this process sends the run alone
 */
export async function sendRun(
  start: PreparedStart,
  { run: begun, limit, posted: postedBefore }: Pass,
  api: Pick<Api, 'endpoint' | 'wire' | 'secrets'>,
  sharing: Sharing | null = null,
) {
  const { plan, ledger, now, timers = TIMERS, memory = null, onEvent } = start;
  const { run, recovered } = ledger.start(begun, now(), start.commit, standInOf(plan.environment));
  // Recipients in doubt after a kill may have a delivery report since.
  resolveByReports(ledger, now());
  const loaded = postedBefore === null ? (start.loaded ?? null) : null;
  // Reports may have come in since the pass before.
  const unreached = postedBefore === null ? (start.unreached ?? 0) : countUnreached(ledger, run, plan.campaign, now());
  // If the list was just loaded, no recipient was sent to; a canary needs the number of recipients.
  const isKnown = loaded !== null && plan.campaign.send.canary === null;
  const before = isKnown ? [] : ledger.steps(run);
  const began = timers.monotonicMs();
  const waitsUntilMs = limitedUntilMs(begun, now());
  const part = sharing?.join(run, answersIn(before), waitsUntilMs !== null) ?? null;
  const remembered = memory?.of(run, ledger) ?? null;
  const work = await openWork(start, run, api, answersIn(before), remembered, part?.shared ?? null);
  const { progress, groupCommit, stop } = work;

  const pending = (after: number, count: number) => ledger.pending(run, after, count);
  const isWaiting = waitingRows(waitsUntilMs, progress, part !== null);
  const pendingRows = () =>
    createPendingRows(
      unreached > 0 ? withUnreached(pending, unreachedRows(ledger, run, plan.campaign, now())) : pending,
      isWaiting,
    );
  const isAnyLeft = (): boolean => pending(-1, 1).length > 0 || unreached > 0;
  progress.figures.toDo = loaded?.size ?? sumOf(before, 'pending') + unreached;
  onEvent?.({ kind: 'sending', figures: part?.figures(progress.figures) ?? progress.figures });
  const gate = createCanaryGate(work, before);
  const first = loaded === null ? pendingRows : () => createFirstPendingRows(loaded);
  if (part === null) await feed({ pendingRows: first(), limit, gate }, work);
  else await part.feed(work, { pendingRows, isAnyLeft, limit, gate }).catch((error: unknown) => work.fail(error));
  await groupCommit.flush();
  await part?.rest(work);
  if (!work.stopped.aborted) stop.ended();
  if (remembered !== null) {
    remembered.unwritten.push(...groupCommit.unwritten);
    remembered.posted += progress.figures.posted;
  }
  const { trouble } = work;
  // A report may have come in before the recipient in doubt that it resolves was recorded (failures.md, K1).
  if (groupCommit.failure === null) resolveByReports(ledger, now());

  const all = part?.sum(progress) ?? progress;
  const { posted } = all.figures;
  if (groupCommit.failure === null && all.figures.finished.deferred > 0) noteWinnerTime(start, run, all);
  let ledgerError = groupCommit.failure ?? (trouble instanceof LedgerError ? trouble : null);
  // A changed input is refused before the first request and halts later: only hashed bytes may be sent (failures.md,
  // J2).
  const hasPosted = posted + (postedBefore ?? 0) > 0;
  const changed = trouble instanceof HandbillError && ledgerError === null && hasPosted ? inputHalt(trouble) : null;
  work.end();
  const conclude = () => {
    const halt = ledgerError === null ? (changed ?? stop.halt ?? part?.halt ?? null) : ledgerHalt(ledgerError);
    const state = stateAfter(ledger, run, halt, start.interrupt.aborted);
    const figures = addFigures(
      remembered?.figures ?? begun.figures,
      all,
      timers.monotonicMs() - began,
      plan.environment.url,
    );
    if (remembered !== null) remembered.figures = ledgerError === null ? null : figures;
    // In any case this start has ended, and its work is recorded.
    const isDisplaced = ledgerError instanceof LedgerError && ledgerError.kind === 'displaced';
    const ended =
      ledgerError === null || isDisplaced ? ledger.finish(run, { state, halt, figures, nowMs: now() }) : run;
    return { run: ended, state: state as RunState, halt };
  };
  let end = conclude();
  // After the last commit: the next start does not read a file that its name no longer leads to.
  const lost = ledgerError === null ? ledger.displacement('last') : null;
  if (lost !== null) {
    ledgerError = lost;
    end = conclude();
  }
  if (trouble !== null && ledgerError === null && changed === null) throw trouble;
  return {
    ...end,
    recovered,
    posted,
    /** When the first recipient that waits for a window or a pause may be sent to, in ms since 1970; null: none waits. */
    opensAtMs: firstOpeningMs(all.figures),
    /** For a progress line: those of this start. */
    figures: all.figures,
    /** The ledger could not be written: exit status 7. */
    ledgerError: ledgerError as Error | null,
  };
}

function limitedUntilMs({ figures }: RunRecord, nowMs: number): number | null {
  const untilMs = figures?.['limitedUntilMs'];
  return typeof untilMs === 'number' && untilMs > nowMs ? untilMs : null;
}

/**
 * Recipients that the API was too busy for wait until the time that it gave. A shared start reads rows more than once:
 * there, those of this start wait as well (`forget` of the worker store).
 */
function waitingRows(
  untilMs: number | null,
  progress: Pick<Progress, 'limited'>,
  isShared: boolean,
): ((row: PendingRow) => boolean) | undefined {
  if (untilMs === null && !isShared) return undefined;
  return ({ isLimited }) => {
    if (isLimited === true && untilMs !== null) progress.limited(untilMs, 0);
    return isLimited === true;
  };
}

/** Recipients that wait for the winner of a test wait until it is found. */
function noteWinnerTime({ ledger, plan, now }: PreparedStart, run: RunRecord, { figures, opens }: Progress): void {
  const state = findWinner(ledger, plan, run, now());
  // Without a time to wait, the next start finds it.
  if (state.kind === 'waits') figures.winnerAtMs = state.untilMs;
  if (winnerIn(state) !== null) figures.winnerAtMs = now();
  if (figures.winnerAtMs !== undefined) opens(figures.winnerAtMs);
}

function createCanaryGate(work: Work, before: readonly StepCount[]): Gate | null {
  const { start, run, groupCommit, stop, progress, stopped } = work;
  const { plan, ledger, now, timers = TIMERS, onEvent, wait = false } = start;
  const { canary } = plan.campaign.send;
  if (canary === null) return null;
  const asks = asksReports(canary.gate);
  const judge = (isOver: boolean) => judgeReports(canary.gate, returnedIn(ledger, run), isOver);
  return createGate({
    steps: createCanary(canary, before, progress.figures),
    async recount() {
      await groupCommit.written();
      resolveByReports(ledger, now());
      if (asks) joinReplies(ledger, { ...plan.campaign.project.webhook.replies, now });
      return ledger.steps(run);
    },
    reports: asks ? { waitMs: canary.gate.waitMs, judge } : null,
    pauseMs: canary.pauseMs,
    lastClaimMs: ledger.lastClaimMs(run),
    stays: wait,
    onEvent,
    progress,
    stop,
    now,
    timers,
    stopped,
  });
}
