import type { Channel, Json, JsonObject } from '../model.ts';
import { type ButtonKind, kindOf } from './buttons.ts';
import { mappingOf, mappingsOf } from './check-values.ts';
import { spokenSeconds } from './voice.ts';

/**
 * The message as the recipient will see or hear it, in lines of plain text. Values come from outside: the caller makes
 * the lines safe for the place where they are shown.
 *
 * @param text - the text of the message as it was rendered; null if it has none, or the provider has it
 * @param content - rich content with its texts filled in; null without any
 */
export function describeContent(channel: Channel, text: string | null, content: JsonObject | null): readonly string[] {
  return WRITERS[channel](content ?? {}, text === null ? [] : linesOf(text), text);
}

type Writer = (content: JsonObject, text: readonly string[], written: string | null) => readonly string[];

const WRITERS: Readonly<Record<Channel, Writer>> = {
  sms: (_content, text) => text,
  rcs: richMessage,
  'messaging-app': richMessage,
  email,
  voice,
};

/** Header, text and footer in one bubble; cards; then what can be tapped. */
function richMessage(content: JsonObject, text: readonly string[]): readonly string[] {
  const card = content['card'] === undefined ? [] : [mappingOf(content['card'])];
  const cards = [...card, ...mappingsOf(content['cards'])];
  return [
    ...header(mappingOf(content['header'])),
    ...text,
    ...marked('footer', content['footer']),
    ...cards.flatMap((one, i) => cardLines(one, cards.length > 1 ? `card ${i + 1} of ${cards.length}` : 'card')),
    ...buttonLines(mappingsOf(content['buttons'])),
    ...list(mappingOf(content['list'])),
  ];
}

function header({ image, video, document, filename, text }: JsonObject): readonly string[] {
  const file = filename === undefined ? textOf(document) : `${textOf(filename)} (${textOf(document)})`;
  return [
    ...marked('image', image),
    ...marked('video', video),
    ...marked('document', document === undefined ? undefined : file),
    ...marked('header', text),
  ];
}

/** `[image] https://...`; nothing where there is nothing, or where it came out empty. */
function marked(word: string, value: Json | undefined): readonly string[] {
  const text = textOf(value);
  return text === '' ? [] : linesOf(`[${word}] ${text}`);
}

function shown(value: Json | undefined): readonly string[] {
  const text = textOf(value);
  return text === '' ? [] : linesOf(text);
}

/** A card between two rules: one below the other, as a terminal has no room for them side by side. */
function cardLines(card: JsonObject, caption: string): readonly string[] {
  const { title, description, media, buttons } = card;
  const { url, alt } = mappingOf(media);
  const inside = [
    ...marked(/\.(?:mp4|m4v|3gp|webm|mpe?g|mov)(?:[?#]|$)/i.test(textOf(url)) ? 'video' : 'image', url),
    ...marked('alt', alt),
    ...shown(title),
    ...shown(description),
    ...buttonLines(mappingsOf(buttons)),
  ];
  return [`+-- ${caption} ${'-'.repeat(CARD_RULE - caption.length)}`, ...inside.map((line) => `| ${line}`), CARD_END];
}

const CARD_RULE = 36;
const CARD_END = `+${'-'.repeat(CARD_RULE + 4)}`;

/** The button, and the list that it opens. */
function list({ button, sections }: JsonObject): readonly string[] {
  if (sections === undefined) return [];
  return [
    `${labelOf(button)} opens:`,
    ...mappingsOf(sections).flatMap(({ title, rows }) => [
      ...shown(title).map((line) => `  ${line}`),
      ...mappingsOf(rows).flatMap((row) => [
        ...linesOf(`( ) ${textOf(row['title'])}`).map((line) => `  ${line}`),
        ...shown(row['description']).map((line) => `      ${line}`),
      ]),
    ]),
  ];
}

function email(content: JsonObject, text: readonly string[]): readonly string[] {
  const { subject, preheader, html, unsubscribe } = content;
  const { url, mailto, oneClick } = mappingOf(unsubscribe);
  const how = [...shown(url), ...shown(mailto)];
  return [
    ...(subject === undefined ? [] : linesOf(`Subject: ${textOf(subject)}`)),
    ...shown(preheader).map((line, i) => (i === 0 ? `Preheader: ${line}` : line)),
    ...(how.length === 0 ? [] : linesOf(`Unsubscribe: ${how.join(', ')}${oneClick === true ? ' (one click)' : ''}`)),
    ...(subject === undefined && html === undefined ? [] : ['']),
    ...(typeof html === 'string' ? [`[html] ${Buffer.byteLength(html)} bytes`] : []),
    ...text,
  ];
}

/** `Spoken 2 times, in en-GB, by Emma, about 14 seconds:` and the text. */
function voice(content: JsonObject, text: readonly string[], written: string | null): readonly string[] {
  const { language, voice: name, repeat } = content;
  const times = typeof repeat === 'number' ? repeat : 1;
  const seconds = spokenSeconds(written ?? '', times);
  const facts = [
    times === 1 ? 'Spoken once' : `Spoken ${times} times`,
    ...shown(language).map((tag) => `in ${tag}`),
    ...shown(name).map((who) => `by ${who}`),
    ...(written === null ? [] : [`about ${seconds} second${seconds === 1 ? '' : 's'}`]),
  ];
  return [...linesOf(`${facts.join(', ')}:`), ...text];
}

function linesOf(text: string): readonly string[] {
  return text.split('\n');
}

/** A value as text; empty if it is not known. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** A button, on one line. */
export function labelOf(text: Json | undefined): string {
  return `[ ${textOf(text).replaceAll('\n', ' ')} ]`;
}

/** Replies share a line as long as there is room; every other button is on a line of its own, with its target. */
export function buttonLines(buttons: readonly JsonObject[]): readonly string[] {
  const lines: string[] = [];
  let row: string | null = null;
  for (const button of buttons) {
    const kind = kindOf(button);
    const label = labelOf(button['text']);
    if (kind === null || kind === 'reply') {
      const longer: string = row === null ? label : `${row}  ${label}`;
      if (row !== null && longer.length > ROW_WIDTH) lines.push(row);
      row = row !== null && longer.length > ROW_WIDTH ? label : longer;
    } else {
      if (row !== null) lines.push(row);
      row = null;
      lines.push(...linesOf(`${label} -> ${TARGETS[kind](button[kind])}`));
    }
  }
  if (row !== null) lines.push(row);
  return lines;
}

const ROW_WIDTH = 72;

const TARGETS: Readonly<Record<Exclude<ButtonKind, 'reply'>, (value: Json | undefined) => string>> = {
  url: textOf,
  dial: textOf,
  location(value) {
    const { latitude, longitude, label } = mappingOf(value);
    const place = `${textOf(latitude)}, ${textOf(longitude)}`;
    return label === undefined ? place : `${textOf(label)} (${place})`;
  },
  shareLocation: () => 'shares the location',
  event(value) {
    const { title, start, end, description } = mappingOf(value);
    const what = description === undefined ? textOf(title) : `${textOf(title)} (${textOf(description)})`;
    return `calendar: ${what}, ${textOf(start)} to ${textOf(end)}`;
  },
};
