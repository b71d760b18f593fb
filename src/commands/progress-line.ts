import { performance } from 'node:perf_hooks';
import { duration, number } from '../report/words.ts';
import type { Figures } from '../run/progress.ts';
import type { CommandContext } from './context.ts';

/** One line on a terminal that says how far a run is: sent, rate, time left, outcomes so far. Nothing elsewhere. */
export interface ProgressLine {
  readonly start: (figures: Readonly<Figures>) => void;
  /** Nothing is sent before this instant: said once where there is no line. */
  readonly wait: (untilMs: number) => void;
  stop(): void;
}

const EVERY_MS = 200;

export function startProgressLine(context: CommandContext, quiet: boolean): ProgressLine {
  let timer: NodeJS.Timeout | null = null;
  const isShown = !quiet && (context.interactive || context.colour.err);
  return {
    start(figures) {
      if (!isShown) return;
      if (timer !== null) clearInterval(timer);
      const began = performance.now();
      const draw = (): void =>
        context.err(`\r\u001b[K${line(figures, performance.now() - began).slice(0, context.width - 1)}`);
      timer = setInterval(draw, EVERY_MS);
      timer.unref();
    },
    wait(untilMs) {
      if (quiet || isShown) return;
      context.err(`Waiting: nothing is sent before ${new Date(untilMs).toISOString()}.\n`);
    },
    stop() {
      if (timer === null) return;
      clearInterval(timer);
      timer = null;
      context.err('\r\u001b[K');
    },
  };
}

/** `1,200 of 5,000 (24 %)  350/s  11 s left  accepted 1,190  rejected 10` */
export function line(figures: Readonly<Figures>, elapsedMs: number): string {
  const { settled, toDo } = figures;
  const done = Object.values(settled).reduce((sum, count) => sum + count, 0);
  const perSecond = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0;
  const share = toDo === 0 ? 100 : Math.floor((100 * done) / toDo);
  const left = perSecond > 0 ? `${duration(((toDo - done) * 1000) / perSecond)} left` : 'starting';
  const next = figures.waits === null ? left : `waits until ${clock(figures.waits.untilMs)} (${figures.waits.why})`;
  const outcomes = Object.entries(settled)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${number(count)}`);
  return [
    `${number(done)} of ${number(toDo)} (${share} %)`,
    `${number(Math.round(perSecond))}/s`,
    next,
    ...outcomes,
  ].join('  ');
}

/** Wall time of this machine: whoever looks at the line sits in front of it. */
function clock(epochMs: number): string {
  return new Date(epochMs).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
