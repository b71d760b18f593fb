import type { CanarySteps } from './canary.ts';
import type { Progress } from './progress.ts';
import type { Stop } from './stop.ts';
import type { Timers } from './timers.ts';

/** A pause that a start waits for by itself; a longer one is left to the next start, or to `--wait`. */
export const STAYS_MS = 15 * 60_000;

export interface GateContext {
  readonly steps: CanarySteps;
  readonly pauseMs: number;
  /** When somebody was last sent to in an earlier start, in ms since 1970; null: nobody was. */
  readonly lastClaimMs: number | null;
  /** Waits for a long pause as well. */
  readonly stays: boolean;
  readonly progress: Pick<Progress, 'figures' | 'opens'>;
  readonly stop: Pick<Stop, 'shut'>;
  /** Called where a pause is waited for that a start without `stays` would not wait for. */
  readonly onWait?: ((untilMs: number) => void) | undefined;
  readonly now: () => number;
  readonly timers: Pick<Timers, 'sleep'>;
  readonly stopped: AbortSignal;
}

/** A2: lets recipients through, step by step. */
export interface Gate {
  /** There is room for somebody before the next gate. */
  isOpen(): boolean;
  put(recipients: number): void;
  /**
   * At a gate, when nothing is in flight: waits for the pause and judges. False where whoever is left is not to be
   * sent to in this start: the gate is shut and the run halts, the pause is a long one, or the run was stopped.
   */
  turn(): Promise<boolean>;
}

export function createGate(context: GateContext): Gate {
  const { steps, stopped, progress, now } = context;
  let isFirst = true;
  /** The pause began when somebody was last sent to: in this start just now. */
  const pauseEnds = (): number => {
    const began = progress.figures.posted === 0 && isFirst ? context.lastClaimMs : null;
    return (began ?? now()) + context.pauseMs;
  };
  return {
    isOpen: () => steps.room() > 0,
    put: (recipients) => steps.put(recipients),
    async turn() {
      steps.settle();
      // A rule left out some of the step: others take their places.
      if (stopped.aborted || steps.room() > 0) return !stopped.aborted;
      const shut = steps.judge();
      if (shut !== null) {
        context.stop.shut(shut);
        return false;
      }
      const untilMs = pauseEnds();
      isFirst = false;
      if (untilMs - now() > STAYS_MS && !context.stays) {
        progress.opens(untilMs);
        return false;
      }
      if (untilMs - now() > STAYS_MS) context.onWait?.(untilMs);
      progress.figures.waits = { why: 'canary', untilMs };
      if (untilMs > now()) await context.timers.sleep(untilMs - now(), stopped);
      progress.figures.waits = null;
      if (!stopped.aborted) steps.pass();
      return !stopped.aborted;
    },
  };
}
