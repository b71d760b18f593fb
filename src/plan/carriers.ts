import { smsParts } from '../content/sms-parts.ts';
import { type Code, type Diagnostic, type Position, warning } from '../errors.ts';
import type { Campaign, StepMessage } from '../model.ts';
import { meaningOf } from '../webhook/meaning.ts';

/** `index`: where it is in the text, in UTF-16 units; null: it is about the whole text. */
type Found = { readonly index: number | null; readonly what: string } | null;

interface OptOutRules {
  readonly isMarketing: boolean;
  readonly stopWords: readonly string[];
}

/** Punctuation that ends it, and that of Chinese and Japanese, is of the sentence. */
const LINK = /https?:\/\/[^\s"<>\u3000-\u303f\uff00-\uffef]*[^\s"<>\u3000-\u303f\uff00-\uffef.,;:!?)\]'’”»]/gi;
/**
 * Public shorteners, which networks block (https://www.twilio.com/docs/api/errors/30857); the list is not complete. Chinese
 * and other letters without case may come right before a link.
 */
const SHORTENERS =
  /(?<![\p{Ll}\p{Lu}\p{N}_.@&-]|(?<!:\/)\/)(?:www\.)?(?:bit\.ly|tinyurl\.com|goo\.gl|ow\.ly|is\.gd|v\.gd|buff\.ly|adf\.ly|t\.co|t\.ly|rb\.gy|cutt\.ly|shorturl\.at|tiny\.cc|bl\.ink|rebrand\.ly|s\.id|shorte\.st|lnkd\.in)(?=[/?#]|:\d)/iu;

/** Fewer words say nothing: a code, a name. */
const FEWEST_WORDS = 5;

const RULES: readonly {
  readonly code: Code;
  /** The first place. */
  find(text: string, message: StepMessage, optOut: OptOutRules): Found;
  readonly hint: string;
}[] = [
  {
    code: 'link-shortener',
    find(text) {
      const found = SHORTENERS.exec(text);
      return found && { index: found.index, what: `A link of the public shortener ${found[0]}` };
    },
    hint: 'Networks block such links, because fraud uses them. Link to a domain of the sender.',
  },
  {
    code: 'insecure-link',
    find(text) {
      // A link in the query of another one is none that a person opens.
      const index = text.search(/(?<![\w=&?%/-])http:\/\//i);
      return index === -1 ? null : { index, what: 'A link that begins with http:' };
    },
    hint: 'Networks block such links, and phones warn of them. Write https:.',
  },
  {
    code: 'odd-blanks',
    find(text) {
      if (/^\s/.test(text)) return { index: 0, what: 'A blank at the beginning' };
      if (/\s$/.test(text)) return { index: text.trimEnd().length, what: 'A blank at the end' };
      // Blanks that begin a line indent it.
      const index = text.search(/[^\n ] {2}/);
      return index === -1 ? null : { index: index + 1, what: 'Two blanks in a row' };
    },
    hint: 'Networks and phones cut blanks or leave them, and each is paid for. Often a value is empty: {{#if}} can leave its blank out too.',
  },
  {
    code: 'cut-link',
    find(text, { sms }) {
      if (sms === null || sms.parts === 1) return null;
      let end = 0;
      const ends = smsParts(text, sms.encoding).map((part) => {
        end += part.length;
        return end;
      });
      for (const { index, 0: link } of text.matchAll(LINK)) {
        const cut = ends.findIndex((at) => at > index && at < index + link.length);
        if (cut !== -1) return { index, what: `A link that the end of part ${cut + 1} cuts` };
      }
      return null;
    },
    hint: 'A phone that shows the parts one by one shows a broken link. Move the link to the front, or shorten the text.',
  },
  {
    code: 'capitals',
    find(text) {
      const words = text.replace(LINK, '').match(/\p{L}{2,}/gu) ?? [];
      const cased = words.filter((word) => word.toLowerCase() !== word.toUpperCase());
      const shouted = cased.filter((word) => word === word.toUpperCase());
      if (cased.length < FEWEST_WORDS || shouted.length * 2 <= cased.length) return null;
      // Several abbreviations are no shouting.
      if (shouted.filter(({ length }) => length > 3).length < 2) return null;
      return { index: null, what: `${shouted.length} of ${cased.length} words are in capitals` };
    },
    hint: 'Filters take that for spam. Write as in a letter.',
  },
  {
    code: 'no-opt-out',
    find(text, { content }, { isMarketing, stopWords }) {
      if (!isMarketing || /\bSTOP\b|[Uu]nsubscribe|[Oo]pt[ -]?out/.test(text)) return null;
      const all = (content === null ? text : `${text} ${JSON.stringify(content)}`).replace(VISIT, '');
      if (meaningOf(all, { stopWords }) !== 'answer') return null;
      if (all.match(CAPITALS)?.some((word) => meaningOf(word, { stopWords }) === 'opt-out')) return null;
      return { index: null, what: 'A marketing message that does not say how to opt out' };
    },
    hint: 'Networks and the law of many countries ask for it: Reply STOP to opt out.',
  },
];

/** `Stop by` is a visit, as in replies, and a flight is non-stop. */
const VISIT = /\bstop[ -](?:by|in|over)\b|\b(?:non|one)[ -]?stop\b/gi;

/** One word in capitals among others: `Responda BAJA`. As a whole reply, more words opt out than within a sentence. */
const CAPITALS = /(?<!\p{L}|\p{Lu}{2}\s)\p{Lu}{2,}(?!\p{L}|\s\p{Lu}{2})/gu;

/** Words of `messageType` and `topic` that mean marketing. */
const MARKETING =
  /(?:^|[^a-z])(?:marketing|promo|promotions?|promotional|advertising|adverts?|ads?|offers?|sales?|newsletters?)(?![a-z])/i;

/** Advice on a text that networks block or change, although the API takes it: at most one of a kind, with its place. */
export function createCarrierCheck({
  topic,
  messageType,
  project,
}: Pick<Campaign, 'topic' | 'messageType' | 'project'>): (message: StepMessage, at: Position) => readonly Diagnostic[] {
  const isMarketing = topic !== 'essential' && [topic, messageType].some((words) => MARKETING.test(words ?? ''));
  const rules = { isMarketing, stopWords: project.webhook.replies.stopWords };
  return (message, at) => {
    const { channel, text } = message;
    if (text === null || (channel !== 'sms' && channel !== 'rcs')) return NOTHING;
    if (!isMarketing && !mayHave(text, message)) return NOTHING;
    let advice = NOTHING;
    for (const { code, find, hint } of RULES) {
      const found = find(text, message, rules);
      if (found === null) continue;
      const where = found.index === null ? '' : placeIn(text, found.index);
      advice = [...advice, warning(code, `${found.what}${where}.`, { at, hint })];
    }
    return advice;
  };
}

function placeIn(text: string, index: number): string {
  const before = text.slice(0, index).split('\n');
  return `, at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} of the message`;
}

/** Every row comes here, and nearly all texts have nothing that a rule could find. What is sought is cheap to look for. */
function mayHave(text: string, { sms }: StepMessage): boolean {
  if (sms?.encoding !== 'GSM-7' || text.includes('/') || TWICE.test(text)) return true;
  return text.charCodeAt(0) <= SPACE || text.charCodeAt(text.length - 1) <= SPACE;
}

const SPACE = 0x20;
/** Other capitals of GSM-7 hardly make a word without these. */
const TWICE = /[A-Z]{2}| {2}/;
const NOTHING: readonly Diagnostic[] = Object.freeze([]);
