import type { Json, JsonObject } from '../util/json.ts';
import { type ButtonLimits, checkButtons, checkMediaUrl } from './buttons.ts';
import { type ChannelEntry, EXAMPLE_TEXT } from './channel.ts';
import type { ContentCheck } from './check-values.ts';
import {
  advise,
  checkCards,
  checkCount,
  checkLength,
  type Findings,
  hasText,
  invalid,
  mappingOf,
  mappingsOf,
  nameOf,
  overLimit,
} from './check-values.ts';
import { describeRich, EXAMPLE_BUTTONS } from './rich.ts';

/** Lengths are in characters. */
export const RCS_LIMITS = {
  text: 3072,
  buttons: 11,
  label: 25,
  postback: 2048,
  minCards: 2,
  maxCards: 10,
  cardButtons: 4,
  cardTitle: 200,
  cardDescription: 2000,
  payloadBytes: 250_000,
} as const;

const BUTTONS: ButtonLimits = {
  kinds: ['reply', 'url', 'dial', 'location', 'shareLocation', 'event'],
  label: RCS_LIMITS.label,
  id: RCS_LIMITS.postback,
  ids: true,
};

/** A text with suggestions, one rich card, or a carousel: an RCS message is exactly one of them. */
const checkRcs: ContentCheck = (content, text) => {
  const found: Findings = { channel: 'rcs', problems: [] };
  const { card, cards, buttons, cardWidth } = content;
  if (card === undefined && cards === undefined) {
    checkLength(found, '/text', text, RCS_LIMITS.text);
    if (!hasText(text)) invalid(found, '/text', 'The message has no text.', 'Write "text", or a "card".');
  } else if (hasText(text)) {
    const message = `The message has a text and "${card === undefined ? 'cards' : 'card'}", of which phones show one only.`;
    advise(found, '/text', message, 'Say it in the "description" of a card.');
  }
  if (card !== undefined && cards !== undefined) {
    invalid(found, '/cards', 'A message has either "card" or "cards".', 'Move the card into "cards".');
  }
  if (card !== undefined) checkCard(found, '/card', mappingOf(card), false);
  if (cards !== undefined) {
    const checkOne = (one: JsonObject, at: string): void => checkCard(found, at, one, true);
    checkCards(found, mappingsOf(cards), RCS_LIMITS, 'Write "card" for a single one.', checkOne);
  }
  if (cardWidth !== undefined && cards === undefined) {
    invalid(found, '/cardWidth', '"cardWidth" is for "cards" only.', 'Remove it.');
  }
  const suggestions = mappingsOf(buttons);
  checkCount(found, '/buttons', suggestions.length, RCS_LIMITS.buttons, 'buttons');
  checkButtons(found, '/buttons', suggestions, BUTTONS);
  checkPayload(found, content, text);
  return found.problems;
};

function checkCard(found: Findings, at: string, card: JsonObject, inCarousel: boolean): void {
  const { title, description, media, buttons } = card;
  if (media === undefined && isBlank(title) && isBlank(description)) {
    invalid(found, at, `${nameOf(at)} has neither "media" nor "title" nor "description".`, 'Give it at least one.');
  }
  checkLength(found, `${at}/title`, title, RCS_LIMITS.cardTitle);
  checkLength(found, `${at}/description`, description, RCS_LIMITS.cardDescription);
  const { url, thumbnail, height } = mappingOf(media);
  if (media !== undefined) checkMediaUrl(found, `${at}/media/url`, url);
  if (media !== undefined) checkMediaUrl(found, `${at}/media/thumbnail`, thumbnail);
  if (inCarousel && height === 'tall')
    invalid(found, `${at}/media/height`, 'Images of a carousel cannot be tall.', 'Write medium or short.');
  const suggestions = mappingsOf(buttons);
  checkCount(found, `${at}/buttons`, suggestions.length, RCS_LIMITS.cardButtons, 'buttons on a card');
  checkButtons(found, `${at}/buttons`, suggestions, BUTTONS);
}

function isBlank(value: Json | undefined): boolean {
  return value === undefined || (typeof value === 'string' && !/\S/.test(value));
}

/** In UTF-8, without names and nesting of the provider's request. */
function checkPayload(found: Findings, content: JsonObject, text: string | null | undefined): void {
  const most = RCS_LIMITS.payloadBytes;
  // No unit takes more than six bytes in JSON: hardly any message has to be written out to know that it is small.
  if ((unitsIn(content) + (text?.length ?? 0)) * 6 <= most) return;
  const bytes = Buffer.byteLength(JSON.stringify({ ...content, text: text ?? '' }));
  if (bytes <= most) return;
  overLimit(
    found,
    '',
    `The whole message has ${bytes} bytes; rcs takes at most ${most}.`,
    'Shorten its longest texts.',
  );
}

/** UTF-16 units of a value as JSON, at least: keys, quotes and separators are counted generously. */
function unitsIn(value: Json): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 26;
  let units = 3;
  for (const key in value) units += key.length + 4 + unitsIn((value as JsonObject)[key] ?? null);
  return units;
}

export const rcs: ChannelEntry = {
  label: 'RCS',
  address: 'msisdn',
  keys: ['buttons', 'card', 'cards', 'cardWidth'],
  instead: {
    header: 'Write "card" with "media" and "title".',
    footer: 'Say it in the text.',
    list: 'Write "buttons" or "cards".',
  },
  check: checkRcs,
  describe: describeRich,
  reported: 'rcs rbm googlercs',
  init: {
    label: 'RCS, with SMS for recipients who cannot receive it',
    template: EXAMPLE_TEXT,
    yaml: `${EXAMPLE_BUTTONS}fallback: # for recipients who cannot receive RCS
  channel: sms
  template: template.hbs
`,
    // The SMS has the same sender.
    sender: 'sms',
  },
};
