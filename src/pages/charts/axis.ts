import { type ScaleTime, scaleUtc } from 'd3-scale';
import { type Html, html } from '../../util/html.ts';
import { textWidth } from './text-fit.ts';

/** Size of the figures on axes, in pixels. */
export const TICK_PX = 11;

export interface Tick {
  /** Across in percent, or down in pixels. */
  readonly at: number;
  readonly label: string;
}

/** For attributes: two decimals of a percent are less than a pixel. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Ticks by the number of them that is asked for: fewer until their labels stand apart, wherever the chart is shown. */
export function fittingTicks(ticksOf: (count: number) => readonly Tick[], widthPx: number): readonly Tick[] {
  for (let count = 6; count > 1; count--) {
    const ticks = ticksOf(count);
    if (ticks.length <= 6 && fits(ticks, widthPx)) return ticks;
  }
  const first = ticksOf(2)[0];
  return first === undefined ? [] : [first];
}

function fits(ticks: readonly Tick[], widthPx: number): boolean {
  return ticks.every(({ at, label }, i) => {
    const next = ticks[i + 1];
    if (next === undefined) return true;
    const needed = (textWidth(label, TICK_PX) + textWidth(next.label, TICK_PX)) / 2 + 8;
    return ((next.at - at) / 100) * widthPx >= needed;
  });
}

/** Instants on a scale from 0 to 100, as d3 chooses them, in UTC and as precisely as they differ. */
export function timeTicks(scale: ScaleTime<number, number>, count: number): readonly Tick[] {
  const ticks = scale.ticks(count);
  const [from, to] = scale.domain();
  const spanMs = Number(to) - Number(from);
  const stepMs = ticks.length > 1 ? Number(ticks[1]) - Number(ticks[0]) : spanMs;
  const format = scale.tickFormat(count, specifierOf(stepMs, spanMs));
  return ticks.map((tick) => ({ at: round(scale(tick)), label: format(tick) }));
}

/** d3 would write 9 AM where the rest of the page writes 09:00. */
function specifierOf(stepMs: number, spanMs: number): string {
  if (stepMs >= 27 * DAY_MS) return spanMs > 366 * DAY_MS ? '%b %Y' : '%B';
  if (stepMs >= DAY_MS) return '%-d %b';
  if (spanMs > DAY_MS) return '%-d %b %H:%M';
  if (stepMs >= 60_000) return '%H:%M';
  return stepMs >= 1_000 ? '%H:%M:%S' : '%S.%L s';
}

const DAY_MS = 86_400_000;

/** A scale of instants from 0 to 100. */
export function timeScale(fromMs: number, toMs: number): ScaleTime<number, number> {
  return scaleUtc()
    .domain([fromMs, toMs > fromMs ? toMs : fromMs + 1_000])
    .range([0, 100]);
}

/** The labels below a plot, with a small line above each. */
export function bottomAxis(ticks: readonly Tick[], top: number): Html {
  const drawn = ticks.map(
    ({ at, label }) =>
      html`<line class="tick" x1="${at}%" x2="${at}%" y1="${top}" y2="${top + 4}"/><text class="figure" x="${at}%" y="${top + 16}" text-anchor="middle">${label}</text>`,
  );
  return html`<line class="axis" x1="0" x2="100%" y1="${top}" y2="${top}"/>${drawn}
`;
}

/** Lines across a plot with their figures on the left of it. */
export function leftAxis(ticks: readonly Tick[]): Html {
  const drawn = ticks.map(
    ({ at, label }) =>
      html`<line class="grid" x1="0" x2="100%" y1="${at}" y2="${at}"/><text class="figure" x="-8" y="${at + 4}" text-anchor="end">${label}</text>`,
  );
  return html`${drawn}
`;
}

/** The figures of a linear or logarithmic scale as ticks: whole numbers in thousands are short. */
export function numberTicks(
  scale: {
    (value: number): number;
    ticks(count: number): number[];
    tickFormat(count: number, specifier?: string): (value: number) => string;
  },
  count: number,
): readonly Tick[] {
  const ticks = scale.ticks(count);
  const format = Math.max(...ticks) >= 10_000 ? scale.tickFormat(count, '~s') : scale.tickFormat(count);
  return ticks.map((tick) => ({ at: round(scale(tick)), label: tick === 0 ? '0' : format(tick) }));
}
