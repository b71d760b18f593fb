import { distance } from 'fastest-levenshtein';

/**
 * The candidate that was probably meant, or null: at most a third of the letters may differ, case does not count. Of
 * two equally near ones, the first counts. A word that is itself a candidate was not misspelt: null.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const wanted = word.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (candidate === word) return null;
    const d = distance(wanted, candidate.toLowerCase());
    if (d < bestDistance) {
      best = candidate;
      bestDistance = d;
    }
  }
  return best;
}

/** `Did you mean "x"?`, or nothing: spread it into a diagnostic. */
export function didYouMean(word: string, candidates: Iterable<string>): { hint?: string } {
  const candidate = nearest(word, candidates);
  return candidate === null ? {} : { hint: `Did you mean "${candidate}"?` };
}

/** Whether a word is another one, but for one or two letters. */
export function isSlipOf(word: string, meant: string): boolean {
  return word !== meant && distance(word.toLowerCase(), meant) <= 2;
}
