import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Canary, CanaryGate, StepCount, Threshold } from '../model.ts';
import { partAtMost, wholePart } from '../util/units.ts';
import { number } from '../util/words.ts';
import { type Returned, returnedIn } from './deliveries.ts';
import type { OnEvent } from './event.ts';
import { type Figures, type Progress, triedIn } from './progress.ts';
import type { Stop } from './stop.ts';
import type { Timers } from './timers.ts';

/** A canary's steps and the decisions of its gates, from the ledger: a start continues where the one before ended. */
export function createCanary(canary: Canary, before: readonly StepCount[], { finished }: Pick<Figures, 'finished'>) {
  const first = answersOf(before);
  let earlier = first.outcomes;
  // This start's figures at the last ledger read. The ledger's counts include them, so subtract them.
  let known = { ...NONE_TRIED };
  const count = (outcome: Tried): number => earlier[outcome] + finished[outcome] - known[outcome];
  const tried = (): number => triedIn(earlier) + triedIn(finished) - triedIn(known);
  const triedBefore = tried();
  const ends = stepEnds(canary.steps, first.meant);
  // A gate that recipients have passed already was open.
  let at = ends.findIndex((end) => end >= triedBefore);
  if (at === -1) at = ends.length;
  let put = triedBefore;
  const { accepted: least } = canary.gate;
  const isEnough = (accepted: number): boolean => least === null || accepted >= wholePart(least, tried());

  return {
    /** Recipients that fit before the gate. */
    room: () => (ends[at] ?? Number.POSITIVE_INFINITY) - put,
    put(recipients: number): void {
      put += recipients;
    },
    /**
     * Called when nothing is in flight: recipients that passed but were skipped by a rule make room again.
     * @param counts - the ledger's current figures, if they were read: doubts may have been resolved meanwhile
     */
    finish(counts?: readonly StepCount[]): void {
      if (counts !== undefined) {
        earlier = answersOf(counts).outcomes;
        const { accepted, rejected, failed, 'in-doubt': doubts } = finished;
        known = { accepted, rejected, failed, 'in-doubt': doubts };
      }
      put = tried();
    },
    /** The gate's decision on all recipients so far: null if it is open, else the figure that shuts it, as a sentence. */
    judge(): string | null {
      const all = tried();
      const accepted = count('accepted');
      if (least === null || isEnough(accepted)) return null;
      const doubts = count('in-doubt');
      const inDoubt = doubts === 0 ? '' : `, ${doubts} in doubt`;
      const share =
        all === 1
          ? `the first recipient was not accepted${inDoubt}`
          : `${percentDown(accepted / all)} of the first ${all} recipients were accepted (${accepted}${inDoubt})`;
      return `${share}; send.canary.gate.accepted asks for ${percentDown(least)}.`;
    },
    /** It is shut, and opens if reports prove that enough of those in doubt have their message. */
    isInDoubt: () => !isEnough(count('accepted')) && isEnough(count('accepted') + count('in-doubt')),
    pass(): void {
      at += 1;
    },
  };
}

type Tried = 'accepted' | 'rejected' | 'failed' | 'in-doubt';

const NONE_TRIED: Readonly<Record<Tried, number>> = { accepted: 0, rejected: 0, failed: 0, 'in-doubt': 0 };

/** Recipients who were tried, by outcome, and how many there are in all. */
function answersOf(counts: readonly StepCount[]) {
  const outcomes = { ...NONE_TRIED };
  let meant = 0;
  for (const { outcome, fellBack, count } of counts) {
    if (fellBack || outcome === 'skipped') continue;
    meant += count;
    if (outcome !== 'pending' && outcome !== 'deferred') outcomes[outcome] += count;
  }
  return { outcomes, meant };
}

/** In recipients, ascending: counts and shares may be mixed; steps that end at the same count become one. */
export function stepEnds(steps: readonly Threshold[], recipients: number): readonly number[] {
  const ends = steps.map((step) => ('count' in step ? step.count : Math.max(1, wholePart(step.share, recipients))));
  return [...new Set(ends)].sort((a, b) => a - b);
}

/** A start waits this long by itself; a longer pause is left to the next start, or to `--wait`. */
export const STAYS_MS = 15 * 60_000;

/** The shortest interval between scans of the delivery reports and replies; slow scans run less often. */
const LOOK_MS = 250;
const LOOK_SHARE = 20;

interface GateContext {
  readonly steps: ReturnType<typeof createCanary>;
  readonly pauseMs: number;
  /** Time of the last message of an earlier start, in ms since 1970; null: none was sent. */
  readonly lastClaimMs: number | null;
  readonly stays: boolean;
  readonly progress: Pick<Progress, 'figures' | 'opens'>;
  readonly stop: Pick<Stop, 'shut'>;
  /** Called for a wait that only `stays` allows, and for a wait for reports. */
  readonly onEvent?: OnEvent | undefined;
  /** Called when nothing is in flight: outcomes of all recipients from the ledger. Default: those of this start. */
  readonly recount?: () => Promise<readonly StepCount[]>;
  /** Null if the gate does not use them. */
  readonly reports?: {
    /** How long to wait for them after the pause. */
    readonly waitMs: number;
    judge(isOver: boolean): ReportVerdict;
  } | null;
  readonly now: () => number;
  readonly timers: Pick<Timers, 'sleep' | 'lateMs'> & Partial<Pick<Timers, 'monotonicMs'>>;
  readonly stopped: AbortSignal;
}

/** Lets recipients through step by step and defers those behind a gate (failures.md, A2). */
export type Gate = ReturnType<typeof createGate>;

export function createGate(context: GateContext) {
  const { steps, stopped, progress, now, reports = null, recount } = context;
  let isFirst = true;
  /** The pause begins with the last message: in this start, just now. */
  const pauseEnds = (): number => {
    const began = progress.figures.posted === 0 && isFirst ? context.lastClaimMs : null;
    return (began ?? now()) + context.pauseMs;
  };
  const waitUntil = async (shownMs: number, untilMs: number): Promise<void> => {
    progress.figures.waits = { why: 'canary', untilMs: shownMs };
    if (untilMs > now()) await context.timers.sleep(untilMs - now(), stopped);
    progress.figures.waits = null;
  };
  const finish = async (): Promise<void> => steps.finish(await recount?.());
  /** Every condition of the gate, as far as it is known. */
  const look = (isOver: boolean): ReportVerdict => {
    const shut = steps.judge();
    if (shut !== null) return reports !== null && !isOver && steps.isInDoubt() ? 'waits' : { shut };
    return reports?.judge(isOver) ?? 'open';
  };
  const shutBy = ({ shut }: { readonly shut: string }): false => {
    context.stop.shut(shut);
    return false;
  };
  /**
   * After the pause: waits until delivery reports and replies decide, or until the gate's time for them is over. A
   * start waits for them as for a pause. Later starts check once, and continue if it is decided.
   */
  const reported = async (pausedMs: number, waitMs: number): Promise<boolean> => {
    const untilMs = pausedMs + waitMs;
    for (let looks = 0; ; looks += 1) {
      const beganMs = context.timers.monotonicMs?.() ?? 0;
      await finish();
      const verdict = look(now() >= untilMs);
      if (verdict === 'open') return true;
      if (verdict !== 'waits') return shutBy(verdict);
      if (!context.stays && now() - pausedMs >= STAYS_MS) {
        progress.opens(untilMs);
        return false;
      }
      if (looks === 0) context.onEvent?.({ kind: 'waits', untilMs, why: 'reports' });
      // In virtual time a scan takes none.
      const tookMs = Math.max(context.timers.lateMs ?? 0, (context.timers.monotonicMs?.() ?? 0) - beganMs);
      await waitUntil(untilMs, Math.min(untilMs, now() + Math.max(LOOK_MS, LOOK_SHARE * tookMs)));
      if (stopped.aborted) return false;
    }
  };
  return {
    isOpen: () => steps.room() > 0,
    isWide: () => steps.room() === Number.POSITIVE_INFINITY,
    put: steps.put,
    /**
     * At a gate, when nothing is in flight: waits for the pause and for reports, then decides. False if the recipients
     * left are not sent to in this start: the run halts, the pause is too long, or the run was stopped.
     */
    async turn(): Promise<boolean> {
      if (stopped.aborted) return false;
      await finish();
      // A rule skipped some of the step: others take their places.
      if (stopped.aborted || steps.room() > 0) return !stopped.aborted;
      const verdict = look(false);
      if (typeof verdict !== 'string') return shutBy(verdict);
      const untilMs = pauseEnds();
      isFirst = false;
      if (untilMs - now() > STAYS_MS && !context.stays) {
        progress.opens(untilMs);
        return false;
      }
      if (untilMs - now() > STAYS_MS) context.onEvent?.({ kind: 'waits', untilMs });
      await waitUntil(untilMs, untilMs);
      if (stopped.aborted) return false;
      if (reports !== null && !(await reported(untilMs, reports.waitMs))) return false;
      steps.pass();
      return true;
    },
  };
}

/** Verdict of reports and replies at a gate: open, not known yet, or the figure that shuts it, as a sentence. */
type ReportVerdict = 'open' | 'waits' | { readonly shut: string };

export function asksReports({ delivered, optedOut }: Pick<CanaryGate, 'delivered' | 'optedOut'>): boolean {
  return delivered !== null || optedOut !== null;
}

/**
 * Decides as soon as later events cannot change it: enough messages have arrived, or too many have ended otherwise.
 * Opt-outs count as of now.
 * @param isOver - the wait is over: a message without a report counts as not delivered
 */
export function judgeReports(gate: CanaryGate, counts: Returned, isOver: boolean): ReportVerdict {
  const { accepted, arrived, ended, optedOut } = counts;
  if (gate.optedOut !== null && optedOut > partAtMost(gate.optedOut, accepted)) {
    const who = `${percentUp(optedOut / accepted)} of the first ${messages(accepted)} opted out (${optedOut})`;
    return { shut: `${who}; send.canary.gate.optedOut allows ${percentDown(gate.optedOut)}.` };
  }
  if (gate.delivered === null) return 'open';
  const least = wholePart(gate.delivered, accepted);
  if (arrived >= least) return 'open';
  const unknown = accepted - arrived - ended;
  if (arrived + unknown >= least && !isOver) return 'waits';
  const others = [
    ...(ended === 0 ? [] : [`${ended} failed`]),
    ...(unknown === 0 ? [] : [`${unknown} without a final report`]),
  ];
  const share = isOver
    ? `${percentDown(arrived / accepted)} of the first ${messages(accepted)} ${accepted === 1 ? 'was' : 'were'} delivered`
    : `at most ${percentDown((arrived + unknown) / accepted)} of the first ${messages(accepted)} can be delivered`;
  const why = `${share} (${[String(arrived), ...others].join(', ')}); send.canary.gate.delivered asks for ${percentDown(gate.delivered)}.`;
  const silent = isOver && arrived + ended === 0 ? ' Nothing was reported: is `handbill listen` running?' : '';
  return { shut: `${why}${silent}` };
}

/** Whether reports and replies decide a gate after its pause, before the recorded latest time. Scans the list. */
export function isDecidedEarly(ledger: Ledger, run: RunRecord, canary: Canary | null, nowMs: number): boolean {
  if (canary === null || !asksReports(canary.gate)) return false;
  const lastMs = ledger.lastClaimMs(run);
  if (lastMs === null || nowMs < lastMs + canary.pauseMs) return false;
  return judgeReports(canary.gate, returnedIn(ledger, run), false) !== 'waits';
}

function messages(accepted: number): string {
  return accepted === 1 ? 'accepted message' : `${accepted} accepted messages`;
}

/** Rounded down, so that a share just below a limit does not read like the limit. */
function percentDown(part: number): string {
  return `${number(Math.floor(part * 1000 + ROUNDING) / 10)}%`;
}

/** Rounded up, for a share just above a limit. */
function percentUp(part: number): string {
  return `${number(Math.ceil(part * 1000 - ROUNDING) / 10)}%`;
}

/** Shares are no exact doubles. */
const ROUNDING = 1e-9;
