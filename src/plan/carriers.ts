import { smsParts } from '../content/sms-parts.ts';
import { type Code, type Diagnostic, type Position, warning } from '../errors.ts';
import type { Campaign, StepMessage } from '../model.ts';
import { textsIn } from '../util/json.ts';
import { LINK } from './link.ts';
import KNOWN_SHORTENERS from './link-shorteners.json' with { type: 'json' };
import type { OptOutFinder } from './opt-out.ts';

/** `index`: where it is in the text, in UTF-16 units; null: it is about the whole text. */
type Found = { readonly index: number | null; readonly what: string } | null;

/** A link; `index` as in `Found`: null where it is on a button or a card. */
interface Link {
  readonly index: number | null;
  readonly link: string;
}

/** Public ones, which networks block (https://www.twilio.com/docs/api/errors/30857); the list is not complete. */
const SHORTENERS: ReadonlySet<string> = new Set(KNOWN_SHORTENERS);

/** The host of a link, after its scheme and the name of a user. */
const HOST = /^(?:[a-z][a-z0-9]*:\/\/)?(?:[^/?#@]*@)?([^/?#:]+)/i;

/** Fewer words say nothing: a code, a name. */
const FEWEST_WORDS = 5;

const RULES: readonly {
  readonly code: Code;
  /** The first place. */
  find(text: string, links: readonly Link[], message: StepMessage, saysHow: OptOutFinder | null): Found;
  readonly hint: string;
}[] = [
  {
    code: 'link-shortener',
    find(_, links) {
      for (const { index, link } of links) {
        const host = HOST.exec(link)?.[1] ?? '';
        if (!SHORTENERS.has(host.toLowerCase().replace(/^www\./, ''))) continue;
        const at = index === null ? null : index + link.indexOf(host);
        return { index: at, what: `A link of the public shortener ${host}` };
      }
      return null;
    },
    hint: 'Networks block such links, because fraud uses them. Link to a domain of the sender.',
  },
  {
    code: 'insecure-link',
    find(_, links) {
      const found = links.find(({ link }) => /^http:/i.test(link));
      return found === undefined ? null : { index: found.index, what: 'A link that begins with http:' };
    },
    hint: 'Networks block such links, and phones warn of them. Write https:.',
  },
  {
    code: 'odd-blanks',
    find(text) {
      if (/^\s/.test(text)) return { index: 0, what: 'A blank at the beginning' };
      if (/\s$/.test(text)) return { index: text.trimEnd().length, what: 'A blank at the end' };
      // Blanks that begin a line indent it.
      const index = text.search(/[^\n \u00a0][ \u00a0]{2}/);
      return index === -1 ? null : { index: index + 1, what: 'Two blanks in a row' };
    },
    hint: 'Networks and phones cut blanks or leave them, and each is paid for. Often a value is empty: {{#if}} can leave its blank out too.',
  },
  {
    code: 'cut-link',
    find(text, links, { sms }) {
      if (sms === null || sms.parts === 1) return null;
      let end = 0;
      const ends = smsParts(text, sms.encoding).map((part) => {
        end += part.length;
        return end;
      });
      for (const { index, link } of links) {
        const cut = index === null ? -1 : ends.findIndex((at) => at > index && at < index + link.length);
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
      // Most write `ß` among capitals too.
      const shouted = cased.filter((word) => !/(?!ß)\p{Ll}/u.test(word));
      if (cased.length < FEWEST_WORDS || shouted.length * 2 <= cased.length) return null;
      // Several abbreviations are no shouting.
      if (shouted.filter(({ length }) => length > 3).length < 2) return null;
      return { index: null, what: `${shouted.length} of ${cased.length} words are in capitals` };
    },
    hint: 'Filters take that for spam. Write as in a letter.',
  },
  {
    code: 'no-opt-out',
    find(text, _, { content, headers }, saysHow) {
      if (saysHow === null || headers?.['List-Unsubscribe'] !== undefined || saysHow(text, content)) return null;
      return { index: null, what: 'A marketing message that does not say how to opt out' };
    },
    hint: 'Networks and the law of many countries ask for it: Reply STOP to opt out; in an email `content.unsubscribe`.',
  },
];

/** Words of `messageType` and `topic` that mean marketing. */
const MARKETING =
  /(?:^|[^a-z])(?:marketing|promo|promotions?|promotional|advertising|adverts?|ads?|offers?|sales?|newsletters?)(?![a-z])/i;

/** Advice on a text that networks block or change, although the API takes it: at most one of a kind, with its place. */
export async function createCarrierCheck({
  topic,
  messageType,
  project,
}: Pick<Campaign, 'topic' | 'messageType' | 'project'>) {
  const isMarketing = topic !== 'essential' && [topic, messageType].some((words) => MARKETING.test(words ?? ''));
  // Words of many languages and patterns over them, which take 10 ms to load.
  const optOut = isMarketing ? await import('./opt-out.ts') : null;
  const saysHow = optOut?.createOptOutFinder(project.webhook.replies.stopWords) ?? null;
  return (message: StepMessage, at: Position): readonly Diagnostic[] => {
    const { channel, content, variables } = message;
    const isEmail = channel === 'email' && isMarketing;
    if (channel !== 'sms' && channel !== 'rcs' && !isEmail) return NOTHING;
    // A card may have all the words; those of a provider's template are not known.
    if (message.text === null && (content === null || variables !== null)) return NOTHING;
    const text = message.text ?? '';
    if (!isMarketing && content === null && !mayHave(text, message)) return NOTHING;
    let advice = NOTHING;
    const inText = [...text.matchAll(LINK)].map(({ index, 0: link }): Link => ({ index, link }));
    // No rule reads the links of an email.
    const elsewhere = (isEmail ? [] : textsIn(content))
      .flatMap((one) => one.match(LINK) ?? [])
      .map((link): Link => ({ index: null, link }));
    const links = [...inText, ...elsewhere];
    for (const { code, find, hint } of RULES) {
      if (isEmail && code !== 'no-opt-out') continue;
      const found = find(text, links, message, saysHow);
      if (found === null) continue;
      const before = text.slice(0, found.index ?? 0).split('\n');
      const place = `, at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} of the message`;
      const where = found.index === null ? '' : place;
      advice = [...advice, warning(code, `${found.what}${where}.`, { at, hint })];
    }
    return advice;
  };
}

/** Every row comes here, and nearly all texts have nothing that a rule could find. What is sought is cheap to look for. */
function mayHave(text: string, { sms }: StepMessage): boolean {
  if (sms?.encoding !== 'GSM-7' || text.includes('/') || RARE.test(text)) return true;
  return text.charCodeAt(0) <= SPACE || text.charCodeAt(text.length - 1) <= SPACE;
}

const SPACE = 0x20;
/** A link may have no path; other capitals of GSM-7 hardly make a word without these. */
const RARE = /[?#]\S|(?<!\d):\d|[A-Z]{2}| {2}/;
const NOTHING: readonly Diagnostic[] = Object.freeze([]);
