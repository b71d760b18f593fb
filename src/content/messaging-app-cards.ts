import type { JsonObject } from '../model.ts';
import { kindOf } from './buttons.ts';
import {
  charactersIn,
  checkCount,
  type Findings,
  invalid,
  mappingOf,
  mappingsOf,
  nameOf,
  overLimit,
} from './check-values.ts';
import { checkMediaUrl } from './media.ts';
import { checkAppButtons } from './messaging-app-buttons.ts';

export const CAROUSEL_LIMITS = {
  minCards: 2,
  maxCards: 10,
  replies: 2,
  /** Title and description together, in characters. */
  text: 160,
} as const;

/** Cards beside each other: each with an image or video, and all with the same kind and number of buttons. */
export function checkCarousel(found: Findings, cards: readonly JsonObject[]): void {
  const { minCards, maxCards } = CAROUSEL_LIMITS;
  if (cards.length < minCards) {
    const message = `A carousel has ${minCards} to ${maxCards} cards, but there is ${cards.length} here.`;
    overLimit(found, '/cards', message, 'For a single one, write "header", "text" and "buttons".');
  }
  checkCount(found, '/cards', cards.length, maxCards, 'cards');
  const first = cards[0] === undefined ? '' : shapeOf(cards[0]);
  for (const [i, card] of cards.entries()) {
    checkCard(found, `/cards/${i}`, card);
    if (shapeOf(card) === first) continue;
    const message = `"cards[${i}]" has other buttons than "cards[0]".`;
    invalid(found, `/cards/${i}`, message, 'Give all cards the same kind and number of buttons.');
  }
  checkReplies(found, cards);
}

function shapeOf(card: JsonObject): string {
  return mappingsOf(card['buttons']).map(kindOf).join(' ');
}

function checkCard(found: Findings, at: string, card: JsonObject): void {
  checkText(found, at, card);
  if (card['media'] === undefined) {
    invalid(found, at, `${nameOf(at)} has no "media".`, 'Give each card an image or video.');
  } else checkMedia(found, `${at}/media`, mappingOf(card['media']));
  checkAppButtons(found, `${at}/buttons`, mappingsOf(card['buttons']), CAROUSEL_LIMITS.replies);
}

function checkText(found: Findings, at: string, { title, description }: JsonObject): void {
  // A text that is not known yet only makes it longer.
  const length = lengthOf(title) + lengthOf(description);
  if (length <= CAROUSEL_LIMITS.text) return;
  overLimit(
    found,
    `${at}/${typeof description === 'string' ? 'description' : 'title'}`,
    `The text of ${nameOf(at)} has ${length} characters; ${found.channel} takes at most ${CAROUSEL_LIMITS.text}.`,
    `Shorten it by ${length - CAROUSEL_LIMITS.text}.`,
  );
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? charactersIn(value) : 0;
}

function checkMedia(found: Findings, at: string, media: JsonObject): void {
  checkMediaUrl(found, `${at}/url`, media['url']);
  for (const key of ['height', 'thumbnail']) {
    if (media[key] === undefined) continue;
    invalid(found, `${at}/${key}`, `On ${found.channel}, images have no "${key}".`, 'Remove it.');
  }
}

/** Answers of different cards must be told apart as well. */
function checkReplies(found: Findings, cards: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const [c, card] of cards.entries()) {
    const replies = mappingsOf(card['buttons']).map(({ reply }) => reply);
    for (const [b, reply] of replies.entries()) {
      if (typeof reply !== 'string' || !seen.has(reply)) continue;
      const pointer = `/cards/${c}/buttons/${b}/reply`;
      const hint = 'Give each one its own, so that answers can be told apart.';
      invalid(found, pointer, `${nameOf(pointer)} is already used on another card.`, hint);
    }
    for (const reply of replies) if (typeof reply === 'string') seen.add(reply);
  }
}
