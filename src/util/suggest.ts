import { distance } from 'fastest-levenshtein';
import { codePointOf } from './escape.ts';
import { maskText } from './redact.ts';

/** At most a third of the letters may differ, whatever the case. Null: none is near, or the word is a candidate. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const wanted = word.toLowerCase();
  let best: string | null = null;
  // One letter in the place of the only one is another word.
  const most = Math.min(word.length - 1, Math.max(1, Math.floor(word.length / 3)));
  let bestDistance = most + 1;
  for (const candidate of candidates) {
    if (candidate === word) return null;
    const d = differences(wanted, candidate.toLowerCase());
    const isLonger = d === bestDistance && isStartOf(wanted, candidate) && !isStartOf(wanted, best ?? candidate);
    if (d < bestDistance || isLonger) {
      best = candidate;
      bestDistance = d;
    }
  }
  return best;
}

function isStartOf(word: string, candidate: string): boolean {
  return candidate.toLowerCase().startsWith(word);
}

/** Letters that differ; two neighbours that changed places are one slip. */
function differences(word: string, meant: string): number {
  const found = distance(word, meant);
  if (found !== 2 || word.length !== meant.length) return found;
  const at = [...word].findIndex((letter, i) => letter !== meant[i]);
  return word[at] === meant[at + 1] && word[at + 1] === meant[at] ? 1 : found;
}

/**
 * `Did you mean "x"?`, or nothing: spread it into a diagnostic. Where no name is near, it names those that
 * begin with the word and a hyphen.
 */
export function didYouMean(word: string, candidates: Iterable<string>): { hint?: string } {
  const all = [...candidates];
  const candidate = nearest(word, all);
  const meant = candidate === null ? all.filter((one) => one.startsWith(`${word}-`)) : [candidate];
  if (meant.length === 0) return {};
  return { hint: `Did you mean ${meant.map((one) => `"${one}"`).join(' or ')}?${oddCharacter(word, meant[0] ?? '')}` };
}

/** `Its columns: a, b.` Without a header, the first line of a list is a recipient, so names are masked. */
export function allOf(what: string, names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `${what}: ${names.slice(0, MOST_NAMES).map(maskText).join(', ')}${more}.`;
}

const MOST_NAMES = 20;

/** Names a character that only looks like one of the other word; nothing where both words are in another script. */
function oddCharacter(...words: readonly [word: string, meant: string]): string {
  const odd = words.map((word) => /(?![\p{ASCII}\p{Script=Latin}\p{M}])./u.exec(word)?.[0]);
  const [of = '', character] =
    odd[0] === undefined ? [words[1], odd[1]] : [words[0], odd[1] === undefined ? odd[0] : undefined];
  if (character === undefined) return '';
  return ` The "${character}" in "${of}" is ${codePointOf(character)}.`;
}

/** Whether a word is another one, but for one or two letters. */
export function isSlipOf(word: string, meant: string): boolean {
  return word !== meant && distance(word.toLowerCase(), meant) <= 2;
}
