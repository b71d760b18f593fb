import { scaleLinear } from 'd3-scale';
import { area as areaOf, curveMonotoneX, line as lineOf } from 'd3-shape';
import { instant, number } from '../../report/words.ts';
import { type Html, html } from '../../util/html.ts';
import { safeLine } from '../../util/safe.ts';
import { bottomAxis, fittingTicks, leftAxis, numberTicks, round, timeScale, timeTicks } from './axis.ts';
import { type ChartTable, type ChartWords, chart, emptyChart, PLOT_NARROWEST } from './frame.ts';
import { inlineMark, mark, type Tone, toneAt, toneClass } from './tones.ts';

export interface Point {
  /** Milliseconds since 1970, or any number. */
  readonly x: number;
  /** Null: not known there, and the line has a gap. */
  readonly y: number | null;
}

export interface Series {
  readonly name: string;
  readonly tone?: Tone;
  /** In the order of `x`. */
  readonly points: readonly Point[];
}

export interface LineChart extends ChartWords {
  readonly series: readonly Series[];
  /** `time`: `x` is shown as an instant in UTC. */
  readonly xKind: 'time' | 'number';
  /** What `y` counts, written above the axis: `messages a second`. */
  readonly yUnit: string;
  /** Fills below the lines. */
  readonly area?: boolean;
  /** Of the drawing, in pixels; 220 by default. */
  readonly height?: number;
}

/** Lines over time or over a number, from 0 up. Each has a mark and a dash of its own beside its colour. */
export function lineChart({ series, xKind, yUnit, area = false, height = 220, ...words }: LineChart): Html {
  const lines = series.map((one, i) => ({ ...one, tone: one.tone ?? toneAt(i), points: one.points.filter(isKnown) }));
  const xs = lines.flatMap(({ points }) => points.map(({ x }) => x));
  if (xs.length === 0) return emptyChart(words);
  const bottom = height - 24;
  const x = xScale(least(xs), most(xs), xKind);
  const ys = lines.flatMap(({ points }) => points.map(({ y }) => y ?? 0));
  const y = scaleLinear()
    .domain([0, Math.max(most(ys), Number.EPSILON)])
    .nice(4)
    .range([bottom, TOP_PX]);
  const whole = ys.every(Number.isInteger);
  const yTicks = numberTicks(y, 4).filter(({ at }) => !whole || Number.isInteger(round(y.invert(at))));
  const shape = { x: (point: Point) => x.scale(point.x) * 10, y: (point: Point) => y(point.y ?? 0), bottom, area };
  const marked = lines.filter(({ points }) => lines.length > 1 || points.length <= FEW_POINTS);
  const drawing = [
    html`<text class="figure" x="-44" y="11">${safeLine(yUnit)}</text>`,
    leftAxis(yTicks),
    bottomAxis(fittingTicks(x.ticks, PLOT_NARROWEST), bottom),
    html`<svg x="0" y="0" width="100%" height="${height}" viewBox="0 0 1000 ${height}" preserveAspectRatio="none" overflow="visible">${lines.map((one, i) => path(one, i, shape))}</svg>`,
    ...marked.map((one) => marks(one, shape)),
  ];
  const legend = html`<ul class="legend">${lines.map(({ name, tone }) => html`<li>${inlineMark(tone)}${safeLine(name)}</li>`)}</ul>
`;
  const table = tableOf(lines, xKind);
  return chart(words, { height, drawing, table, kind: 'plot', ...(lines.length > 1 ? { legend } : {}) });
}

const TOP_PX = 26;

interface Shape {
  x(point: Point): number;
  y(point: Point): number;
  readonly bottom: number;
  readonly area: boolean;
}

type Line = Series & { readonly tone: Tone };

function xScale(from: number, to: number, kind: LineChart['xKind']) {
  if (kind === 'time') {
    const scale = timeScale(from, to);
    return { scale, ticks: (count: number) => timeTicks(scale, count) };
  }
  const scale = scaleLinear()
    .domain([from, to > from ? to : from + 1])
    .range([0, 100]);
  return { scale, ticks: (count: number) => numberTicks(scale, count) };
}

/** Coordinates are of a drawing that is 1000 wide and is stretched; strokes are not. */
function path({ points, tone }: Line, index: number, { x, y, bottom, area }: Shape): Html {
  const isThere = ({ y }: Point) => y !== null;
  const drawn = lineOf<Point>().x(x).y(y).defined(isThere).curve(curveMonotoneX).digits(1)(points) ?? '';
  const filled = areaOf<Point>().x(x).y1(y).y0(bottom).defined(isThere).curve(curveMonotoneX).digits(1)(points) ?? '';
  return html`<g class="${toneClass(tone)}">${area ? html`<path class="area" d="${filled}"/>` : null}<path class="line dash-${index % DASHES}" vector-effect="non-scaling-stroke" d="${drawn}"/></g>`;
}

/** As many patterns of dashes as style.ts has. */
const DASHES = 4;
/** Marks on a line, so that they do not run together. */
const MOST_MARKS = 8;
/** One line alone is told from no other: where it has more points than this, marks would be taken for events. */
const FEW_POINTS = 12;

function marks({ points, tone, name }: Line, { x, y }: Shape): Html {
  const there = points.filter((point) => point.y !== null);
  const every = Math.max(1, Math.ceil(there.length / MOST_MARKS));
  const chosen = there.length === 1 ? there : there.filter((_, i) => (there.length - 1 - i) % every === 0);
  const drawn = chosen.map(
    (point) =>
      html`<svg x="${round(x(point) / 10)}%" y="${round(y(point))}" overflow="visible"><title>${safeLine(name)}: ${number(point.y ?? 0)}</title>${mark(tone)}</svg>`,
  );
  return html`<g class="${toneClass(tone)}">${drawn}</g>
`;
}

function tableOf(lines: readonly Line[], kind: LineChart['xKind']): ChartTable {
  const rows = new Map<number, (string | undefined)[]>();
  for (const [i, { points }] of lines.entries()) {
    for (const { x, y } of points) {
      const row = rows.get(x) ?? [];
      row[i] = y === null ? '-' : number(y);
      rows.set(x, row);
    }
  }
  const name = (x: number) => (kind === 'time' ? instant(new Date(x).toISOString()) : number(x));
  return {
    columns: [kind === 'time' ? 'Time' : '', ...lines.map((line) => line.name)],
    rows: [...rows].sort(([a], [b]) => a - b).map(([x, cells]) => [name(x), ...lines.map((_, i) => cells[i] ?? '-')]),
  };
}

function isKnown({ x, y }: Point): boolean {
  return Number.isFinite(x) && (y === null || Number.isFinite(y));
}

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b));
}

function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b));
}
