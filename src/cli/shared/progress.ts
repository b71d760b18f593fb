import { performance } from 'node:perf_hooks';
import type { CommandContext, Terminal } from '../../operations/context.ts';
import type { Meter } from '../../util/meter.ts';
import { charsFor } from '../../util/terminal-chars.ts';
import { progressText, type Shown } from './progress-text.ts';
import { createScreen, type Screen } from './screen.ts';

export interface Progress {
  stop(): void;
}

export type ProgressContext = Pick<CommandContext, 'env' | 'err' | 'colour' | 'terminal'>;

/** Work that is done sooner shows nothing, and loads nothing for it. */
const FIRST_MS = 500;
const EVERY_MS = 250;
/** Where a line cannot be drawn over, each is a new one. */
const EVERY_PLAIN_MS = 10_000;
/** The rate is that of the last ten seconds, so that a pause does not hang over the time left for ever. */
const SAMPLES = 40;

/** Shows on the terminal, if there is one, how far work has come: read by a timer, so that it costs the work nothing. */
export function startProgress(context: ProgressContext, read: () => Shown): Progress {
  const { terminal } = context;
  if (terminal === undefined) return { stop: () => undefined };
  const rateOf = createRate();
  const line = (): string => {
    const shown = read();
    const perSecond = rateOf(shown, performance.now());
    // The last column stays free: some terminals begin a new line when it is filled.
    const width = Math.max(1, terminal.size().columns - 1);
    return progressText(shown, perSecond, { width, chars: charsFor(context.env, terminal.platform) });
  };
  return context.env['TERM'] === 'dumb'
    ? every(EVERY_PLAIN_MS, EVERY_PLAIN_MS, () => context.err(`${line()}\n`))
    : draw(context, terminal, line);
}

function draw(context: ProgressContext, terminal: Terminal, line: () => string): Progress {
  let drawn: Drawing | null = null;
  let isStopped = false;
  let isLoading = false;
  const load = async (): Promise<void> => {
    const { createLogUpdate } = await import('log-update');
    if (isStopped) return;
    drawn = drawingOn(createScreen(context, terminal, terminal.draw), createLogUpdate);
    terminal.beforePrint(drawn.clear);
  };
  const timer = every(FIRST_MS, EVERY_MS, () => {
    // Without a file descriptor left nothing can be loaded; the work goes on without a line.
    if (drawn !== null) return drawn.show(line());
    if (isLoading) return;
    isLoading = true;
    void load().catch(() => undefined);
  });
  return {
    stop() {
      isStopped = true;
      timer.stop();
      if (drawn === null) return;
      terminal.beforePrint(null);
      drawn.close();
      drawn = null;
    },
  };
}

interface Drawing {
  show(line: string): void;
  /** Takes the line away; the next one is drawn below whatever is printed meanwhile. */
  readonly clear: () => void;
  close(): void;
}

function drawingOn(screen: Screen, create: typeof import('log-update').createLogUpdate): Drawing {
  const update = create(screen as unknown as NodeJS.WritableStream, { showCursor: true });
  return {
    show: (line) => update(line),
    clear: () => update.clear(),
    close() {
      update.clear();
      screen.close();
    },
  };
}

function every(firstMs: number, everyMs: number, run: () => void): Progress {
  let timer = setTimeout(function tick() {
    run();
    timer = setTimeout(tick, everyMs).unref();
  }, firstMs).unref();
  return { stop: () => clearTimeout(timer) };
}

/** Per second, over the last samples; null until there are two. Starts again when other work begins. */
function createRate(): (shown: Pick<Shown, 'done'>, nowMs: number) => number | null {
  let samples: { readonly done: number; readonly atMs: number }[] = [{ done: 0, atMs: performance.now() }];
  return ({ done }, nowMs) => {
    if (done < (samples.at(-1)?.done ?? 0)) samples = [];
    samples.push({ done, atMs: nowMs });
    if (samples.length > SAMPLES) samples.shift();
    const [first] = samples;
    if (first === undefined || nowMs - first.atMs < 1) return null;
    return ((done - first.done) * 1000) / (nowMs - first.atMs);
  };
}

export interface Work {
  readonly label: string;
  readonly unit: 'bytes' | 'rows';
  readonly quiet: boolean;
  /** Results go to a file, so that nobody reads them from stdout meanwhile. */
  readonly toFile?: boolean;
}

/**
 * Does work that counts itself, and shows how far it is. Where stdout is a pipe nothing is drawn unless the results go
 * elsewhere: what reads it may have the screen (`| less`).
 */
export async function withProgress<T>(
  context: ProgressContext,
  { label, unit, quiet, toFile = false }: Work,
  work: (meter: Meter) => Promise<T>,
): Promise<T> {
  const meter: Meter = { done: 0, total: 0 };
  const isShown = !quiet && (toFile || context.terminal?.isPiped === false);
  const progress = isShown ? startProgress(context, () => ({ label, unit, ...meter })) : null;
  try {
    return await work(meter);
  } finally {
    progress?.stop();
  }
}
