/** A text as it is compared: the words in it, folded, without what surrounds or decorates them. */
export interface FoldedText {
  /** Runs of letters and digits. `opt-out` is two of them. */
  readonly tokens: readonly string[];
  /** Of each token, the number of its word: `opt-out` and `spring-sale-2026` are one word each. */
  readonly words: readonly number[];
}

/** More than this nobody writes who wants to be left alone; what is cut off is not looked at. */
const MAX_CHARACTERS = 2_000;

/**
 * Takes from a text all that does not change what it says: full-width and other forms of letters (NFKC), characters
 * that nobody sees (zero-width, bidi, soft hyphens, variation selectors), case in no language's special way (so that
 * the Turkish `İ` and `ı` are an i), accents, and everything that is neither letter nor digit.
 */
export function foldText(text: string): FoldedText {
  const tokens: string[] = [];
  const words: number[] = [];
  const folded = foldLetters(text.slice(0, MAX_CHARACTERS));
  for (const [number, word] of folded.split(BETWEEN_WORDS).entries()) {
    for (const token of word.split(BETWEEN_TOKENS)) {
      if (token === '') continue;
      tokens.push(token);
      words.push(number);
    }
  }
  return { tokens, words };
}

/** The same for a word of a list, without what joins its parts: `opt-out`, `opt out` and `optout` are one. */
export function foldWord(word: string): string {
  return foldText(word).tokens.join('');
}

function foldLetters(text: string): string {
  // NFKC would make a space with an accent of the acute that some type for an apostrophe.
  const bare = text.replaceAll('´', "'").normalize('NFKC').replace(UNSEEN, '').replace(APOSTROPHES, '');
  // By way of capitals, so that `ß` is `ss` and a dotless `ı` an `i`; neither depends on where the process runs.
  const oneCase = bare.toUpperCase().toLowerCase().normalize('NFD').replace(ACCENTS, '').normalize('NFC');
  return oneCase.replace(SPELLINGS, (letter) => SPELLED[letter] ?? letter);
}

/** Format characters, variation selectors, the frame of a keycap, the line that stretches Arabic words. */
const UNSEEN = /\p{Cf}|\u{34f}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\u{e0100}-\u{e01ef}]|\u{20e3}|\u{640}/gu;

/** Of Latin, Greek and Cyrillic letters, and the vowel signs of Arabic and Hebrew: elsewhere, marks are letters. */
const ACCENTS = /[\u{300}-\u{36f}\u{591}-\u{5c7}\u{610}-\u{61a}\u{64b}-\u{65f}\u{670}\u{6d6}-\u{6ed}]/gu;

/** Letters that Unicode does not take for accented ones, and two ways to write one letter. */
const SPELLED: Readonly<Record<string, string>> = {
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ħ: 'h',
  ς: 'σ',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ة: 'ه',
};
const SPELLINGS = new RegExp(`[${Object.keys(SPELLED).join('')}]`, 'gu');

/** Within a word: `don't` and `dont` are one. */
const APOSTROPHES = /(?<=[\p{L}\p{N}])['’‘`ʼ]+(?=[\p{L}\p{N}])/gu;

/** Hyphens join the parts of a word. */
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}‐_-]+/u;
const BETWEEN_TOKENS = /[‐_-]+/u;
