import { scaleLinear } from 'd3-scale';
import { number, percent } from '../../report/words.ts';
import { type Html, html } from '../../util/html.ts';
import { safeLine } from '../../util/safe.ts';
import { round } from './axis.ts';
import { type ChartWords, chart, emptyChart, NARROWEST } from './frame.ts';
import { inlineMark, mark, type Tone, toneAt, toneClass } from './tones.ts';

export interface Part {
  readonly label: string;
  /** At least 0; anything that is no number counts as 0. */
  readonly value: number;
  readonly tone?: Tone;
}

export interface StackedBar extends ChartWords {
  /** In their order; those of 0 are left out of the bar. */
  readonly parts: readonly Part[];
  /** What is counted, above the figures of the table: `Recipients`. */
  readonly unit?: string;
}

/** One bar of shares of a whole. Parts are told apart by their marks too; names and figures stand in lines above. */
export function stackedBar({ parts, unit = 'Count', ...words }: StackedBar): Html {
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
    return segment(part, from, to, total);
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

function segment(
  { label, value, tone }: Part & { readonly tone: Tone },
  from: number,
  to: number,
  total: number,
): Html {
  const marked = ((to - from) / 100) * NARROWEST >= MARK_ROOM_PX;
  const width = Math.max(to - from, 0.3);
  const drawn = html`<svg x="${round((from + to) / 2)}%" y="${HEIGHT_PX / 2}" overflow="visible">${mark(tone)}</svg>`;
  return html`<g class="${toneClass(tone)} segment"><title>${safeLine(label)}: ${number(value)} (${percent(value, total)})</title><rect class="fill" x="${round(Math.min(from, 100 - width))}%" y="0" width="${round(width)}%" height="${HEIGHT_PX}"/>${marked ? drawn : null}</g>
`;
}
