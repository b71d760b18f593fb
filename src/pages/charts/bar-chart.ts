import { scaleLinear } from 'd3-scale';
import { number, percent } from '../../report/words.ts';
import { type Html, html } from '../../util/html.ts';
import { safeLine } from '../../util/safe.ts';
import { round } from './axis.ts';
import { type ChartWords, chart, emptyChart } from './frame.ts';
import { rowWords } from './text-fit.ts';
import { type Tone, toneClass } from './tones.ts';

export interface Bar {
  readonly label: string;
  /** At least 0; anything that is no number counts as 0. */
  readonly value: number;
  readonly tone?: Tone;
}

export interface BarChart extends ChartWords {
  readonly bars: readonly Bar[];
  /** One of what is counted, for figures: `message`; its plural has an `s`. */
  readonly unit?: string;
  /** How a value is written; `1,234` by default. */
  readonly format?: (value: number) => string;
  /** As many bars at most; what is left becomes one bar more. 10 by default. */
  readonly most?: number;
  /** Largest first, or as they are given. */
  readonly order?: 'largest' | 'given';
}

/** Horizontal bars for categories. Names stand above their bars and values beside them, so that nothing needs an axis. */
export function barChart({ bars, unit, format = number, most = 10, order = 'largest', ...words }: BarChart): Html {
  const all = bars.map((bar) => ({ ...bar, value: Math.max(0, Number.isFinite(bar.value) ? bar.value : 0) }));
  if (order === 'largest') all.sort((a, b) => b.value - a.value);
  if (all.length === 0) return emptyChart(words);
  const total = all.reduce((sum, { value }) => sum + value, 0);
  const shown = folded(all, most);
  const scale = scaleLinear()
    .domain([0, Math.max(...shown.map(({ value }) => value), Number.MIN_VALUE)])
    .range([0, 100]);
  const drawing = shown.map((bar, i) => row(bar, i * ROW_PX, scale(bar.value), format(bar.value)));
  const values = unit === undefined ? 'Value' : `${unit.charAt(0).toUpperCase()}${unit.slice(1)}s`;
  const table = {
    columns: ['', values, 'Share'],
    rows: all.map(({ label, value }) => [label, format(value), percent(value, total)]),
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

function folded(bars: readonly Bar[], most: number): readonly Bar[] {
  if (bars.length <= most + 1) return bars;
  const rest = bars.slice(most);
  const value = rest.reduce((sum, bar) => sum + bar.value, 0);
  return [...bars.slice(0, most), { label: `other (${number(rest.length)} more)`, value, tone: 'skipped' }];
}
