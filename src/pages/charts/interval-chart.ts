import { scaleLinear } from 'd3-scale';
import { type Html, html } from '../../util/html.ts';
import { safeLine } from '../../util/safe.ts';
import { bottomAxis, fittingTicks, numberTicks, round } from './axis.ts';
import { type ChartWords, chart, emptyChart, NARROWEST } from './frame.ts';
import { rowWords } from './text-fit.ts';
import { mark, type Tone, toneAt, toneClass } from './tones.ts';

/** A value that was estimated, and where the true one probably lies. */
export interface Interval {
  readonly label: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly tone?: Tone;
}

export interface IntervalChart extends ChartWords {
  readonly intervals: readonly Interval[];
  /** How a value is written: `88.0 %`. */
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
    (count) => numberTicks(x, count).map((tick, i) => ({ at: tick.at, label: format(x.ticks(count)[i] ?? 0) })),
    NARROWEST,
  );
  const drawing = [
    html`${ticks.map(({ at }) => html`<line class="grid" x1="${at}%" x2="${at}%" y1="0" y2="${bottom}"/>`)}
`,
    bottomAxis(ticks, bottom),
    ...shown.map((one, i) => row({ ...one, tone: one.tone ?? toneAt(i) }, i * ROW_PX, x, format)),
  ];
  const rows = shown.map((one) => [one.label, format(one.value), `${format(one.low)} to ${format(one.high)}`]);
  return chart(words, { height: bottom + 22, drawing, table: { columns: ['', 'Value', '95 % interval'], rows } });
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
