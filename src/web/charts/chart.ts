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
import type { Formats } from '../../report/locale.ts';
import { type Html, type HtmlValue, html } from '../../util/escape.ts';

export const TONES = ['plain', 'one', 'two', 'three', 'four', ...OUTCOMES] as const;
export type Tone = (typeof TONES)[number];

export function toneClass(tone: Tone): string {
  return `tone-${tone}`;
}

const MARKS: Readonly<Record<Tone, SymbolType>> = {
  plain: symbolCircle,
  one: symbolCircle,
  two: symbolSquare,
  three: symbolTriangle,
  four: symbolDiamond,
  accepted: symbolCircle,
  rejected: symbolCross,
  failed: symbolTriangle,
  skipped: symbolSquare,
  deferred: symbolDiamond,
  'in-doubt': symbolStar,
  pending: symbolWye,
};

/** Each tone has a mark, so that nothing depends on colour: 10 px across, around the origin. */
export function mark(tone: Tone): Html {
  return html`<path class="mark" d="${symbol().type(MARKS[tone]).size(56).digits(1)() ?? ''}"/>`;
}

export function inlineMark(tone: Tone): Html {
  return html`<svg class="inline-mark ${toneClass(tone)}" viewBox="-7 -7 14 14" aria-hidden="true">${mark(tone)}</svg>`;
}

/** For attributes: two decimals of a percent are less than a pixel. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function figure(title: string, content: HtmlValue): Html {
  return html`<figure class="chart"><figcaption>${title}</figcaption>\n${content}</figure>\n`;
}

/** A bar on its rail, in percent. Any value above zero is visible. */
export function track(share: number, tone: Tone): Html {
  const width = share > 0 ? Math.max(share, 0.4) : 0;
  return html`<svg class="track ${toneClass(tone)}" width="100%" height="9" aria-hidden="true"><rect class="rail" width="100%" height="9" rx="2"/><rect class="fill" width="${round(width)}%" height="9" rx="2"/></svg>`;
}

interface Part {
  readonly label: string;
  /** At least 0. */
  readonly value: number;
  readonly tone?: Tone;
  /** In the legend instead of the label. */
  readonly shown?: HtmlValue;
}

/** More bars are folded away. */
const MOST_BARS = 10;

export function barChart(title: string, bars: readonly Part[], { number, percent }: Formats): Html {
  const most = Math.max(...bars.map(({ value }) => value), 1);
  const total = bars.reduce((sum, { value }) => sum + value, 0);
  const rows = bars.map(({ label, value, tone = 'plain' }) => {
    const drawing = track((value / most) * 100, tone);
    return html`<li><span>${label}</span> <b>${number(value)}</b> <span class="soft">${percent(value, total)}</span>${drawing}</li>\n`;
  });
  const rest = rows.slice(MOST_BARS);
  const more = html`<details><summary>${number(rest.length)} more</summary>\n<ul class="bars">${rest}</ul></details>\n`;
  return figure(title, [html`<ul class="bars">${rows.slice(0, MOST_BARS)}</ul>`, rest.length > 0 && more]);
}

/** A whole and its parts above zero. */
function wholeOf(parts: readonly (Part & { readonly tone: Tone })[]) {
  const shown = parts.filter(({ value }) => value > 0);
  return { shown, total: shown.reduce((sum, { value }) => sum + value, 0) };
}

/** One bar with the parts of a whole; its text has the same figures as the colours. */
export function shareBar(parts: Parameters<typeof wholeOf>[0], { number }: Pick<Formats, 'number'>): Html {
  const { shown, total } = wholeOf(parts);
  const words = shown.map(({ label, value }) => `${number(value)} ${label}`).join(', ');
  let before = 0;
  const drawn = shown.map(({ value, tone }) => {
    const [at, width] = [(before / total) * 100, Math.max((value / total) * 100, 0.4)];
    before += value;
    return html`<rect class="fill ${toneClass(tone)}" x="${round(Math.min(at, 100 - width))}%" width="${round(width)}%" height="100%"/>`;
  });
  return html`<svg class="shares" width="100%" role="img" aria-label="${words || 'none'}">${drawn}</svg>\n`;
}

export function shareChart(title: string, parts: Parameters<typeof shareBar>[0], formats: Formats): Html {
  const { shown, total } = wholeOf(parts);
  const legend = shown.map(({ label, value, tone, shown: name = label }) => {
    return html`<li>${inlineMark(tone)}<b>${formats.number(value)}</b> <span class="soft">${formats.percent(value, total)}</span> ${name}</li>`;
  });
  return figure(title, [shareBar(shown, formats), html`<ul class="legend">${legend}</ul>\n`]);
}
