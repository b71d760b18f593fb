import { LOOKALIKES } from './lookalikes.ts';
import { isGsm } from './sms.ts';

/** One kind of replacement that was made. */
export interface Replacement {
  readonly from: string;
  readonly to: string;
}

/**
 * Replaces typographic characters by the GSM ones that look alike (curly quotes, dashes, the ellipsis, wide spaces,
 * full-width forms), but only when the *whole* text becomes GSM: otherwise the message is Unicode anyway and the text
 * comes back unchanged. Letters are never replaced by other letters: a name stays as its owner writes it.
 * `replaced` lists each pair once, in the order of appearance. The text should be normalised first.
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
    const lookalike = LOOKALIKES.get(character);
    if (lookalike === undefined) return { text, replaced: [] };
    pairs.set(character, lookalike);
    result += lookalike;
  }
  return { text: result, replaced: Array.from(pairs, ([from, to]) => ({ from, to })) };
}
