import { scaleLinear, scaleLog } from 'd3-scale';
import { number } from '../../report/words.ts';
import { type Html, html } from '../../util/html.ts';
import { safeLine } from '../../util/safe.ts';
import { bottomAxis, fittingTicks, leftAxis, numberTicks, round, TICK_PX, type Tick } from './axis.ts';
import { type ChartWords, chart, emptyChart, PLOT_NARROWEST } from './frame.ts';
import { fitText } from './text-fit.ts';

/** `count` of what lies from `from` to before `to`, both above 0. */
export interface Bucket {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface Histogram extends ChartWords {
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
  const known = buckets.filter(({ from, to, count }) => from > 0 && to > from && Number.isFinite(to) && count > 0);
  const [first] = known;
  if (first === undefined) return emptyChart(words);
  const top = 26 + marks.length * MARK_PX;
  const bottom = height - 24;
  const from = known.reduce((value, bucket) => Math.min(value, bucket.from), first.from);
  const to = known.reduce((value, bucket) => Math.max(value, bucket.to), first.to);
  const x = scaleLog().domain([from, to]).range([0, 100]);
  const most = known.reduce((value, { count }) => Math.max(value, count), 1);
  const y = scaleLinear().domain([0, most]).nice(4).range([bottom, top]);
  const xTicks = fittingTicks((count) => logTicks(x, count, format), PLOT_NARROWEST);
  const pointed = marks.map(({ label, value }, i) => ({
    words: `${label} ${format(value)}`,
    at: round(Math.min(100, Math.max(0, x(Math.max(value, Number.MIN_VALUE))))),
    y: 24 + i * MARK_PX,
  }));
  const drawing = [
    html`<text class="figure" x="-44" y="11">${safeLine(yUnit)}</text>`,
    leftAxis(numberTicks(y, 4).filter(({ at }) => Number.isInteger(round(y.invert(at))))),
    bottomAxis(xTicks, bottom),
    html`<g class="tone-plain">${known.map((bucket) => bar(bucket, x, y, bottom, format))}</g>
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
  format: (value: number) => string,
): Html {
  const [left, top] = [round(x(from)), round(Math.min(y(count), bottom - 1))];
  return html`<rect class="fill bucket" x="${left}%" y="${top}" width="${round(x(to) - left)}%" height="${round(bottom - top)}"><title>${format(from)} to ${format(to)}: ${number(count)}</title></rect>`;
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
