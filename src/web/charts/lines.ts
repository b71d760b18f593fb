import { scaleLinear, scaleLog } from 'd3-scale';
import { area as areaOf, curveMonotoneX, line as lineOf } from 'd3-shape';
import { type Formats, PLAIN } from '../../report/formats.ts';
import { type Html, html, safeLine } from '../../util/escape.ts';
import {
  AXIS_PX,
  bottomAxis,
  type ChartTable,
  type ChartWords,
  chart,
  emptyChart,
  fitText,
  fittingTicks,
  inlineMark,
  leftAxis,
  mark,
  NARROWEST,
  numberTicks,
  PLOT_NARROWEST,
  plotAxis,
  round,
  rowWords,
  TICK_PX,
  type Tick,
  type Tone,
  timeScale,
  timeTicks,
  toneAt,
  toneClass,
} from './chart.ts';

interface Point {
  /** Milliseconds since 1970, or any number. */
  readonly x: number;
  /** Null: not known there, and the line has a gap. */
  readonly y: number | null;
}

interface Series {
  readonly name: string;
  readonly tone?: Tone;
  /** In the order of `x`. */
  readonly points: readonly Point[];
}

interface LineChart extends ChartWords {
  readonly series: readonly Series[];
  /** `time`: `x` is shown as an instant, in the time zone of the formats. */
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
  const { formats = PLAIN } = words;
  const lines = series.map((one, i) => ({ ...one, tone: one.tone ?? toneAt(i), points: one.points.filter(isKnown) }));
  const xs = lines.flatMap(({ points }) => points.map(({ x }) => x));
  if (xs.length === 0) return emptyChart(words);
  const bottom = height - AXIS_PX;
  const x = xScale(least(xs), most(xs), xKind, formats);
  const ys = lines.flatMap(({ points }) => points.map(({ y }) => y ?? 0));
  const y = scaleLinear()
    .domain([0, Math.max(most(ys), Number.EPSILON)])
    .nice(4)
    .range([bottom, TOP_PX]);
  const whole = ys.every(Number.isInteger);
  const yTicks = numberTicks(y, 4, formats).filter(({ at }) => !whole || Number.isInteger(round(y.invert(at))));
  const shape = { x: (point: Point) => x.scale(point.x) * 10, y: (point: Point) => y(point.y ?? 0), bottom, area };
  const marked = lines.filter(({ points }) => lines.length > 1 || points.length <= FEW_POINTS);
  const drawing = [
    html`<text class="figure" x="-44" y="11">${safeLine(yUnit)}</text>`,
    leftAxis(yTicks),
    plotAxis(x.ticks, bottom),
    html`<svg x="0" y="0" width="100%" height="${height}" viewBox="0 0 1000 ${height}" preserveAspectRatio="none" overflow="visible">${lines.map((one, i) => path(one, i, shape))}</svg>`,
    ...marked.map((one) => marks(one, shape, formats)),
  ];
  const legend = html`<ul class="legend">${lines.map(({ name, tone }) => html`<li>${inlineMark(tone)}${safeLine(name)}</li>`)}</ul>
`;
  const table = tableOf(lines, xKind, formats);
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

function xScale(from: number, to: number, kind: LineChart['xKind'], formats: Formats) {
  if (kind === 'time') {
    const scale = timeScale(from, to);
    return { scale, ticks: (count: number) => timeTicks(scale, count, formats) };
  }
  const scale = scaleLinear()
    .domain([from, to > from ? to : from + 1])
    .range([0, 100]);
  return { scale, ticks: (count: number) => numberTicks(scale, count, formats) };
}

/** Coordinates are of a drawing that is 1000 wide and is stretched; strokes are not. */
function path({ points, tone }: Line, index: number, { x, y, bottom, area }: Shape): Html {
  const isThere = ({ y }: Point) => y !== null;
  const drawn = lineOf<Point>().x(x).y(y).defined(isThere).curve(curveMonotoneX).digits(1)(points) ?? '';
  const filled = areaOf<Point>().x(x).y1(y).y0(bottom).defined(isThere).curve(curveMonotoneX).digits(1)(points) ?? '';
  return html`<g class="${toneClass(tone)}">${area ? html`<path class="area" d="${filled}"/>` : null}<path class="line dash-${index % DASHES}" vector-effect="non-scaling-stroke" d="${drawn}"/></g>`;
}

/** The number of dash patterns in CHART_STYLE (document.ts). */
const DASHES = 4;
/** Marks on a line, so that they do not run together. */
const MOST_MARKS = 8;
/** A single line need not be distinguished: with more points than this, marks would look like events. */
const FEW_POINTS = 12;

function marks({ points, tone, name }: Line, { x, y }: Shape, { number }: Formats): Html {
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

function tableOf(lines: readonly Line[], kind: LineChart['xKind'], { number, instant }: Formats): ChartTable {
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

/** An estimated value, and the interval in which the true one probably is. */
interface Interval {
  readonly label: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly tone?: Tone;
}

interface IntervalChart extends ChartWords {
  readonly intervals: readonly Interval[];
  /** How a value is written: `88.0%`. */
  readonly format: (value: number) => string;
  /** Values that the axis never leaves, such as 0 and 1 for shares. */
  readonly bounds?: readonly [least: number, most: number];
}

/** Estimates with their intervals, a dot and whiskers each: those that do not overlap probably differ. */
export function intervalChart({ intervals, format, bounds, ...words }: IntervalChart): Html {
  const shown = intervals.filter(({ value, low, high }) => [value, low, high].every(Number.isFinite));
  const [first] = shown;
  if (first === undefined) return emptyChart(words);
  const low = shown.reduce((value, one) => Math.min(value, one.low), first.low);
  const high = shown.reduce((value, one) => Math.max(value, one.high), first.high);
  const domain = scaleLinear()
    .domain(low < high ? [low, high] : [low - 0.5, high + 0.5])
    .nice(4)
    .domain();
  const [least = 0, most = 1] = domain;
  const x = scaleLinear()
    .domain([Math.max(least, bounds?.[0] ?? least), Math.min(most, bounds?.[1] ?? most)])
    .range([EDGE, 100 - EDGE]);
  const bottom = shown.length * ROW_PX + 4;
  const ticks = fittingTicks(
    (count) => numberTicks(x, count, PLAIN).map((tick, i) => ({ at: tick.at, label: format(x.ticks(count)[i] ?? 0) })),
    NARROWEST,
  );
  const drawing = [
    html`${ticks.map(({ at }) => html`<line class="grid" x1="${at}%" x2="${at}%" y1="0" y2="${bottom}"/>`)}
`,
    bottomAxis(ticks, bottom),
    ...shown.map((one, i) => row({ ...one, tone: one.tone ?? toneAt(i) }, i * ROW_PX, x, format)),
  ];
  const rows = shown.map((one) => [one.label, format(one.value), `${format(one.low)} to ${format(one.high)}`]);
  return chart(words, { height: bottom + AXIS_PX, drawing, table: { columns: ['', 'Value', '95% interval'], rows } });
}

/** Room for half of a label, in percent. */
const EDGE = 9;
const ROW_PX = 44;

function row(
  { label, value, low, high, tone }: Interval & { readonly tone: Tone },
  top: number,
  x: (value: number) => number,
  format: (value: number) => string,
): Html {
  const y = top + 29;
  const [from, to] = [round(x(low)), round(x(high))];
  const shown = format(value);
  const cap = (at: number) => html`<line class="whisker" x1="${at}%" x2="${at}%" y1="${y - 5}" y2="${y + 5}"/>`;
  return html`<g class="${toneClass(tone)}"><title>${safeLine(label)}: ${shown} (${format(low)} to ${format(high)})</title>${rowWords(label, shown, top + 14)}<line class="whisker" x1="${from}%" x2="${to}%" y1="${y}" y2="${y}"/>${cap(from)}${cap(to)}<svg x="${round(x(value))}%" y="${y}" overflow="visible">${mark(tone)}</svg></g>
`;
}

/** `count` of values from `from` to before `to`, both above 0. */
interface Bucket {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

interface Histogram extends ChartWords {
  /** In their order; they need not touch each other. */
  readonly buckets: readonly Bucket[];
  /** Values to point out: `p95`. Few, smallest first. */
  readonly marks?: readonly { readonly label: string; readonly value: number }[];
  /** How a value is written: `12 ms`. */
  readonly format: (value: number) => string;
  /** What is counted, written above the axis: `requests`. */
  readonly yUnit: string;
  /** Of the drawing, in pixels; 220 by default. */
  readonly height?: number;
}

/** Counts over a logarithmic axis, as latencies want it. */
export function histogram({ buckets, marks = [], format, yUnit, height = 220, ...words }: Histogram): Html {
  const { formats = PLAIN } = words;
  const { number } = formats;
  const known = buckets.filter(({ from, to, count }) => from > 0 && to > from && Number.isFinite(to) && count > 0);
  const [first] = known;
  if (first === undefined) return emptyChart(words);
  const top = 26 + marks.length * MARK_PX;
  const bottom = height - AXIS_PX;
  const from = known.reduce((value, bucket) => Math.min(value, bucket.from), first.from);
  const to = known.reduce((value, bucket) => Math.max(value, bucket.to), first.to);
  const x = scaleLog().domain([from, to]).range([0, 100]);
  const most = known.reduce((value, { count }) => Math.max(value, count), 1);
  const y = scaleLinear().domain([0, most]).nice(4).range([bottom, top]);
  const pointed = marks.map(({ label, value }, i) => ({
    words: `${label} ${format(value)}`,
    at: round(Math.min(100, Math.max(0, x(Math.max(value, Number.MIN_VALUE))))),
    y: 24 + i * MARK_PX,
  }));
  const drawing = [
    html`<text class="figure" x="-44" y="11">${safeLine(yUnit)}</text>`,
    leftAxis(numberTicks(y, 4, formats).filter(({ at }) => Number.isInteger(round(y.invert(at))))),
    plotAxis((count) => logTicks(x, count, format), bottom),
    html`<g class="tone-plain">${known.map((bucket) => bar(bucket, x, y, bottom, (one) => `${format(one.from)} to ${format(one.to)}: ${number(one.count)}`))}</g>
`,
    ...pointed.map(({ at, y }) => pointer(at, y, bottom)),
    ...pointed.map(pointerWords),
  ];
  const rows = known.map((bucket) => [`${format(bucket.from)} to ${format(bucket.to)}`, number(bucket.count)]);
  return chart(words, { height, drawing, table: { columns: ['', yUnit], rows }, kind: 'plot' });
}

const MARK_PX = 15;

/** Of the ticks that d3 gives, ten for each power of ten, those that people count by: fewer where there is less room. */
function logTicks(
  scale: ReturnType<typeof scaleLog<number>>,
  count: number,
  format: (value: number) => string,
): readonly Tick[] {
  const all = scale.ticks();
  const named = all.filter((tick) =>
    (COUNTED[count] ?? [1]).includes(Math.round(tick / 10 ** Math.floor(Math.log10(tick) + 1e-9))),
  );
  const every = Math.ceil(all.length / count);
  const chosen = named.length > 1 ? named : all.filter((_, i) => i % every === 0);
  return chosen.map((tick) => ({ at: round(scale(tick)), label: format(tick) }));
}

/** First figures of the ticks, by how many of them are asked for. */
const COUNTED: Readonly<Record<number, readonly number[]>> = { 6: [1, 2, 5], 5: [1, 2, 5], 4: [1, 3], 3: [1, 3] };

function bar(
  { from, to, count }: Bucket,
  x: (value: number) => number,
  y: (value: number) => number,
  bottom: number,
  wordsOf: (bucket: Bucket) => string,
): Html {
  const [left, top] = [round(x(from)), round(Math.min(y(count), bottom - 1))];
  return html`<rect class="fill bucket" x="${left}%" y="${top}" width="${round(x(to) - left)}%" height="${round(bottom - top)}"><title>${wordsOf({ from, to, count })}</title></rect>`;
}

interface Pointer {
  readonly words: string;
  readonly at: number;
  readonly y: number;
}

function pointer(at: number, y: number, bottom: number): Html {
  return html`<line class="pointer" x1="${at}%" x2="${at}%" y1="${y - 9}" y2="${bottom}"/>`;
}

/** Beside the line, on the side that has room, and each on a line of its own. */
function pointerWords({ words, at, y }: Pointer): Html {
  const isLeft = at <= 50;
  const shown = fitText(words, PLOT_NARROWEST / 2 - 8, TICK_PX);
  return html`<text class="figure strong" x="${at}%" y="${y}" dx="${isLeft ? 5 : -5}" text-anchor="${isLeft ? 'start' : 'end'}">${shown}</text>
`;
}
