import type { CommandContext } from '../../operations/context.ts';
import { number } from '../../report/words.ts';
import type { OnWait } from '../../run/canary-gate.ts';
import type { Figures } from '../../run/progress.ts';
import type { Meter } from '../../util/meter.ts';
import { type Progress, startProgress } from './progress.ts';
import type { Shown } from './progress-text.ts';

/** One line on a terminal that says how far a run is: sent, rate, time left, outcomes so far. Nothing elsewhere. */
export interface ProgressLine {
  /** Told how far the list was checked, before anything is sent. */
  readonly meter: Meter;
  readonly start: (figures: Readonly<Figures>) => void;
  /** Nothing is sent before this instant: said once where there is no line. */
  readonly wait: OnWait;
  /** The line goes, until `start`. */
  stop(): void;
}

export function startProgressLine(
  context: Pick<CommandContext, 'env' | 'err' | 'colour' | 'terminal'>,
  quiet: boolean,
): ProgressLine {
  const isShown = !quiet && context.terminal !== undefined;
  const meter: Meter = { done: 0, total: 0 };
  const show = (read: () => Shown): Progress | null => (isShown ? startProgress(context, read) : null);
  let line = show(() => ({ label: 'Checking', unit: 'bytes', ...meter }));
  return {
    meter,
    start(figures) {
      line?.stop();
      line = show(() => shownOf(figures));
    },
    wait(untilMs, why) {
      if (quiet || isShown) return;
      const until = new Date(untilMs).toISOString();
      if (why === 'reports') context.err(`Waiting for delivery reports, until ${until} at most.\n`);
      else context.err(`Waiting: nothing is sent before ${until}.\n`);
    },
    stop() {
      line?.stop();
      line = null;
    },
  };
}

/** `1,200 of 5,000  (24 %)  350/s  11 s left  accepted 1,190  rejected 10` */
export function shownOf(figures: Readonly<Figures>): Shown {
  const { settled, toDo, waits } = figures;
  const counts = Object.entries(settled).filter(([, count]) => count > 0);
  const done = counts.reduce((sum, [, count]) => sum + count, 0);
  return {
    done,
    total: toDo,
    unit: null,
    ...(waits === null ? {} : { instead: `waits until ${clock(waits.untilMs)} (${waits.why})` }),
    more: counts.map(([name, count]) => `${name} ${number(count)}`),
  };
}

/** Wall time of this machine: whoever looks at the line sits in front of it. */
function clock(epochMs: number): string {
  return new Date(epochMs).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
