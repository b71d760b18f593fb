import { type ScaleTime, scaleUtc } from 'd3-scale';
import {
  type SymbolType,
  symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTriangle,
  symbolWye,
} from 'd3-shape';
import { OUTCOMES } from '../../model.ts';
import type { Formats } from '../../report/formats.ts';
import { type Html, html, safeLine } from '../../util/escape.ts';
import { DAY_MS } from '../../util/time.ts';
import { instantOfWall, wallMs } from '../../util/wall-time.ts';

/** What every chart says about itself. */
export interface ChartWords {
  /** What is shown, in a few words: the heading of the chart. */
  readonly title: string;
  /** What there is to see, in a sentence, for those who do not see it. */
  readonly description: string;
  /** Where the page has the figures in a table of its own beside the chart: `elsewhere`. Folded below it by default. */
  readonly figures?: 'folded' | 'elsewhere';
  /** How figures are written; `PLAIN` by default. */
  readonly formats?: Formats;
}

/** The figures of a chart as rows, the first cell of each being its name. */
export interface ChartTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * A chart has no viewBox of its own: positions across are in percent and positions down in pixels, so that it fills any
 * width while its text keeps its size. The layout fits this width, which remains on a screen of 320 px; on a wider one
 * there is only more space.
 */
export const NARROWEST = 270;

/** From this width on a chart has room for longer names; CHART_STYLE in document.ts has the same width. */
const WIDER = 416;

/** What the figures on the left take, and half a label on the right. */
const SIDES = 62;
export const PLOT_NARROWEST = NARROWEST - SIDES;

interface Parts {
  readonly height: number;
  readonly drawing: Html | readonly Html[];
  readonly legend?: Html;
  readonly table: ChartTable;
  /** A chart with figures on its left, or one that takes the whole width. */
  readonly kind?: 'plot' | 'whole';
}

/** A drawing with its heading, and all of its figures as a table that is folded away. */
export function chart(words: ChartWords, { height, drawing, legend, table, kind = 'whole' }: Parts): Html {
  return html`<figure class="chart">
<figcaption>${safeLine(words.title)}</figcaption>
${legend ?? null}<svg class="${kind}" role="img" width="100%" height="${height}"><title>${safeLine(words.title)}</title><desc>${safeLine(words.description)}</desc>
${drawing}</svg>
${words.figures === 'elsewhere' ? null : tableOf(words.title, table)}</figure>
`;
}

/** Shown instead of a chart without data. */
export function emptyChart({ title }: ChartWords): Html {
  return html`<figure class="chart"><figcaption>${safeLine(title)}</figcaption><p class="soft">Nothing to show yet.</p></figure>
`;
}

/** A page stays small: data with more rows than this is better read from a machine format. */
const MOST_ROWS = 300;

function tableOf(title: string, { columns, rows }: ChartTable): Html {
  const head = columns.map((name, i) => html`<th scope="col"${i === 0 ? null : FIGURES}>${safeLine(name)}</th>`);
  const shown = rows.slice(0, MOST_ROWS).map(([name = '', ...cells]) => {
    const figures = cells.map((cell) => html`<td class="n">${safeLine(cell)}</td>`);
    return html`<tr><th scope="row">${safeLine(name)}</th>${figures}</tr>
`;
  });
  const left = rows.length - shown.length;
  return html`<details><summary>Figures as a table</summary>
<div class="scroll" tabindex="0" role="group" aria-label="${safeLine(title)}"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${shown}</tbody>
</table></div>${left > 0 ? html`<p class="soft">and ${left} more</p>` : null}</details>
`;
}

const FIGURES = html` class="n"`;

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

/** As many ticks as asked for, or fewer until their labels do not overlap at any width of the chart. */
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

/** Instants on a scale from 0 to 100: what d3 chooses on a clock in the zone, written as precisely as they differ. */
export function timeTicks(
  scale: ScaleTime<number, number>,
  count: number,
  { locale, timeZone }: Pick<Formats, 'locale' | 'timeZone'>,
): readonly Tick[] {
  const [from = 0, to = 0] = scale.domain().map((at) => wallMs(Number(at), timeZone));
  // Nothing is counted more finely than by the second.
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
  if (stepMs >= 60_000) return minute;
  return { ...minute, second: '2-digit' };
}

/** A scale of instants from 0 to 100. */
export function timeScale(fromMs: number, toMs: number): ScaleTime<number, number> {
  return scaleUtc()
    .domain([fromMs, toMs > fromMs ? toMs : fromMs + 1_000])
    .range([0, 100]);
}

/** What the labels of `bottomAxis` take below a plot. Fonts differ by 4 px in the height of a line of 11 px: this fits the tallest. */
export const AXIS_PX = 28;

/** The labels below a plot, with a small line above each. */
export function bottomAxis(ticks: readonly Tick[], top: number): Html {
  const drawn = ticks.map(
    ({ at, label }) =>
      html`<line class="tick" x1="${at}%" x2="${at}%" y1="${top}" y2="${top + 4}"/><text class="figure" x="${at}%" y="${top + AXIS_PX - 8}" text-anchor="middle">${label}</text>`,
  );
  return html`<line class="axis" x1="0" x2="100%" y1="${top}" y2="${top}"/>${drawn}
`;
}

/** The labels below a plot: more of them where it is wider. */
export function plotAxis(ticksOf: (count: number) => readonly Tick[], top: number): Html {
  const axis = (widthPx: number) => bottomAxis(fittingTicks(ticksOf, widthPx), top);
  return html`<g class="narrow">${axis(PLOT_NARROWEST)}</g><g class="wide">${axis(WIDER - SIDES)}</g>`;
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
  { number }: Pick<Formats, 'number'>,
): readonly Tick[] {
  const ticks = scale.ticks(count);
  const format = Math.max(...ticks) >= 10_000 ? scale.tickFormat(count, '~s') : scale.tickFormat(count);
  // d3 writes figures as in English: `1,500`, `1.5M`.
  const inLocale = (label: string) => label.replace(/^[\d.,]+/, (figure) => number(Number(figure.replaceAll(',', ''))));
  return ticks.map((tick) => ({ at: round(scale(tick)), label: inLocale(format(tick)) }));
}

/**
 * The width in pixels that a text needs at most in the fonts of the pages: a generous guess, because it cannot be
 * measured before it is shown. Figures are 11 px (document.ts).
 */
export function textWidth(text: string, fontPx: number): number {
  let em = 0;
  for (const character of text) em += widthOf(character);
  return em * fontPx;
}

/** A text on one line, cut with `…` where it would be wider than this. */
export function fitText(text: string, widthPx: number, fontPx: number): string {
  const line = safeLine(text);
  if (textWidth(line, fontPx) <= widthPx) return line;
  let kept = '';
  let px = fontPx;
  for (const character of line) {
    px += widthOf(character) * fontPx;
    if (px > widthPx) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** The name of a row and the value at its end; the name is cut where it would reach the value. */
export function rowWords(label: string, value: string, y: number): Html {
  const room = textWidth(value, LABEL_PX) + LABEL_PX;
  const short = fitText(label, NARROWEST - room, LABEL_PX);
  const long = fitText(label, WIDER - room, LABEL_PX);
  const name = (text: string, only: string) => html`<text class="label${only}" x="0" y="${y}">${text}</text>`;
  const names = short === long ? name(short, '') : [name(short, ' narrow'), name(long, ' wide')];
  return html`${names}<text class="label value" x="100%" y="${y}" text-anchor="end">${value}</text>`;
}

const LABEL_PX = 13;

/** In em; measured in the common fonts of Windows, macOS, Android and Linux, the widest of them. */
function widthOf(character: string): number {
  if (NARROW.has(character)) return 0.4;
  if (/[mwMW@%]/.test(character)) return 1.05;
  if (/[A-Z]/.test(character)) return 0.8;
  if (/[0-9]/.test(character)) return 0.64;
  return (character.codePointAt(0) ?? 0) < 0x1100 ? 0.66 : 1.1;
}

const NARROW = new Set("ijltfrI.,:;'|![]() ");

/** Colours of charts: one for each outcome, and some that mean nothing by themselves. */
export const TONES = ['plain', 'one', 'two', 'three', 'four', 'five', 'six', ...OUTCOMES] as const;
export type Tone = (typeof TONES)[number];

/** Tones for things of one kind, in their order. */
const SERIES: readonly Tone[] = ['one', 'two', 'three', 'four', 'five', 'six'];

/** The tone of the nth of several things that name none. */
export function toneAt(index: number): Tone {
  return SERIES[index % SERIES.length] ?? 'plain';
}

/** A class that sets the colour `--tone` for an element and its content. */
export function toneClass(tone: Tone): string {
  return `tone-${tone}`;
}

/** Each tone has a mark of its own, so that nothing depends on colour: 10 px across, around the origin. */
export function mark(tone: Tone): Html {
  return html`<path class="mark" d="${MARKS[tone]}"/>`;
}

/** The same mark for a line of text. */
export function inlineMark(tone: Tone): Html {
  return html`<svg class="inline-mark ${toneClass(tone)}" viewBox="-7 -7 14 14" aria-hidden="true">${mark(tone)}</svg>`;
}

const TYPES: Readonly<Record<Tone, SymbolType>> = {
  plain: symbolCircle,
  one: symbolCircle,
  two: symbolSquare,
  three: symbolTriangle,
  four: symbolDiamond,
  five: symbolWye,
  six: symbolStar,
  accepted: symbolCircle,
  rejected: symbolCross,
  failed: symbolTriangle,
  skipped: symbolSquare,
  deferred: symbolDiamond,
  'in-doubt': symbolStar,
  pending: symbolWye,
};

const MARK_AREA = 56;
const MARKS = Object.fromEntries(
  TONES.map((tone) => [tone, symbol().type(TYPES[tone]).size(MARK_AREA).digits(1)() ?? '']),
) as Readonly<Record<Tone, string>>;
