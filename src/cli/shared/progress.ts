import { performance } from 'node:perf_hooks';
import type { CommandContext, Terminal } from '../../operations/context.ts';
import { ledgerText } from '../../operations/warnings.ts';
import { createFormats, type Formats, PLAIN, roughly } from '../../report/locale.ts';
import { number } from '../../report/words.ts';
import type { RunEvent } from '../../send/event.ts';
import type { Figures } from '../../send/progress.ts';
import { safe } from '../../util/escape.ts';
import type { Meter } from '../../util/long-work.ts';
import { cut, displayWidth } from '../../util/table.ts';
import { iso } from '../../util/time.ts';
import { createScreen, type Screen } from './screen.ts';
import { charsFor, type TerminalChars } from './terminal-chars.ts';

interface Progress {
  stop(): void;
}

type ProgressContext = Pick<CommandContext, 'env' | 'err' | 'colour' | 'terminal'>;

/** Work that is done sooner shows nothing, and loads nothing for it. */
const FIRST_MS = 500;
const EVERY_MS = 250;
/** Where a line cannot be drawn over, each is a new one. */
const EVERY_PLAIN_MS = 10_000;
/** The rate is that of the last ten seconds, so that an earlier pause does not distort the time left. */
const SAMPLES = 40;

/** Shows on the terminal, if there is one, how far work has come: read by a timer, so that it costs the work nothing. */
function startProgress(context: ProgressContext, read: () => Shown): Progress {
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
  let drawn: ReturnType<typeof drawingOn> | null = null;
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

function drawingOn(screen: Screen, create: typeof import('log-update').createLogUpdate) {
  const update = create(screen as unknown as NodeJS.WritableStream, { showCursor: true });
  return {
    show: (line: string): void => update(line),
    /** Removes the line; the next one is drawn below other output. */
    clear: (): void => update.clear(),
    close(): void {
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

interface Work {
  readonly label: string;
  /** Default: bytes. */
  readonly unit?: 'bytes' | 'rows' | 'hours';
  readonly quiet?: boolean | undefined;
  /** Results go to this file, so stdout is not read meanwhile. */
  readonly output?: string | undefined;
}

/** Shows how far the work is. Draws nothing where stdout is a pipe, whose reader may have the screen (`| less`). */
export async function withProgress<T>(
  context: ProgressContext,
  { label, unit, quiet, output }: Work,
  work: (meter: Meter) => Promise<T>,
): Promise<T> {
  const meter: Meter = { done: 0, total: 0 };
  const isShown = quiet !== true && (output !== undefined || context.terminal?.isPiped === false);
  const progress = isShown ? startProgress(context, () => ({ label, unit: unit ?? 'bytes', ...meter })) : null;
  try {
    return await work(meter);
  } finally {
    progress?.stop();
  }
}

/** One line on a terminal that says how far a run is: sent, rate, time left, outcomes so far. Nothing elsewhere. */
export function startProgressLine(
  context: Pick<CommandContext, 'env' | 'err' | 'colour' | 'terminal'>,
  quiet: boolean,
) {
  const isShown = !quiet && context.terminal !== undefined;
  let line: Progress | null = null;
  let formats = PLAIN;
  /** The line goes, until the next event of a send. */
  const stop = (): void => {
    line?.stop();
    line = null;
  };
  const show = (read: () => Shown): void => {
    stop();
    if (isShown) line = startProgress(context, read);
  };
  return {
    follow(event: RunEvent): void {
      const text = ledgerText(event);
      if (text !== null) stop();
      if (text !== null && !quiet) context.err(safe(text));
      if (event.kind === 'begins')
        show(() => ({ label: 'Checking', unit: 'bytes', done: 0, total: 0, ...event.meter }));
      if (event.kind === 'planned') {
        const { locale, timeZone } = event.plan.campaign.project;
        formats = createFormats(locale, timeZone);
      }
      if (event.kind === 'sending') show(() => shownOf(event.figures, formats));
      if (event.kind !== 'waits' || quiet || isShown) return;
      const until = iso(event.untilMs);
      if (event.why === 'reports') context.err(`Waiting for delivery reports, until ${until} at most.\n`);
      else context.err(`Waiting: nothing is sent before ${until}.\n`);
    },
    stop,
  };
}

/** `1,200 of 5,000  (24%)  350/s  15 s left  1,190 ok  10 no` */
export function shownOf(figures: Readonly<Figures>, { clock }: Pick<Formats, 'clock'>): Shown {
  const { finished, toDo, waits } = figures;
  const counts = Object.entries(finished).filter(([, count]) => count > 0);
  const done = counts.reduce((sum, [, count]) => sum + count, 0);
  return {
    done,
    total: toDo,
    unit: null,
    ...(waits === null ? {} : { instead: `waits until ${clock(waits.untilMs)} (${waits.why})` }),
    more: counts.map(([name, count]) => `${number(count)} ${SHORT[name] ?? name}`),
  };
}

/** Outcomes in so few letters that the line has room for its bar. */
const SHORT: Readonly<Record<string, string>> = {
  accepted: 'ok',
  rejected: 'no',
  skipped: 'left out',
  deferred: 'later',
  'in-doubt': 'in doubt',
};

export interface Shown {
  readonly label?: string;
  readonly done: number;
  /** 0: unknown. */
  readonly total: number;
  /** Bytes are shown in MB; null: what is counted goes without saying. */
  readonly unit: 'bytes' | 'rows' | 'hours' | null;
  readonly instead?: string;
  /** The outcomes so far: `1,190 ok`. */
  readonly more?: readonly string[];
}

/** One part of the line; the lowest rank is the last to go where the terminal is narrow. */
interface Part {
  readonly text: string;
  readonly rank: number;
}

const GAP = 2;
const BAR_LEAST = 10;
const BAR_MOST = 24;
/** From so many columns on, the bar is worth more than outcomes. */
const WIDE = 72;

/**
 * `Checking  ━━━━━━────────  1,200 of 5,000 (24%)  350/s  15 s left  1,190 ok`. A narrow terminal shows the most
 * important parts: the share, the time left, the count, the rate.
 *
 * @param perSecond null if it is not known yet
 * @param width columns of the line
 */
export function progressText(
  shown: Shown,
  perSecond: number | null,
  { width, chars }: { readonly width: number; readonly chars: TerminalChars },
): string {
  const parts = fitting(partsOf(shown, perSecond), shown.total > 0 && width >= WIDE ? width - GAP - BAR_LEAST : width);
  const room = width - lengthOf(parts) - GAP;
  const [first, ...rest] = parts;
  if (first === undefined) return '';
  if (shown.total === 0 || room < BAR_LEAST) return cut(join(parts), width).replace('…', chars.cut);
  const cells = Math.min(room, BAR_MOST);
  const filled = Math.min(cells, Math.floor((cells * shown.done) / shown.total));
  const bar: Part = { text: chars.done.repeat(filled) + chars.left.repeat(cells - filled), rank: 0 };
  return join(shown.label === undefined ? [bar, ...parts] : [first, bar, ...rest]);
}

function partsOf(shown: Shown, perSecond: number | null): readonly Part[] {
  const { label, done, total, unit, instead, more = [] } = shown;
  if (total === 0 && done === 0 && label !== undefined) return [{ text: label, rank: 1 }];
  const share = total === 0 ? null : `${Math.min(100, Math.floor((100 * done) / total))}%`;
  const of = unit === 'bytes' ? `${megabytes(done)} of ${megabytes(total)} MB` : `${number(done)} of ${number(total)}`;
  const amount = total === 0 ? amountText(done, unit) : of;
  // A list of some kilobytes: its share says it all.
  const isSmall = unit === 'bytes' && total > 0 && total < 1e6;
  const isKnown = perSecond !== null && perSecond > 0;
  const rest = isKnown ? `${roughly((Math.max(0, total - done) * 1000) / perSecond)} left` : 'starting';
  const left = instead ?? (total === 0 ? null : rest);
  const parts: (Part | null)[] = [
    label === undefined ? null : { text: label, rank: 5 },
    isSmall ? null : { text: amount, rank: total === 0 ? 1 : 3 },
    share === null ? null : { text: `(${share})`, rank: 1 },
    perSecond === null || isSmall ? null : { text: `${amountText(perSecond, unit)}/s`, rank: 4 },
    left === null ? null : { text: left, rank: 2 },
    ...more.map((text, i): Part => ({ text, rank: 6 + i })),
  ];
  return parts.filter((part) => part !== null);
}

/** The parts that fit, in their order, without those of the highest ranks. */
function fitting(parts: readonly Part[], width: number): readonly Part[] {
  let kept = parts;
  while (kept.length > 1 && lengthOf(kept) > width) {
    const worst = Math.max(...kept.map(({ rank }) => rank));
    kept = kept.filter(({ rank }) => rank !== worst);
  }
  return kept;
}

function lengthOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { text }) => sum + displayWidth(text), GAP * (parts.length - 1));
}

function join(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join(' '.repeat(GAP));
}

function amountText(amount: number, unit: Shown['unit']): string {
  if (unit === 'bytes') return `${megabytes(amount)} MB`;
  return unit === null ? number(Math.round(amount)) : `${number(Math.round(amount))} ${unit}`;
}

function megabytes(bytes: number): string {
  return bytes < 9_950_000 ? (bytes / 1e6).toFixed(1) : number(Math.round(bytes / 1e6));
}
