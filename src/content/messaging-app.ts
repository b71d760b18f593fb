import type { JsonObject } from '../model.ts';
import {
  advise,
  checkFilled,
  checkLabel,
  checkLength,
  type Findings,
  hasText,
  invalid,
  mappingOf,
  mappingsOf,
  nameOf,
} from './check-values.ts';
import { adviseMediaType, checkMediaUrl } from './media.ts';
import { checkAppButtons } from './messaging-app-buttons.ts';
import { checkCarousel } from './messaging-app-cards.ts';
import { checkList } from './messaging-app-list.ts';
import type { ContentCheck } from './problem.ts';

/** What the largest messaging app takes outside of its templates. Lengths are in characters. */
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
export const checkMessagingApp: ContentCheck = (content, text) => {
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

/** Which of them the message has, the first one; several exclude each other. */
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
  checkFilename(found, header);
}

function checkFilename(found: Findings, { filename, document }: JsonObject): void {
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

/** Parts that apps show only with buttons or a list. */
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
