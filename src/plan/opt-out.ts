import { isMapping, type Json } from '../util/json.ts';
import { foldLetters, meaningOf, WORDS } from '../webhook/meaning.ts';
import { LINK } from './link.ts';
import words from './opt-out-words.json' with { type: 'json' };

/** Between two words: `to`, `with`, `au`. */
const SHORT = '[\\p{L}\\p{N}]{1,4}';
const LINK_HERE = ' zzlink ';
/** Nothing is beside the end of a sentence. */
const END = ' zzzzz ';

/** Beginnings of words that mean nothing else in a message, as `foldLetters` leaves them. */
const PLAIN: readonly string[] = [
  `manage (?:your |my )?(?:\\p{L}+ )?preferences(?: ${SHORT})?${LINK_HERE}`,
  // `Tarifas bajas` are low.
  `(?<!s )bajas${LINK_HERE}`,
  ...words.plain,
];
/** Most English texts are not folded. */
const USUAL = /unsubscribe|\bopt[ -]?out|\b(?:reply|text|txt) ["']?stop\b/i;

/** @param content - of a rich message; null: it has none */
export type OptOutFinder = (text: string, content: Json) => boolean;

/**
 * Finds out whether a message says how to opt out: by a word that means nothing else, or by one with which people opt
 * out (`meaning.ts`) and what to do with it. `Stop scrolling` has none of it. The words are patterns
 * (`opt-out-words.json`): `plain` and, within words of languages that join them, `within` mean nothing else; `asking`
 * begins a word that asks for an answer (`Reply STOP`), `askingAfter` one behind it (`STOP yaz`); `besideLink` is no
 * reply, but has a link beside it.
 */
export function createOptOutFinder(stopWords: readonly string[]): OptOutFinder {
  const oneOf = (list: readonly string[]): string =>
    `(?:${[...new Set(list.map((word) => spaced(word).trim().replaceAll(' ', ' ?')))].filter((word) => word !== '').join('|')})`;
  const stop = oneOf([...WORDS.stop, ...WORDS.wholeStop, ...words.besideLink, ...stopWords]);
  const said = new RegExp(
    ` (?:${[
      ...PLAIN,
      `(?:${words.asking.join('|')})\\p{L}*(?: ${SHORT}){0,2} ${stop} `,
      `(${stop}) (?:${[
        `${words.askingAfter}|${LINK_HERE.trim()} `,
        // `STOP to 36111`, `stop these texts`, `STOP to end`; but a visit is at the number of a house.
        `(?!(?:by|in|over|at) )(?:${SHORT} )?(?:\\d{4}|${oneOf(WORDS.messages)} |(?!\\1 )${stop} )`,
      ].join('|')})`,
    ].join('|')})|${words.within}`,
    'u',
  );
  return (text, content) => {
    if (USUAL.test(text) || said.test(spaced(text))) return true;
    const { texts, buttons } = textsIn(content);
    if (buttons.some((one) => meaningOf(one, { stopWords }) === 'opt-out')) return true;
    return said.test(spaced([...texts, ...buttons].join('\n')));
  };
}

/** `STOP36111`, `STOP2END`, `STOPと返信`; not `SAVE10`. */
const APART =
  /(?<=\p{L})(?=\d{4}|2\p{L})|(?<=\p{L}2|\d{4})(?=\p{L})|(?<=\p{Script=Latin})(?=\p{Lo})|(?<=\p{Lo})(?=\p{Script=Latin})/gu;

/** ` reply stop to end zzzzz ` for `Reply STOP2END!` */
function spaced(text: string): string {
  const marked = text
    // A part of a path may be such a word, but no part of a word with hyphens is.
    .replace(LINK, (link) => `${LINK_HERE}${link.replace(/[-_.]/g, 'x').replace(/[/?&=#]+/g, LINK_HERE)}${LINK_HERE}`)
    .replace(/["“„«「『'‘](\p{L}+)["”“»」』'’]/gu, ' reply $1 ')
    .replace(/[.!](?=\s|$)|[。！\n]/gu, END);
  const apart = foldLetters(marked).replace(APART, ' ');
  return ` ${apart.replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ').trim()} `;
}

/** Leaves the address of a link. */
const TAG = /<style[^<]*<\/style>|<(?:[^<>]*?\bhref\s*=\s*["']?([^\s"'<>]+))?[^<>]*>/gi;

/** The texts of a rich message, and those on its buttons, of which each is a reply. */
function textsIn(content: Json): { readonly texts: readonly string[]; readonly buttons: readonly string[] } {
  const found = { texts: [] as string[], buttons: [] as string[] };
  const collect = (value: Json, to: string[]): void => {
    if (typeof value === 'string') to.push(value);
    else if (Array.isArray(value)) for (const one of value) collect(one, to);
    else if (isMapping(value))
      for (const [key, one] of Object.entries(value)) {
        if (key === 'html' && typeof one === 'string') to.push(one.replace(TAG, ' $1 '));
        else collect(one, key === 'buttons' ? found.buttons : to);
      }
  };
  collect(content, found.texts);
  return found;
}
