import type { JsonObject } from '../util/json.ts';
import { adviseMediaType, type ButtonLimits, checkButtons, checkMediaUrl, kindOf } from './buttons.ts';
import { type ChannelEntry, EXAMPLE_TEXT } from './channel.ts';
import {
  advise,
  type ContentCheck,
  charactersIn,
  checkCards,
  checkCount,
  checkFilled,
  checkLabel,
  checkLength,
  checkUnique,
  type Findings,
  hasText,
  invalid,
  mappingOf,
  mappingsOf,
  nameOf,
  overLimit,
} from './check-values.ts';
import { describeRich, EXAMPLE_BUTTONS } from './rich.ts';

/** Limits of the largest messaging app outside of its templates. Lengths are in characters. */
export const MESSAGING_APP_LIMITS = {
  text: 4096,
  /** With buttons, a list or cards, and below an image, video or document. */
  shortText: 1024,
  headerText: 60,
  footer: 60,
  filename: 240,
  replies: 3,
} as const;

/** A text, an image, video or document with a caption, or a message with buttons, a list or cards. */
const checkMessagingApp: ContentCheck = (content, text) => {
  const found: Findings = { channel: 'messaging-app', problems: [] };
  const header = mappingOf(content['header']);
  const interactive = checkParts(found, content);
  if (content['header'] !== undefined) checkHeader(found, header);
  checkText(
    found,
    text,
    interactive,
    MEDIA.some((kind) => header[kind] !== undefined),
  );
  checkLength(found, '/footer', content['footer'], MESSAGING_APP_LIMITS.footer);
  if (interactive === null) adviseBare(found, content, header);
  if (content['buttons'] !== undefined) {
    checkAppButtons(found, '/buttons', mappingsOf(content['buttons']), MESSAGING_APP_LIMITS.replies);
  }
  if (content['list'] !== undefined) checkList(found, mappingOf(content['list']));
  if (content['cards'] !== undefined) checkCarousel(found, mappingsOf(content['cards']));
  return found.problems;
};

const MEDIA = ['image', 'video', 'document'] as const;
const INTERACTIVE = ['buttons', 'list', 'cards'] as const;

/** The first one that the message has; several exclude each other. */
function checkParts(found: Findings, content: JsonObject): (typeof INTERACTIVE)[number] | null {
  const [first, ...others] = INTERACTIVE.filter((key) => content[key] !== undefined);
  for (const other of others) {
    invalid(found, `/${other}`, `A message has either "${first}" or "${other}".`, 'Remove one of them.');
  }
  if (content['cards'] !== undefined) {
    for (const key of ['header', 'footer']) {
      if (content[key] === undefined) continue;
      invalid(found, `/${key}`, `A message with "cards" has no "${key}".`, 'Say it in "text", or on the cards.');
    }
  } else if (content['list'] !== undefined) {
    for (const kind of MEDIA) {
      if (mappingOf(content['header'])[kind] === undefined) continue;
      const hint = 'Write a "text" as header, or "buttons" in the place of the list.';
      invalid(found, `/header/${kind}`, `The header of a message with a list is a text, not "${kind}".`, hint);
    }
  }
  return first ?? null;
}

function checkHeader(found: Findings, header: JsonObject): void {
  const kinds = [...MEDIA, 'text'].filter((kind) => header[kind] !== undefined);
  if (kinds.length !== 1) {
    const has = kinds.length === 0 ? 'nothing to show' : kinds.map((kind) => `"${kind}"`).join(' and ');
    const hint = 'Write exactly one of "image", "video", "document" and "text".';
    invalid(found, '/header', `The header has ${has}.`, hint);
  }
  for (const kind of MEDIA) checkMediaUrl(found, `/header/${kind}`, header[kind]);
  adviseMediaType(found, '/header/image', header['image'], 'image');
  adviseMediaType(found, '/header/video', header['video'], 'video');
  if (header['text'] !== undefined) checkLabel(found, '/header/text', header['text'], MESSAGING_APP_LIMITS.headerText);
  const { filename, document } = header;
  if (filename === undefined) return;
  checkLength(found, '/header/filename', filename, MESSAGING_APP_LIMITS.filename);
  if (document !== undefined) checkFilled(found, '/header/filename', filename);
  else invalid(found, '/header/filename', 'Only a document has a "filename".', 'Remove it.');
}

function checkText(found: Findings, text: string | null | undefined, interactive: string | null, media: boolean): void {
  if (hasText(text)) {
    const { text: most, shortText } = MESSAGING_APP_LIMITS;
    checkLength(found, '/text', text, interactive !== null || media ? shortText : most);
  } else if (interactive !== null) {
    invalid(found, '/text', `A message with "${interactive}" needs a text.`, 'Write "text", or "template".');
  } else if (!media) {
    invalid(found, '/text', 'The message has no text.', 'Write "text", or a "header" with image, video or document.');
  }
}

function adviseBare(found: Findings, content: JsonObject, header: JsonObject): void {
  for (const [pointer, value] of [
    ['/header/text', header['text']],
    ['/footer', content['footer']],
  ] as const) {
    if (value === undefined) continue;
    const message = `${nameOf(pointer)} is shown only in messages with buttons or a list.`;
    advise(found, pointer, message, 'Say it in the text.');
  }
}

export const CAROUSEL_LIMITS = {
  minCards: 2,
  maxCards: 10,
  replies: 2,
  /** Title and description together, in characters. */
  text: 160,
} as const;

/** Each has an image or video, and all have the same kind and number of buttons. */
function checkCarousel(found: Findings, cards: readonly JsonObject[]): void {
  const first = cards[0] === undefined ? '' : shapeOf(cards[0]);
  const alone = 'For a single one, write "header", "text" and "buttons".';
  checkCards(found, cards, CAROUSEL_LIMITS, alone, (card, at, i) => {
    checkCard(found, at, card);
    if (shapeOf(card) === first) return;
    const message = `"cards[${i}]" has other buttons than "cards[0]".`;
    invalid(found, at, message, 'Give all cards the same kind and number of buttons.');
  });
  checkReplies(found, cards);
}

function shapeOf(card: JsonObject): string {
  return mappingsOf(card['buttons']).map(kindOf).join(' ');
}

function checkCard(found: Findings, at: string, card: JsonObject): void {
  checkCardText(found, at, card);
  if (card['media'] === undefined) {
    invalid(found, at, `${nameOf(at)} has no "media".`, 'Give each card an image or video.');
  } else checkMedia(found, `${at}/media`, mappingOf(card['media']));
  checkAppButtons(found, `${at}/buttons`, mappingsOf(card['buttons']), CAROUSEL_LIMITS.replies);
}

function checkCardText(found: Findings, at: string, { title, description }: JsonObject): void {
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

function checkReplies(found: Findings, cards: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const [c, card] of cards.entries()) {
    const replies = mappingsOf(card['buttons']).map(({ reply }) => reply);
    for (const [b, reply] of replies.entries()) {
      if (typeof reply !== 'string' || !seen.has(reply)) continue;
      const pointer = `/cards/${c}/buttons/${b}/reply`;
      const hint = 'Give each one its own, so that you can tell answers apart.';
      invalid(found, pointer, `${nameOf(pointer)} is already used on another card.`, hint);
    }
    for (const reply of replies) if (typeof reply === 'string') seen.add(reply);
  }
}

export const LIST_LIMITS = {
  button: 20,
  sections: 10,
  /** In all sections together. */
  rows: 10,
  sectionTitle: 24,
  rowId: 200,
  rowTitle: 24,
  rowDescription: 72,
} as const;

function checkList(found: Findings, list: JsonObject): void {
  checkLabel(found, '/list/button', list['button'], LIST_LIMITS.button);
  const sections = mappingsOf(list['sections']);
  checkCount(found, '/list/sections', sections.length, LIST_LIMITS.sections, 'sections');
  for (const [i, section] of sections.entries()) checkSection(found, `/list/sections/${i}`, section, sections.length);
  checkRows(found, sections);
}

function checkSection(found: Findings, at: string, section: JsonObject, sections: number): void {
  const { title } = section;
  if (title !== undefined) checkLabel(found, `${at}/title`, title, LIST_LIMITS.sectionTitle);
  else if (sections > 1) {
    const message = `${nameOf(at)} has no title, which it needs beside other sections.`;
    invalid(found, at, message, 'Give it a "title".');
  }
  for (const [i, row] of mappingsOf(section['rows']).entries()) {
    const pointer = `${at}/rows/${i}`;
    checkFilled(found, `${pointer}/id`, row['id']);
    checkLength(found, `${pointer}/id`, row['id'], LIST_LIMITS.rowId);
    checkLabel(found, `${pointer}/title`, row['title'], LIST_LIMITS.rowTitle);
    checkLength(found, `${pointer}/description`, row['description'], LIST_LIMITS.rowDescription);
  }
}

/** Rows count in all sections together, and their ids differ. */
function checkRows(found: Findings, sections: readonly JsonObject[]): void {
  const rows = sections.flatMap((section, s) =>
    mappingsOf(section['rows']).map((row, r) => ({ row, pointer: `/list/sections/${s}/rows/${r}` })),
  );
  const tooMany = rows[LIST_LIMITS.rows];
  if (tooMany !== undefined) {
    const message = `The list has ${rows.length} rows in all; ${found.channel} takes at most ${LIST_LIMITS.rows}.`;
    overLimit(found, tooMany.pointer, message);
  }
  checkUnique(
    found,
    rows.map(({ row }) => row['id']),
    (i) => `${rows[i]?.pointer ?? ''}/id`,
  );
}

const LIMITS: ButtonLimits = { kinds: ['reply', 'url'], label: 20, id: 256, ids: false };
/** The app opens one address from a message, or from a card. */
const MAX_LINKS = 1;

/** Replies or a link, never both. */
function checkAppButtons(found: Findings, at: string, buttons: readonly JsonObject[], maxReplies: number): void {
  const link = buttons.findIndex((button) => button['url'] !== undefined);
  const reply = buttons.findIndex((button) => button['reply'] !== undefined);
  if (link >= 0 && reply >= 0) {
    const hint = 'Write replies only, or a link only.';
    invalid(found, `${at}/${Math.max(link, reply)}`, `${nameOf(at)} mixes replies and links.`, hint);
  } else if (link >= 0) checkCount(found, at, buttons.length, MAX_LINKS, 'link buttons');
  else checkCount(found, at, buttons.length, maxReplies, 'reply buttons');
  checkButtons(found, at, buttons, LIMITS);
}

export const messagingApp: ChannelEntry = {
  label: 'Messaging app',
  address: 'msisdn',
  keys: ['header', 'footer', 'list', 'buttons', 'cards'],
  instead: { card: 'Write "header", "text" and "buttons".' },
  check: checkMessagingApp,
  describe: describeRich,
  reported: `messagingapp whatsapp whatsappcloud whatsappbusiness wa viber viberbm viberbot viberservice messenger
    facebook facebookmessenger instagram instagramdm telegram line lineon kakao kakaotalk kakaosb kakaoalim zalo wechat
    applebusinesschat applemb imessage signal`,
  init: { label: 'messaging app', template: EXAMPLE_TEXT, yaml: EXAMPLE_BUTTONS, sender: 'number' },
};
