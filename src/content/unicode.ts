import { onDemand } from '../util/on-demand.ts';
import { isGsm, LAST_GSM_UNIT, SEPTETS } from './sms-parts.ts';

/** A character that GSM-7 does not have, and its first position. */
interface UnicodeCause {
  readonly character: string;
  readonly codePoint: number;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/**
 * The characters that force a text into UCS-2, each once with its first place, in their order. Lines end at LF, CR or
 * CR LF. Empty for a text that fits GSM-7.
 */
export function unicodeCauses(text: string): readonly UnicodeCause[] {
  const causes = new Map<number, UnicodeCause>();
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < text.length; i++) {
    const codePoint = text.codePointAt(i) ?? 0;
    if (!isGsmCodePoint(codePoint) && !causes.has(codePoint)) {
      causes.set(codePoint, { character: String.fromCodePoint(codePoint), codePoint, line, column: i - lineStart + 1 });
    }
    if (codePoint > 0xffff) i++;
    if (codePoint === LF || (codePoint === CR && text.charCodeAt(i + 1) !== LF)) {
      line++;
      lineStart = i + 1;
    }
  }
  return [...causes.values()];
}

function isGsmCodePoint(codePoint: number): boolean {
  return codePoint <= LAST_GSM_UNIT && SEPTETS[codePoint] !== 0;
}

const LF = 0x0a;
const CR = 0x0d;

/** One kind of replacement that was made. */
interface Replacement {
  readonly from: string;
  readonly to: string;
}

/**
 * Replaces typographic characters by similar GSM ones (curly quotes, dashes, the ellipsis, wide spaces, full-width
 * forms), but only if the *whole* text becomes GSM: otherwise the message is Unicode anyway and the text is returned
 * unchanged. Letters are never replaced by other letters: a name stays as its owner writes it. `replaced` lists each
 * pair once, in the order of appearance. The text should be normalised first.
 */
export function transliterate(text: string): { text: string; replaced: readonly Replacement[] } {
  if (isGsm(text)) return { text, replaced: [] };
  const pairs = new Map<string, string>();
  let result = '';
  for (const character of text) {
    if (isGsm(character)) {
      result += character;
      continue;
    }
    const lookalike = lookalikes().get(character);
    if (lookalike === undefined) return { text, replaced: [] };
    pairs.set(character, lookalike);
    result += lookalike;
  }
  return { text: result, replaced: Array.from(pairs, ([from, to]) => ({ from, to })) };
}

/**
 * The text as it is counted and sent: composed (NFC), so that `e` with a combining acute is the `é` that GSM-7 has,
 * and with LF line ends, because CR LF costs two septets for one break. ASCII without CR comes back as it is.
 */
export function normaliseText(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  return MAY_COMPOSE.test(lines) ? lines.normalize('NFC') : lines;
}

/** NFC changes nothing below U+0300, the first combining mark (Unicode, `NFC_Quick_Check`). */
const MAY_COMPOSE = /[\u0300-\uffff]/;

/** Replacement, then the characters that it replaces; escaped if they are invisible. */
const GROUPS: readonly (readonly [to: string, from: string])[] = [
  ['"', '«»“”„‟″‶\u02ba\u02ee❝❞〝〞〟'],
  ["'", '‘’‛′‵`´\u02b9\u02bb\u02bc\u02bd\u02c8\u02ca\u02cb❛❜'],
  ['-', '\u2010\u2011‒–—―−⁃•\u23bc\u23bd\ufe58'],
  ['...', '…'],
  ['!!', '‼'],
  ['!', 'ǃ\ufe15'],
  ['1/4', '¼'],
  ['1/2', '½'],
  ['3/4', '¾'],
  ['x', '×'],
  ['/', '÷⁄∕⧸'],
  ['\\', '⧵⧹'],
  ['_', '‗'],
  ['|', '∣⎸⎹⏐⎜⎟'],
  ['<', '‹'],
  ['>', '›'],
  [',', '‚、\ufe10\ufe11､'],
  ['.', '。｡'],
  [':', 'ː\u02f8⦂꞉\ufe13'],
  [';', '⁏\ufe14'],
  ['?', '\ufe16'],
  ['=', '꞊'],
  ['+', '˖'],
  ['(', '❨❪⟮⦅'],
  [')', '❩❫⟯⦆'],
  ['{', '❴'],
  ['}', '❵'],
  ['^', 'ˆ'],
  ['~', '˜˷∼'],
  ['*', '⁎∗⊛✢✣✤✥✱✲✳✺✻✼✽❃❉❊❋⧆'],
  [' ', '\t\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000'],
  ['', '\u00ad\u200b\u200c\u2060\ufeff'],
];

/** Small forms U+FE50 to U+FE6B that have an ASCII character, in the order of their code points. */
const SMALL_FORMS: readonly (readonly [from: number, to: string])[] = [
  [0xfe50, ','],
  [0xfe51, ','],
  [0xfe52, '.'],
  [0xfe54, ';'],
  [0xfe55, ':'],
  [0xfe56, '?'],
  [0xfe57, '!'],
  [0xfe59, '('],
  [0xfe5a, ')'],
  [0xfe5b, '{'],
  [0xfe5c, '}'],
  [0xfe5f, '#'],
  [0xfe60, '&'],
  [0xfe61, '*'],
  [0xfe62, '+'],
  [0xfe63, '-'],
  [0xfe64, '<'],
  [0xfe65, '>'],
  [0xfe66, '='],
  [0xfe68, '\\'],
  [0xfe69, '$'],
  [0xfe6a, '%'],
  [0xfe6b, '@'],
];

/** Letters that were drawn as small capitals: A, B, C ... Z where Unicode has one. */
const SMALL_CAPITALS = 'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ';
const CAPITALS = 'ABCDEFGHIJKLMNOPRSTUVWYZ';

/** U+FF01 to U+FF5E are ASCII `!` to `~`, shifted by this much. */
const FULL_WIDTH_SHIFT = 0xfee0;

/**
 * Replacements for characters that GSM-7 lacks. The kinds are those of the "smart encoding" that providers offer, with
 * three differences. Every space becomes one space (theirs: two; a tab seven). Marks that combine with a letter are
 * left alone (theirs become a loose `~` or `,` after it). The multiplication sign and the minus sign are included.
 */
export const lookalikes = onDemand((): ReadonlyMap<string, string> => {
  const map = new Map<string, string>();
  for (const [to, from] of GROUPS) for (const character of from) map.set(character, to);
  for (const [from, to] of SMALL_FORMS) map.set(String.fromCodePoint(from), to);
  for (let i = 0; i < CAPITALS.length; i++) map.set(SMALL_CAPITALS.charAt(i), CAPITALS.charAt(i));
  for (let ascii = 0x21; ascii <= 0x7e; ascii++) {
    // The grave accent is not in GSM-7 either.
    const to = ascii === 0x60 ? "'" : String.fromCharCode(ascii);
    map.set(String.fromCharCode(ascii + FULL_WIDTH_SHIFT), to);
  }
  return map;
});
