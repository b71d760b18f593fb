import { isMapping, type Json } from '../util/json.ts';
import { foldLetters, MESSAGE_WORDS, meaningOf, STOP_WORDS, WHOLE_STOP_WORDS } from '../webhook/meaning.ts';
import { LINK } from './link.ts';

/** Between two words: `to`, `with`, `au`. */
const SHORT = '[\\p{L}\\p{N}]{1,4}';
const LINK_HERE = ' zzlink ';
/** Nothing is beside the end of a sentence. */
const END = ' zzzzz ';

/** Beginnings of words that mean nothing else in a message, as `foldLetters` leaves them. */
const PLAIN: readonly string[] = [
  `manage (?:your |my )?(?:\\p{L}+ )?preferences(?: ${SHORT})?${LINK_HERE}`,
  'unsub|unsuscri|stop ?sms|opt(?:ing)? ?(?:me )?out|optio allan|dad ?danysgrif',
  'abmeld|abbestell|austragen|afmeld|uitschrijv|meld (?:je|u) af|avregistr|avmeld|avanmal|avprenumer|frameld',
  'desabonn|desinscri|ne plus recevoir|da(?:r\\p{L}*|te) de baja|desuscri',
  // `Tarifas bajas` are low.
  `(?<!s )bajas${LINK_HERE}`,
  'descadastr|disiscr|cancella(?:mi|r?ti)(?!\\p{L})',
  'wypis|rezygnacj|zrezygnowac|odhlas|leiratkoz|dezabon|odjav|peru tilaus|uyelikten cik|abonelikten cik|unreg(?!\\p{L})|huy dang ky',
  'отпис|відпис|(?:отказ|отмен)\\p{L}* (?:от )?(?:рассыл|смс|sms|сообщ|реклам)|одјав|διαγραφ|απεγγραφ',
];
/** The same within a word: these languages join words. */
const PLAIN_WITHIN =
  'الغاء الاشتراك|لل?الغاء|لايقاف ال(?:رسائل|اعلان)|להסרה|退订|退訂|取消订阅|取消訂閱|拒收|受信拒否|配信の?(?:停止|解除)|(?:수신|무료) ?거부';

/** Beginnings of words that ask for an answer, before a word of replies: `Reply STOP`; some also after it: `STOP yaz`. */
const ASKING: readonly string[] = [
  'repl|rply|answer|text|txt|send|sms|msg|antwort|schreib|schick|antwoord|stuur|svar|skicka|repond|envo|envi|respond',
  'rispond|invia|ateb|anfon|wysl|odpis|odpow|odpov|posl|ответ|отправ|пришл|відпов|надішл|ارسل|اكتب|השיב|השב|שלח|回|返信|답장',
  'vastaa|laheta|valasz|kuld|raspun|trimit|απαντ|στειλ|balas|ketik|soan|tra loi',
];
const ASKING_AFTER = 'antwort|senden|schick|schreib|yaz|gonder|と?返信|と?送信';
/** No reply, but beside a link. */
const ALSO = ['cancelar suscripción', 'cancelar subscrição', 'cancelar assinatura', 'annulla iscrizione'];

/** Most English texts are not folded. */
const USUAL = /unsubscribe|\bopt[ -]?out|\b(?:reply|text|txt) ["']?stop\b/i;

/** @param content - of a rich message; null: it has none */
export type OptOutFinder = (text: string, content: Json) => boolean;

/**
 * Finds out whether a message says how to opt out: by a word that means nothing else, or by one with which people opt
 * out (`meaning.ts`) and what to do with it. `Stop scrolling` has none of it.
 */
export function createOptOutFinder(stopWords: readonly string[]): OptOutFinder {
  const oneOf = (words: readonly string[]): string =>
    `(?:${[...new Set(words.map((word) => spaced(word).trim().replaceAll(' ', ' ?')))].filter((word) => word !== '').join('|')})`;
  const stop = oneOf([...STOP_WORDS, ...WHOLE_STOP_WORDS, ...ALSO, ...stopWords]);
  const said = new RegExp(
    ` (?:${[
      ...PLAIN,
      `(?:${ASKING.join('|')})\\p{L}*(?: ${SHORT}){0,2} ${stop} `,
      `(${stop}) (?:${[
        `${ASKING_AFTER}|${LINK_HERE.trim()} `,
        // `STOP to 36111`, `stop these texts`, `STOP to end`; but a visit is at the number of a house.
        `(?!(?:by|in|over|at) )(?:${SHORT} )?(?:\\d{4}|${oneOf(MESSAGE_WORDS)} |(?!\\1 )${stop} )`,
      ].join('|')})`,
    ].join('|')})|${PLAIN_WITHIN}`,
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
