import { type ScaleTime, scaleLinear, scaleUtc } from 'd3-scale';
import { line as lineOf } from 'd3-shape';
import type { Formats } from '../../report/locale.ts';
import { type Html, html } from '../../util/escape.ts';
import { DAY_MS } from '../../util/time.ts';
import { instantOfWall, wallMs } from '../../util/wall-time.ts';
import { figureColumns, table } from '../kit.ts';
import { figure, inlineMark, mark, round, type Tone, toneClass } from './chart.ts';

/**
 * A plot has no viewBox: positions across are in percent and positions down in pixels, so that it fills any width while
 * its text keeps its size. Labels fit the narrowest plot, on a screen of 320 px; from WIDE_PX on more of them fit.
 */
const NARROW_PX = 208;
/** The style of charts has the same width (28rem), of which figures on the left take 64 px. */
const WIDE_PX = 384;
const HEIGHT_PX = 220;
/** Below the plot. Fonts differ by 4 px in the height of a line of 12 px: this fits the tallest. */
const AXIS_PX = 28;
const TOP_PX = 26;
const BOTTOM_PX = HEIGHT_PX - AXIS_PX;
/** Rows of the folded table: use a machine format for more. */
const MOST_ROWS = 300;

interface Tick {
  /** Across in percent. */
  readonly at: number;
  readonly label: string;
}

/** Six ticks, or fewer until their labels do not overlap. */
function fittingTicks(ticksOf: (count: number) => readonly Tick[], widthPx: number): readonly Tick[] {
  for (let count = 6; count > 1; count--) {
    const ticks = ticksOf(count);
    const fits = ticks.every(({ at, label }, i) => {
      const next = ticks[i + 1];
      if (next === undefined) return true;
      const before = textWidth(next.label) * (endsAtTick(next, widthPx) ? 1 : 0.5);
      return ((next.at - at) / 100) * widthPx >= textWidth(label) / 2 + before + 8;
    });
    if (ticks.length <= 6 && fits) return ticks;
  }
  return ticksOf(2).slice(0, 1);
}

/** Centred on its tick, the label would stick out on the right. */
function endsAtTick({ at, label }: Tick, widthPx: number): boolean {
  return ((100 - at) / 100) * widthPx < textWidth(label) / 2;
}

/** Most pixels of a figure of 12 px, in the widest of the common fonts: the server cannot measure it. */
function textWidth(text: string): number {
  const em = (character: string): number => {
    if (/[ijltfrI.,:;'|![\]() ]/.test(character)) return 0.4;
    if (/[mwMW@%]/.test(character)) return 1.05;
    if (/[A-Z]/.test(character)) return 0.8;
    if (/[0-9]/.test(character)) return 0.64;
    return (character.codePointAt(0) ?? 0) < 0x1100 ? 0.66 : 1.1;
  };
  return [...text].reduce((sum, character) => sum + em(character) * 12, 0);
}

function bottomAxis(time: ScaleTime<number, number>, widthPx: number, formats: Formats): Html {
  const ticks = fittingTicks((count) => timeTicks(time, count, formats), widthPx);
  const drawn = ticks.map((tick) => {
    const { at, label } = tick;
    const anchor = endsAtTick(tick, widthPx) ? 'end' : 'middle';
    return html`<line class="tick" x1="${at}%" x2="${at}%" y1="${BOTTOM_PX}" y2="${BOTTOM_PX + 4}"/><text class="figure" x="${at}%" y="${HEIGHT_PX - 8}" text-anchor="${anchor}">${label}</text>`;
  });
  return html`<line class="axis" x1="0" x2="100%" y1="${BOTTOM_PX}" y2="${BOTTOM_PX}"/>${drawn}
`;
}

/** No line is between two recipients. */
function leftAxis(y: ReturnType<typeof scaleLinear<number>>, { number }: Formats): Html {
  const ticks = y.ticks(4).filter(Number.isInteger);
  const format = Math.max(...ticks) >= 10_000 ? y.tickFormat(4, '~s') : y.tickFormat(4);
  // d3 writes figures in English: `1,500`, `1.5M`.
  const inLocale = (label: string) => label.replace(/^[\d.,]+/, (text) => number(Number(text.replaceAll(',', ''))));
  const drawn = ticks.map((tick) => {
    const at = round(y(tick));
    return html`<line class="grid" x1="0" x2="100%" y1="${at}" y2="${at}"/><text class="figure" x="-8" y="${at + 4}" text-anchor="end">${inLocale(format(tick))}</text>`;
  });
  return html`${drawn}
`;
}

/** Instants on a scale from 0 to 100: d3's choice for a clock in the zone, as precise as their differences. */
function timeTicks(scale: ScaleTime<number, number>, count: number, { locale, timeZone }: Formats): readonly Tick[] {
  const [from = 0, to = 0] = scale.domain().map((at) => wallMs(Number(at), timeZone));
  // Counts are never finer than a second.
  const all = scaleUtc().domain([from, to]).ticks(count).map(Number);
  const ticks = all.filter((tick) => tick % 1_000 === 0);
  const stepMs = ticks.length > 1 ? (ticks[1] ?? to) - (ticks[0] ?? from) : to - from;
  const format = new Intl.DateTimeFormat(locale, { ...precisionOf(stepMs, to - from), timeZone });
  return ticks.map((tick) => {
    const ms = instantOfWall(tick, timeZone);
    return { at: round(scale(ms)), label: format.format(ms) };
  });
}

function precisionOf(stepMs: number, spanMs: number): Intl.DateTimeFormatOptions {
  const [day, minute] = [{ day: 'numeric', month: 'short' } as const, { hour: '2-digit', minute: '2-digit' } as const];
  if (stepMs >= 27 * DAY_MS) return spanMs > 366 * DAY_MS ? { month: 'short', year: 'numeric' } : { month: 'long' };
  if (stepMs >= DAY_MS) return day;
  if (spanMs > DAY_MS) return { ...day, ...minute };
  return stepMs >= 60_000 ? minute : { ...minute, second: '2-digit' };
}

interface Point {
  /** Milliseconds since 1970. */
  readonly x: number;
  readonly y: number;
}

interface Series {
  readonly name: string;
  readonly tone: Tone;
  /** In the order of `x`, the same `x` in all lines. */
  readonly points: readonly Point[];
}

/** Fewer marks on a line do not run together. */
const MOST_MARKS = 8;
/** On a longer single line, which needs no mark to distinguish it, marks would look like events. */
const FEW_POINTS = 12;

/**
 * Recipients over time, from 0 up. Each line has a mark and a dash in addition to its colour.
 * @param description - of the drawing, in a sentence for screen readers
 */
export function lineChart(title: string, description: string, series: readonly Series[], formats: Formats): Html {
  const { number, instant } = formats;
  const xs = series[0]?.points.map(({ x }) => x) ?? [];
  const ys = series.flatMap(({ points }) => points.map((point) => point.y));
  const [fromMs = 0, toMs = 0] = [xs[0], xs.at(-1)];
  const time = scaleUtc()
    .domain([fromMs, Math.max(toMs, fromMs + 1_000)])
    .range([0, 100]);
  const y = scaleLinear()
    .domain([0, Math.max(...ys, Number.EPSILON)])
    .nice(4)
    .range([BOTTOM_PX, TOP_PX]);
  // For a drawing that is 1000 wide and is stretched; strokes are not.
  const line = lineOf<Point>()
    .x((point) => time(point.x) * 10)
    .y((point) => y(point.y))
    .digits(1);
  const paths = series.map(
    ({ points, tone }, i) =>
      html`<g class="${toneClass(tone)}"><path class="line dash-${i % 4}" vector-effect="non-scaling-stroke" d="${line(points)}"/></g>`,
  );
  const marks = series.map(({ points, tone, name }) => {
    if (series.length === 1 && points.length > FEW_POINTS) return html``;
    const every = Math.ceil(points.length / MOST_MARKS);
    const chosen = points.filter((_, i) => (points.length - 1 - i) % every === 0);
    return html`<g class="${toneClass(tone)}">${chosen.map((point) => html`<svg x="${round(time(point.x))}%" y="${round(y(point.y))}" overflow="visible"><title>${name}: ${number(point.y)}</title>${mark(tone)}</svg>`)}</g>\n`;
  });
  const legend = html`<ul class="legend">${series.map(({ name, tone }) => html`<li>${inlineMark(tone)}${name}</li>`)}</ul>\n`;
  const columns = [{ title: 'Time' }, ...figureColumns(...series.map(({ name }) => name))];
  const rows = xs.slice(0, MOST_ROWS).map((x, i) => {
    return [instant(new Date(x).toISOString()), ...series.map(({ points }) => number(points[i]?.y ?? 0))];
  });
  const more = xs.length - MOST_ROWS;
  return figure(
    title,
    html`${series.length > 1 && legend}<svg class="plot" role="img" width="100%" height="${HEIGHT_PX}"><title>${title}</title><desc>${description}</desc>
<text class="figure" x="-44" y="12">recipients</text>${leftAxis(y, formats)}<g class="narrow">${bottomAxis(time, NARROW_PX, formats)}</g><g class="wide">${bottomAxis(time, WIDE_PX, formats)}</g>
<svg x="0" y="0" width="100%" height="${HEIGHT_PX}" viewBox="0 0 1000 ${HEIGHT_PX}" preserveAspectRatio="none" overflow="visible">${paths}</svg>${marks}</svg>
<details><summary>Figures as a table</summary>
${table(null, columns, rows)}${more > 0 && html`<p class="soft">and ${more} more</p>`}</details>
`,
  );
}
