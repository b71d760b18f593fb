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
import { type Html, html } from '../../util/html.ts';

/** Colours of charts: one for each outcome, and some that mean nothing by themselves. */
export const TONES = ['plain', 'one', 'two', 'three', 'four', 'five', 'six', ...OUTCOMES] as const;
export type Tone = (typeof TONES)[number];

/** Tones for things of one kind, in the order in which they stand. */
const SERIES: readonly Tone[] = ['one', 'two', 'three', 'four', 'five', 'six'];

/** The tone of the nth of several things that name none. */
export function toneAt(index: number): Tone {
  return SERIES[index % SERIES.length] ?? 'plain';
}

/** A class that gives an element, and what is in it, the colour as `--tone`. */
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
