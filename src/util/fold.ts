import SAME from './letters.json' with { type: 'json' };

/** Removes case, accents, ligatures and widths, so that different spellings match. */
export function fold(text: string): string {
  // Most lists are mostly ASCII, which needs only lower case.
  if (!OTHER.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .replace(LETTERS, (letter) => PLAIN[letter] ?? letter);
}

/** Only letters and digits count, and not their case: `DELIVERED_TO_HANDSET` is `delivered to handset`. */
export function foldName(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Whether a folded text holds every word of a text; no text does if there is none. */
export function holdsWords(words: string): (folded: string) => boolean {
  const all = fold(words).trim().split(/\s+/);
  return (folded) => all[0] !== '' && all.every((word) => folded.includes(word));
}

const OTHER = /[\u0080-\uffff]/;
const MARKS = /\p{Mn}+/gu;
/** Letters that Unicode does not decompose. */
const PLAIN: Readonly<Record<string, string>> = { ...SAME, ı: 'i', ß: 'ss', '’': "'" };
const LETTERS = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');
