import type { ReplyMeaning, ReplyRules } from '../model.ts';
import { type FoldedText, foldText, foldWord } from './meaning-fold.ts';
import {
  MESSAGE_WORDS,
  POLITE_WORDS,
  REVIEW_WORDINGS,
  START_WORDS,
  STOP_WORDS,
  WHOLE_STOP_WORDS,
} from './stop-words.ts';

/**
 * What a reply means, by words alone and without guessing:
 *
 * 1. A text that is nothing but words of opting out does so, also with a `please`, as does a short one (three words)
 *    whose first word is clear: `STOP spring-sale`.
 * 2. A text that is nothing but a word of opting in opts in.
 * 3. A text with such a word in it, or a wording that may mean it, is for somebody to read: `please don't stop`.
 * 4. All others are answers: `no`, `cancel my order`, `end of May`.
 *
 * @param text as it came; of more than 2,000 characters the rest is not looked at
 */
export function meaningOf(text: string, { stopWords }: Pick<ReplyRules, 'stopWords'>): ReplyMeaning {
  const { clear, first } = wordsOf(stopWords);
  const folded = foldText(withoutQuotation(text));
  const { tokens } = folded;
  if (tokens.length === 0) return STOP_SIGNS.test(text) ? 'review' : 'answer';
  const bare = withoutPoliteness(tokens);
  if (bare.length > 0 && consistsOf(bare, clear)) return 'opt-out';
  if (beginsShortWith(folded, first)) return 'opt-out';
  if (START.has(bare.join(''))) return 'opt-in';
  return isForSomebody(tokens, first) ? 'review' : 'answer';
}

/** What stands for words where there are none. */
const STOP_SIGNS = /[🛑⛔🚫🖕]/u;

interface OptOutWords {
  /** Which opt out as a whole text. */
  readonly clear: ReadonlySet<string>;
  /** Of these, which do so as a first word too. */
  readonly first: ReadonlySet<string>;
}

const fold = (list: readonly string[]): ReadonlySet<string> => new Set(list.map(foldWord).filter((one) => one !== ''));

const FIRST = fold(STOP_WORDS);
const CLEAR: ReadonlySet<string> = new Set([...FIRST, ...fold(WHOLE_STOP_WORDS)]);
const START = fold(START_WORDS);
const POLITE = fold(POLITE_WORDS);
const MESSAGES = fold(MESSAGE_WORDS);
const KNOWN: OptOutWords = { clear: CLEAR, first: FIRST };

/** Wordings as they stand in a text, with a space around each token. */
const WORDINGS = REVIEW_WORDINGS.map((wording) => spaced(foldText(wording).tokens));

/** Words of a project count as `stop` does. Its rules are one object as long as it runs. */
const OWN = new WeakMap<readonly string[], OptOutWords>();

function wordsOf(stopWords: readonly string[]): OptOutWords {
  if (stopWords.length === 0) return KNOWN;
  let found = OWN.get(stopWords);
  if (found === undefined) {
    const own = fold(stopWords);
    found = { clear: new Set([...CLEAR, ...own]), first: new Set([...FIRST, ...own]) };
    OWN.set(stopWords, found);
  }
  return found;
}

/** Tokens of the longest word in a list: `s'il vous plaît`, `no more messages`. */
const MOST_TOKENS = 4;

/** Takes words of politeness from both ends. */
function withoutPoliteness(tokens: readonly string[]): readonly string[] {
  let [from, to] = [0, tokens.length];
  for (let taken = true; taken; ) {
    taken = false;
    for (let count = Math.min(MOST_TOKENS, to - from); count > 0; count--) {
      if (POLITE.has(tokens.slice(from, from + count).join(''))) from += count;
      else if (POLITE.has(tokens.slice(to - count, to).join(''))) to -= count;
      else continue;
      taken = true;
      break;
    }
  }
  return tokens.slice(from, to);
}

/** `stop`, `s t o p`, `STOP STOP STOP`: one word of the list, however it is spaced, or several. */
function consistsOf(tokens: readonly string[], list: ReadonlySet<string>): boolean {
  if (list.has(tokens.join(''))) return true;
  return tokens.length <= MOST_REPEATED && tokens.every((token) => list.has(token));
}

/** Somebody who repeats it more often may have it read. */
const MOST_REPEATED = 20;

/** `STOP please`, `opt out of this`, `STOP spring-sale-2026`: after the word, at most two more. */
function beginsShortWith({ tokens, words }: FoldedText, list: ReadonlySet<string>): boolean {
  for (let count = 1; count <= Math.min(MOST_TOKENS, tokens.length); count++) {
    if (!list.has(tokens.slice(0, count).join(''))) continue;
    const [last, rest] = [words[count - 1], words.slice(count)];
    if (new Set(rest.filter((word) => word !== last)).size <= 2) return true;
  }
  return false;
}

/** Whether there is anything in a text that somebody may mean by it. */
function isForSomebody(tokens: readonly string[], first: ReadonlySet<string>): boolean {
  for (let i = 0; i < tokens.length; i++) {
    for (let count = 1; count <= 2; count++) {
      const word = tokens.slice(i, i + count).join('');
      if (first.has(word) || isUnspaced(word, first)) return true;
    }
  }
  const text = spaced(tokens);
  if (WORDINGS.some((wording) => text.includes(wording))) return true;
  return tokens.some((token) => CLEAR.has(token)) && tokens.some((token) => MESSAGES.has(token));
}

/** Chinese, Japanese and Thai put no space between words. */
function isUnspaced(token: string, list: ReadonlySet<string>): boolean {
  if (!UNSPACED.test(token)) return false;
  for (const word of list) if (UNSPACED.test(word) && token.includes(word)) return true;
  return false;
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}]/u;

function spaced(tokens: readonly string[]): string {
  return ` ${tokens.join(' ')} `;
}

/** An email comes back with the message that it answers, and with a signature. */
function withoutQuotation(text: string): string {
  const at = text.search(QUOTATION);
  return at > 0 && /[\p{L}\p{N}]/u.test(text.slice(0, at)) ? text.slice(0, at) : text;
}

const QUOTATION = /\r?\n[ \t]*(?:>|-- ?(?:\r?\n|$)|_{5,}|-{5,})/u;
