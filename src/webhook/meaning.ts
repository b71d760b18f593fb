import type { ReplyMeaning, ReplyRules } from '../model.ts';
import SAME from '../util/letters.json' with { type: 'json' };
import { onDemand } from '../util/on-demand.ts';
import { wordTable } from '../util/word-table.ts';
import lines from './words.json' with { type: 'json' };

/**
 * Words about opting out, by language (`words.json`). Case, accents, spaces and hyphens do not count (`foldText`).
 *
 * - `stop` opts out as a whole text, and as the first word of a short one: `STOP please`, `STOP spring-sale`. English
 *   words are those that US law names for every sender (47 CFR 64.1200, since April 2025), and those that providers act
 *   upon themselves (docs/reference/payloads.md has both); some are as people misspell them.
 * - `wholeStop` opts out only as a whole text, because other sentences begin so: `cancel my order`, `end of May`.
 * - `start` opts in again, as a whole text only. `YES` is not among them: it answers too many questions.
 * - `polite` changes nothing around one of these: `please stop`.
 * - `review`: wordings of longer texts that may mean an opt-out, so that a person has to read them.
 * - `stems`: beginnings of words about an opt-out that no list has: `abgemeldet`, `désabonnez-moi`, `отпиши`.
 * - `curses` are such beginnings too, and `cursing` such wordings: their senders hardly want more messages.
 * - `messages` mean an opt-out beside one of `wholeStop`: `please cancel all these texts`.
 * - `footers`: phones and mail programs write these below a text; `shortFooters` are clear on its line too.
 */
export const WORDS = wordTable(lines, ', ');

/** The words of a text in the form that is compared: folded, without decoration. */
interface FoldedText {
  /** Runs of letters and digits. `opt-out` is two of them. */
  readonly tokens: readonly string[];
  /** The number of each token's word: `opt-out` and `spring-sale-2026` are one word each. */
  readonly words: readonly number[];
}

/** Longer than any opt-out; the rest of the text is ignored. */
const MAX_CHARACTERS = 2_000;

/**
 * Reduces a text to what matters for its meaning: full-width and other forms of letters (NFKC) are unified; invisible
 * characters (zero-width, bidirectional, soft hyphens, variation selectors), accents, and everything that is neither
 * letter nor digit are removed. Case is folded without a language, so that the Turkish `İ` and `ı` are an i.
 */
function foldText(text: string): FoldedText {
  const tokens: string[] = [];
  const words: number[] = [];
  const folded = foldLetters(text.slice(0, MAX_CHARACTERS));
  for (const [number, word] of folded.split(/[^\p{L}\p{N}\p{M}‐_-]+/u).entries()) {
    // Hyphens join the parts of a word.
    for (const token of word.split(/[‐_-]+/u)) {
      if (token === '') continue;
      tokens.push(token);
      words.push(number);
    }
  }
  return { tokens, words };
}

/** The same for a word of a list, with its parts joined: `opt-out`, `opt out` and `optout` are one. */
export function foldWord(word: string): string {
  return foldText(word).tokens.join('');
}

export function foldLetters(text: string): string {
  // NFKC would make a space with an accent of the acute that some type for an apostrophe.
  // Without accents from the start, because a mark ends a word, and hides a letter that looks Latin.
  const seen = withoutAccents(text.replaceAll('´', "'").normalize('NFKC').replace(UNSEEN, ''));
  // Within a word: `don't` and `dont` are one.
  const bare = seen.replace(/(?<=[\p{L}\p{N}])['’‘`ʼ]+(?=[\p{L}\p{N}])/gu, '');
  // To capitals in between, so that `ß` and `ẞ` are `ss`, a dotless `ı` an `i`; none depends on the locale of the process.
  const oneCase = withoutAccents(latinIn(bare).toLowerCase().toUpperCase().toLowerCase());
  // Some small letters look Latin, and their capitals do not.
  return latinIn(oneCase).replace(SPELLINGS, (letter) => SPELLED[letter] ?? letter);
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(ACCENTS, '').normalize('NFC');
}

function latinIn(text: string): string {
  return text.replace(/[\p{L}\p{N}]+/gu, (word) =>
    /\p{Script=Latin}/u.test(word) ? word.replace(LOOKALIKES, (letter) => LATIN[LIKE.indexOf(letter)] ?? letter) : word,
  );
}

/** Letters that only look Latin, in a word with some that are: `SТОР`. */
const LIKE = 'АаВЕеЅѕІіКМНОоРрСсТтУуХхΑΒΕΖΗΙΚΜΝΟοΡΤΥΧ';
const LATIN = 'AaBEeSsIiKMHOoPpCcTtYyXxABEZHIKMNOoPTYX';
const LOOKALIKES = new RegExp(`[${LIKE}]`, 'gu');

/** Format characters, variation selectors, the frame of a keycap, the line that stretches Arabic words. */
const UNSEEN = /\p{Cf}|\u{34f}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\u{e0100}-\u{e01ef}]|\u{20e3}|\u{640}/gu;

/** Accents of Latin, Greek and Cyrillic, vowel signs of Arabic and Hebrew: elsewhere, marks are letters. */
const ACCENTS = /[\u{300}-\u{36f}\u{591}-\u{5c7}\u{610}-\u{61a}\u{64b}-\u{65f}\u{670}\u{6d6}-\u{6ed}]/gu;

/** Letters that Unicode does not treat as accented ones, and two ways to write one letter. */
const SPELLED: Readonly<Record<string, string>> = { ...SAME, ى: 'ي', ی: 'ي', ک: 'ك', ة: 'ه' };
const SPELLINGS = new RegExp(`[${Object.keys(SPELLED).join('')}]`, 'gu');

/**
 * The meaning of a reply, by words only and without guessing:
 *
 * 1. A text of only opt-out words opts out. So does a short text (three words) whose first word is clear: `STOP
 * spring-sale`, and a text whose first line is such a word alone. A `please` around them changes nothing.
 * 2. A text that is only an opt-in word opts in.
 * 3. A text that contains such a word, or a wording that may mean it, is for a person to read: `please don't stop`. So
 * is a short text with a slip in the word (`STOPNOW`, `sotp`), and a curse.
 * 4. All others are answers: `no`, `cancel my order`, `end of May`.
 * @param text as it arrived; text after 2,000 characters is ignored
 */
export function meaningOf(text: string, { stopWords }: Pick<ReplyRules, 'stopWords'>): ReplyMeaning {
  const { clear, first } = wordsOf(stopWords);
  const [line = '', below] = withoutQuotation(text)
    .trimStart()
    .split(/[\r\n]+/u, 2);
  // Whatever a phone, a mail program or the person writes below it.
  const { tokens: alone } = withoutPoliteness(foldText(line));
  if (below !== undefined && alone.length > 0 && !VISIT.test(below) && consistsOf(alone, first)) return 'opt-out';
  const folded = foldText(withoutQuotation(text));
  const { tokens } = folded;
  if (tokens.length === 0) return STOP_SIGNS.test(text) ? 'review' : 'answer';
  const bare = withoutPoliteness(folded);
  if (bare.tokens.length > 0 && consistsOf(bare.tokens, clear)) return 'opt-out';
  if (beginsShortWith(bare, first)) return 'opt-out';
  if (known().start.has(bare.tokens.join(''))) return 'opt-in';
  const mayMeanIt =
    isForReview(tokens, first) ||
    isSlip(bare.tokens, first) ||
    // `f***`, `sh*t`; not `*stop*`, which is bold.
    /(?<![\p{L}*])(?:(?:\p{L}|fu|sh|cu|bi)\*{2,}|\p{L}{1,3}\*+\p{L})/iu.test(
      foldLetters(text.slice(0, MAX_CHARACTERS)),
    );
  return mayMeanIt ? 'review' : 'answer';
}

/** Characters used instead of words. */
const STOP_SIGNS = /[🛑⛔🚫🖕]/u;

interface OptOutWords {
  /** These opt out as a whole text. */
  readonly clear: ReadonlySet<string>;
  /** Some of these do so as a first word too. */
  readonly first: ReadonlySet<string>;
}

const fold = (list: readonly string[]): ReadonlySet<string> => new Set(list.map(foldWord).filter((one) => one !== ''));

/** Folded when the first reply is read, which most commands never do. */
const known = onDemand(() => {
  const first = fold(WORDS.stop);
  return {
    first,
    clear: new Set([...first, ...fold(WORDS.wholeStop)]) as ReadonlySet<string>,
    start: fold(WORDS.start),
    polite: fold(WORDS.polite),
    messages: fold(WORDS.messages),
    /** As they occur in a text, with a space around each token. */
    wordings: [...WORDS.review, ...WORDS.cursing].map((wording) => spaced(foldText(wording).tokens)),
    beginnings: [...fold([...WORDS.curses, ...WORDS.stems])],
  };
});

/** Words of a project count like `stop`. Its rules are one object as long as it runs. */
const OWN = new WeakMap<readonly string[], OptOutWords>();

function wordsOf(stopWords: readonly string[]): OptOutWords {
  if (stopWords.length === 0) return known();
  let found = OWN.get(stopWords);
  if (found === undefined) {
    const own = fold(stopWords);
    found = { clear: new Set([...known().clear, ...own]), first: new Set([...known().first, ...own]) };
    OWN.set(stopWords, found);
  }
  return found;
}

/** Tokens of the longest word in a list: `s'il vous plaît`, `no more messages`. */
const MOST_TOKENS = 4;

function withoutPoliteness({ tokens, words }: FoldedText): FoldedText {
  const { polite } = known();
  let [from, to] = [0, tokens.length];
  for (let taken = true; taken; ) {
    taken = false;
    for (let count = Math.min(MOST_TOKENS, to - from); count > 0; count--) {
      if (polite.has(tokens.slice(from, from + count).join(''))) from += count;
      else if (polite.has(tokens.slice(to - count, to).join(''))) to -= count;
      else continue;
      taken = true;
      break;
    }
  }
  return { tokens: tokens.slice(from, to), words: words.slice(from, to) };
}

/** `stop`, `s t o p`, `STOP STOP STOP`: one word of the list, with any spacing, or several. */
function consistsOf(tokens: readonly string[], list: ReadonlySet<string>): boolean {
  if (list.has(tokens.join(''))) return true;
  return tokens.length <= MOST_REPEATED && tokens.every((token) => list.has(token));
}

/** A person reviews a text with more repetitions. */
const MOST_REPEATED = 20;

/** `opt out of this`, `STOP spring-sale-2026`: after the word, at most two more. `Stop by` is a visit. */
function beginsShortWith({ tokens, words }: FoldedText, list: ReadonlySet<string>): boolean {
  if (tokens[0] === 'stop' && VISIT.test(tokens[1] ?? '')) return false;
  for (let count = 1; count <= Math.min(MOST_TOKENS, tokens.length); count++) {
    if (!list.has(tokens.slice(0, count).join(''))) continue;
    const [last, rest] = [words[count - 1], words.slice(count)];
    if (new Set(rest.filter((word) => word !== last)).size <= 2) return true;
  }
  return false;
}

const VISIT = /^(?:by|over)\b/i;

function isForReview(tokens: readonly string[], first: ReadonlySet<string>): boolean {
  for (let i = 0; i < tokens.length; i++) {
    for (let count = 1; count <= Math.min(MOST_TOKENS, tokens.length - i); count++) {
      const word = tokens.slice(i, i + count).join('');
      if (first.has(word) || isUnspaced(word, first)) return true;
    }
  }
  const text = spaced(tokens);
  const { wordings, beginnings, clear, messages } = known();
  if (wordings.some((wording) => text.includes(wording))) return true;
  if (tokens.some((token) => beginnings.some((start) => token.startsWith(start)))) return true;
  return tokens.some((token) => clear.has(token)) && tokens.some((token) => messages.has(token));
}

/** Whether the first word of a short text is an opt-out word with something at its end, or with two letters swapped. */
function isSlip(tokens: readonly string[], first: ReadonlySet<string>): boolean {
  const [token = ''] = tokens;
  if (tokens.length > MOST_SLIP_TOKENS || token.length < SHORTEST_SLIP) return false;
  for (const word of first) {
    if (word.length < SHORTEST_SLIP) continue;
    if (token.startsWith(word) && !ORDINARY.test(token)) return true;
    if (onceEach(token) === onceEach(word) || isSwapped(token, word)) return true;
  }
  if (first.has(token.replaceAll(DIGIT_LETTERS, (digit) => (digit === '0' ? 'o' : 's')))) return true;
  return WITH_DIGITS.test(token) && known().clear.has(token.replace(WITH_DIGITS, ''));
}

const MOST_SLIP_TOKENS = 3;
const SHORTEST_SLIP = 4;
const ORDINARY = /^stop(?:s|p?ed|p?ers?|p?ing|pages?|overs?|watch|gap|lights?|cock)$/;
const WITH_DIGITS = /\d+$/;
const DIGIT_LETTERS = /[05]/g;

/** `sttooop` as `stop`. */
function onceEach(word: string): string {
  return word.replace(/(.)\1+/gu, '$1');
}

/** `sotp`, `stpo`. */
function isSwapped(token: string, word: string): boolean {
  if (token.length !== word.length) return false;
  const at = [...token].findIndex((letter, i) => letter !== word[i]);
  const [a = '', b = ''] = [token[at], token[at + 1]];
  return at >= 0 && `${token.slice(0, at)}${b}${a}${token.slice(at + 2)}` === word;
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

/** A reply may quote the message that it answers, and have a signature, or the footer of a phone. */
function withoutQuotation(text: string): string {
  const at = text.search(quotation());
  return at > 0 && /[\p{L}\p{N}]/u.test(text.slice(0, at)) ? text.slice(0, at) : text;
}

const quotation = onDemand(
  () =>
    new RegExp(
      `\\r?\\n[ \\t]*(?:>|-- ?(?:\\r?\\n|$)|_{5,}|-{5,}|${WORDS.footers.join('|')})|\\s(?:${WORDS.shortFooters.join('|')})` +
        '|\\r?\\n[^\\r\\n]{1,200}(?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto|schreef)[^\\r\\n]{0,100}:',
      'iu',
    ),
);
