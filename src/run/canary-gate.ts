import type { LegCount } from '../ledger/records.ts';
import type { CanarySteps } from './canary.ts';
import type { ReportVerdict } from './canary-reports.ts';
import type { Progress } from './progress.ts';
import type { Stop } from './stop.ts';
import type { Timers } from './timers.ts';

/** A pause that a start waits for by itself; a longer one is left to the next start, or to `--wait`. */
export const STAYS_MS = 15 * 60_000;

/** How often what came back is looked at, at least; where a look takes long, less often. */
const LOOK_MS = 250;
const LOOK_SHARE = 20;

/** Told that nothing is sent before an instant, in ms since 1970; with `reports`, that it may be earlier. */
export type OnWait = (untilMs: number, why?: 'reports') => void;

export interface GateContext {
  readonly steps: CanarySteps;
  readonly pauseMs: number;
  /** When somebody was last sent to in an earlier start, in ms since 1970; null: nobody was. */
  readonly lastClaimMs: number | null;
  /** Waits for a long pause as well. */
  readonly stays: boolean;
  readonly progress: Pick<Progress, 'figures' | 'opens'>;
  readonly stop: Pick<Stop, 'shut'>;
  /** Called where a pause is waited for that a start without `stays` would not wait for, and where reports are. */
  readonly onWait?: OnWait | undefined;
  /**
   * Asked when nothing is in flight: what became of everybody, as the ledger holds it. Default: as this start knows.
   */
  readonly recount?: () => Promise<readonly LegCount[]>;
  /** What came back; null where the gate does not ask for it. */
  readonly reports?: GateReports | null;
  readonly now: () => number;
  readonly timers: Pick<Timers, 'sleep'> & Partial<Pick<Timers, 'monotonicMs'>>;
  readonly stopped: AbortSignal;
}

export interface GateReports {
  /** How long they are waited for after the pause, in ms. */
  readonly waitMs: number;
  judge(isOver: boolean): ReportVerdict;
}

/** A2: lets recipients through, step by step. */
export interface Gate {
  /** There is room for somebody before the next gate. */
  isOpen(): boolean;
  /** There are no more gates. */
  isWide(): boolean;
  put(recipients: number): void;
  /**
   * At a gate, when nothing is in flight: waits for the pause, and for reports, and judges. False where whoever is left
   * is not to be sent to in this start: the gate is shut and the run halts, the pause is a long one, or the run was
   * stopped.
   */
  turn(): Promise<boolean>;
}

export function createGate(context: GateContext): Gate {
  const { steps, stopped, progress, now, reports = null, recount } = context;
  let isFirst = true;
  /** The pause began when somebody was last sent to: in this start just now. */
  const pauseEnds = (): number => {
    const began = progress.figures.posted === 0 && isFirst ? context.lastClaimMs : null;
    return (began ?? now()) + context.pauseMs;
  };
  const waitUntil = async (shownMs: number, untilMs: number): Promise<void> => {
    progress.figures.waits = { why: 'canary', untilMs: shownMs };
    if (untilMs > now()) await context.timers.sleep(untilMs - now(), stopped);
    progress.figures.waits = null;
  };
  const settle = async (): Promise<void> => {
    if (recount === undefined) steps.settle();
    else steps.settle(await recount());
  };
  /** Everything that the gate asks for, as far as it is known. */
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
   * After the pause: until what came back decides, or as long as the gate waits for it. A start stays for so long as
   * for a pause; the ones after it look once, and go on when it is decided.
   */
  const reported = async (pausedMs: number, waitMs: number): Promise<boolean> => {
    const untilMs = pausedMs + waitMs;
    for (let looks = 0; ; looks += 1) {
      const beganMs = context.timers.monotonicMs?.() ?? 0;
      await settle();
      const verdict = look(now() >= untilMs);
      if (verdict === 'open') return true;
      if (verdict !== 'waits') return shutBy(verdict);
      if (!context.stays && now() - pausedMs >= STAYS_MS) {
        progress.opens(untilMs);
        return false;
      }
      if (looks === 0) context.onWait?.(untilMs, 'reports');
      const tookMs = (context.timers.monotonicMs?.() ?? 0) - beganMs;
      await waitUntil(untilMs, Math.min(untilMs, now() + Math.max(LOOK_MS, LOOK_SHARE * tookMs)));
      if (stopped.aborted) return false;
    }
  };
  return {
    isOpen: () => steps.room() > 0,
    isWide: () => steps.room() === Number.POSITIVE_INFINITY,
    put: (recipients) => steps.put(recipients),
    async turn() {
      if (stopped.aborted) return false;
      await settle();
      // A rule left out some of the step: others take their places.
      if (stopped.aborted || steps.room() > 0) return !stopped.aborted;
      const verdict = look(false);
      if (typeof verdict !== 'string') return shutBy(verdict);
      const untilMs = pauseEnds();
      isFirst = false;
      if (untilMs - now() > STAYS_MS && !context.stays) {
        progress.opens(untilMs);
        return false;
      }
      if (untilMs - now() > STAYS_MS) context.onWait?.(untilMs);
      await waitUntil(untilMs, untilMs);
      if (stopped.aborted) return false;
      if (reports !== null && !(await reported(untilMs, reports.waitMs))) return false;
      steps.pass();
      return true;
    },
  };
}
