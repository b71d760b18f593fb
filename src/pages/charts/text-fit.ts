import { type Html, html } from '../../util/html.ts';
import { safeLine } from '../../util/safe.ts';
import { NARROWEST, WIDER } from './frame.ts';

/**
 * Pixels that a text takes at most in the fonts of the pages, guessed generously: nobody has measured it before it is
 * shown. Figures are of 11 px, see style.ts.
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
