import { type Diagnostic, EXIT, HandbillError, problem, warning } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Pause } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import { pauseText, resumeHint } from '../report/pause-words.ts';
import type { Stop } from './stop.ts';
import type { Timers } from './timers.ts';

/** For a start that waits for the API, a window or a gate of a canary, and claims nothing that could be refused. */
export const PAUSE_LOOK_MS = 500;

interface PauseWatch {
  readonly ledger: Ledger;
  readonly run: RunRecord;
  readonly stop: Pick<Stop, 'paused'>;
  readonly timers: Timers;
  readonly everyMs: number;
  /** The claims themselves check pauses. */
  readonly isClaiming: () => boolean;
}

/** Halts a start that a person pauses, also while it waits (failures.md, A6), until the result is called. */
export function watchPauses(
  { ledger, run, stop, timers, everyMs, isClaiming }: PauseWatch,
  stopped: AbortSignal,
): () => void {
  const ended = new AbortController();
  const look = (): void => {
    const pause = ledger.pauseOf(run);
    if (pause !== null) stop.paused(pause);
  };
  const watch = async (): Promise<void> => {
    const over = AbortSignal.any([stopped, ended.signal]);
    while (!over.aborted) {
      await timers.sleep(everyMs, over);
      if (!over.aborted && !isClaiming()) look();
    }
  };
  if (!stopped.aborted) look();
  // A ledger that cannot be read ends the run at its next commit.
  watch().catch(() => undefined);
  return () => ended.abort();
}

/**
 * Nothing begins while a person has paused the environment or the campaign: the run stays as it is (failures.md, A6).
 * @throws HandbillError exit 5
 */
export function refuseWhilePaused(
  ledger: Ledger,
  { campaign, environment }: Pick<Plan, 'campaign' | 'environment'>,
): void {
  const pause = ledger.pauseOf({ environment: environment.identity, campaign: campaign.id });
  if (pause === null) return;
  throw new HandbillError(EXIT.halted, [problem('paused', pauseText(pause), { hint: resumeHint(pause) })]);
}

/** For commands that do not send: `send` would not do what they show. Empty if nothing is paused. */
export function pausedWarning(pause: Pause | null | undefined): readonly Diagnostic[] {
  if (pause === null || pause === undefined) return [];
  return [warning('paused', `Nothing is sent at the moment. ${pauseText(pause)}`, { hint: resumeHint(pause) })];
}
