import { onDemand } from '../util/on-demand.ts';
import groups from './lookalikes.json' with { type: 'json' };
import { isGsm, LAST_GSM_UNIT, SEPTETS } from './sms-parts.ts';

interface UnicodeCause {
  readonly character: string;
  readonly codePoint: number;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/** Each once with its first place. Lines end at LF, CR or CR LF. Empty for a text that fits GSM-7. */
export function unicodeCauses(text: string): readonly UnicodeCause[] {
  const causes = new Map<number, UnicodeCause>();
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < text.length; i++) {
    const codePoint = text.codePointAt(i) ?? 0;
    const isGsm = codePoint <= LAST_GSM_UNIT && SEPTETS[codePoint] !== 0;
    if (!isGsm && !causes.has(codePoint)) {
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

const LF = 0x0a;
const CR = 0x0d;

export type Replacement = { readonly from: string; readonly to: string };

/**
 * Replaces typographic characters by similar GSM ones, if the *whole* text becomes GSM: otherwise the message is Unicode
 * anyway. Never replaces letters: a name stays as its owner writes it. `replaced` lists each pair once. Normalise before.
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

/** Composed (NFC), so that `e` with an acute is the `é` of GSM-7, and with LF: CR LF costs two septets. */
export function normaliseText(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  return MAY_COMPOSE.test(lines) ? lines.normalize('NFC') : lines;
}

/** NFC changes nothing below U+0300, the first combining mark (Unicode, `NFC_Quick_Check`). */
const MAY_COMPOSE = /[\u0300-\uffff]/;
/** U+FF01 to U+FF5E are ASCII `!` to `~`, shifted by this much. */
const FULL_WIDTH_SHIFT = 0xfee0;

/**
 * The kinds of the "smart encoding" of providers, except: every space becomes one space (theirs: two; a tab seven), combining
 * marks stay (theirs become a loose `~` or `,`), and the multiplication and minus signs are included.
 */
export const lookalikes = onDemand((): ReadonlyMap<string, string> => {
  const map = new Map<string, string>();
  for (const [to, from] of Object.entries(groups)) for (const character of from) map.set(character, to);
  for (let ascii = 0x21; ascii <= 0x7e; ascii++) {
    // The grave accent is not in GSM-7 either.
    const to = ascii === 0x60 ? "'" : String.fromCharCode(ascii);
    map.set(String.fromCharCode(ascii + FULL_WIDTH_SHIFT), to);
  }
  return map;
});
