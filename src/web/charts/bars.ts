import { scaleLinear } from 'd3-scale';
import { type Formats, PLAIN } from '../../report/formats.ts';
import { type Html, html, safeLine } from '../../util/escape.ts';
import {
  type ChartWords,
  chart,
  emptyChart,
  inlineMark,
  mark,
  NARROWEST,
  round,
  rowWords,
  type Tone,
  toneAt,
  toneClass,
} from './chart.ts';

interface Bar {
  readonly label: string;
  /** At least 0; a value that is not a number counts as 0. */
  readonly value: number;
  readonly tone?: Tone;
}

interface BarChart extends ChartWords {
  readonly bars: readonly Bar[];
  /** One of what is counted, for figures: `message`; its plural has an `s`. */
  readonly unit?: string;
  /** How a value is written; `1,234` by default. */
  readonly format?: (value: number) => string;
  /** The most bars; the rest becomes one more bar. 10 by default. */
  readonly most?: number;
  /** Largest first, or as they are given. */
  readonly order?: 'largest' | 'given';
}

/** Horizontal bars for categories. Names are above their bars and values beside them, so no axis is needed. */
export function barChart({ bars, unit, most = 10, order = 'largest', ...words }: BarChart): Html {
  const { formats = PLAIN } = words;
  const { format = formats.number } = words;
  const all = bars.map((bar) => ({ ...bar, value: Math.max(0, Number.isFinite(bar.value) ? bar.value : 0) }));
  if (order === 'largest') all.sort((a, b) => b.value - a.value);
  if (all.length === 0) return emptyChart(words);
  const total = all.reduce((sum, { value }) => sum + value, 0);
  const shown = folded(all, most, formats);
  const scale = scaleLinear()
    .domain([0, Math.max(...shown.map(({ value }) => value), Number.MIN_VALUE)])
    .range([0, 100]);
  const drawing = shown.map((bar, i) => row(bar, i * ROW_PX, scale(bar.value), format(bar.value)));
  const values = unit === undefined ? 'Value' : `${unit.charAt(0).toUpperCase()}${unit.slice(1)}s`;
  const table = {
    columns: ['', values, 'Share'],
    rows: all.map(({ label, value }) => [label, format(value), formats.percent(value, total)]),
  };
  return chart(words, { height: shown.length * ROW_PX, drawing, table });
}

const ROW_PX = 34;

function row({ label, tone = 'plain' }: Bar, top: number, width: number, value: string): Html {
  // What is not nothing is seen.
  const drawn =
    width > 0
      ? html`<rect class="fill" x="0" y="${top + 19}" width="${round(Math.max(width, 0.4))}%" height="9" rx="2"/>`
      : null;
  return html`<g class="${toneClass(tone)}"><title>${safeLine(label)}: ${value}</title>${rowWords(label, value, top + 13)}<rect class="rail" x="0" y="${top + 19}" width="100%" height="9" rx="2"/>${drawn}</g>
`;
}

function folded(bars: readonly Bar[], most: number, { number }: Formats): readonly Bar[] {
  if (bars.length <= most + 1) return bars;
  const rest = bars.slice(most);
  const value = rest.reduce((sum, bar) => sum + bar.value, 0);
  return [...bars.slice(0, most), { label: `other (${number(rest.length)} more)`, value, tone: 'skipped' }];
}

interface Part {
  readonly label: string;
  /** At least 0; a value that is not a number counts as 0. */
  readonly value: number;
  readonly tone?: Tone;
}

interface StackedBar extends ChartWords {
  /** In their order; those of 0 are left out of the bar. */
  readonly parts: readonly Part[];
  /** What is counted, above the figures of the table: `Recipients`. */
  readonly unit?: string;
}

/** One bar with the parts of a whole. Parts differ by pattern too; names and figures are in lines above. */
export function stackedBar({ parts, unit = 'Count', ...words }: StackedBar): Html {
  const { formats = PLAIN } = words;
  const { number, percent } = formats;
  const shown = parts
    .map((part, i) => ({ ...part, tone: part.tone ?? toneAt(i) }))
    .filter(({ value }) => Number.isFinite(value) && value > 0);
  const total = shown.reduce((sum, { value }) => sum + value, 0);
  if (total === 0) return emptyChart(words);
  const scale = scaleLinear().domain([0, total]).range([0, 100]);
  let before = 0;
  const drawing = shown.map((part) => {
    const [from, to] = [scale(before), scale(before + part.value)];
    before += part.value;
    return segment(part, from, to, `${number(part.value)} (${percent(part.value, total)})`);
  });
  const legend = html`<ul class="legend">${shown.map(({ label, value, tone }) => html`<li>${inlineMark(tone)}${safeLine(label)} <b>${percent(value, total)}</b></li>`)}</ul>
`;
  const table = {
    columns: ['', unit, 'Share'],
    rows: shown.map(({ label, value }) => [label, number(value), percent(value, total)]),
  };
  return chart(words, { height: HEIGHT_PX, drawing, legend, table });
}

const HEIGHT_PX = 30;
/** A mark and some air around it. */
const MARK_ROOM_PX = 16;

function segment({ label, tone }: Part & { readonly tone: Tone }, from: number, to: number, figures: string): Html {
  const marked = ((to - from) / 100) * NARROWEST >= MARK_ROOM_PX;
  const width = Math.max(to - from, 0.3);
  const drawn = html`<svg x="${round((from + to) / 2)}%" y="${HEIGHT_PX / 2}" overflow="visible">${mark(tone)}</svg>`;
  return html`<g class="${toneClass(tone)} segment"><title>${safeLine(label)}: ${figures}</title><rect class="fill" x="${round(Math.min(from, 100 - width))}%" y="0" width="${round(width)}%" height="${HEIGHT_PX}"/>${marked ? drawn : null}</g>
`;
}
