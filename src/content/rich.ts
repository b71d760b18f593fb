import type { Json, JsonObject } from '../util/json.ts';
import { type ButtonKind, kindOf } from './buttons.ts';
import type { ButtonElement, CardElement, Description, ListElement, MessageElement, SeenMessage } from './channel.ts';
import { mappingOf, mappingsOf, shownText } from './check-values.ts';

export function describeRich({ text, content }: SeenMessage): Description {
  const card = content['card'] === undefined ? [] : [mappingOf(content['card'])];
  const cards = [...card, ...mappingsOf(content['cards'])];
  const buttons = mappingsOf(content['buttons']).map(buttonOf);
  const elements: readonly MessageElement[] = [
    ...headerOf(mappingOf(content['header'])),
    ...(text === null ? [] : [{ kind: 'text', text } as const]),
    ...filled('footer', content['footer']),
    ...cards.map(cardOf),
    ...(buttons.length === 0 ? [] : [{ kind: 'buttons', buttons } as const]),
    ...listOf(mappingOf(content['list'])),
  ];
  return { on: 'phone', elements };
}

function headerOf({ image, video, document, filename, text }: JsonObject): readonly MessageElement[] {
  return [
    ...media('image', image),
    ...media('video', video),
    ...media('document', document, shownText(filename)),
    ...filled('header', text),
  ];
}

function filled(kind: 'header' | 'footer', value: Json | undefined): readonly MessageElement[] {
  const text = shownText(value);
  return text === '' ? [] : [{ kind, text }];
}

function media(kind: 'image' | 'video' | 'document', value: Json | undefined, name = ''): readonly MessageElement[] {
  const url = shownText(value);
  return url === '' ? [] : [{ kind, url, name }];
}

function cardOf({ title, description, media: picture, buttons }: JsonObject): CardElement {
  const { url, alt } = mappingOf(picture);
  const kind = VIDEO.test(shownText(url)) ? 'video' : 'image';
  return {
    kind: 'card',
    media: { kind, url: shownText(url), alt: shownText(alt) },
    title: shownText(title),
    text: shownText(description),
    buttons: mappingsOf(buttons).map(buttonOf),
  };
}

const VIDEO = /\.(?:mp4|m4v|3gp|webm|mpe?g|mov)(?:[?#]|$)/i;

function buttonOf(button: JsonObject): ButtonElement {
  const kind = kindOf(button);
  const target = kind === null || kind === 'reply' ? null : TARGETS[kind](button[kind]);
  return { label: shownText(button['text']), target };
}

const TARGETS: Readonly<Record<Exclude<ButtonKind, 'reply'>, (value: Json | undefined) => string>> = {
  url: shownText,
  dial: shownText,
  location(value) {
    const { latitude, longitude, label } = mappingOf(value);
    const place = `${shownText(latitude)}, ${shownText(longitude)}`;
    return label === undefined ? place : `${shownText(label)} (${place})`;
  },
  shareLocation: () => 'shares the location',
  event(value) {
    const { title, start, end, description } = mappingOf(value);
    const what = description === undefined ? shownText(title) : `${shownText(title)} (${shownText(description)})`;
    return `calendar: ${what}, ${shownText(start)} to ${shownText(end)}`;
  },
};

function listOf({ button, sections }: JsonObject): readonly ListElement[] {
  if (sections === undefined) return [];
  return [
    {
      kind: 'list',
      button: shownText(button),
      sections: mappingsOf(sections).map(({ title, rows }) => ({
        title: shownText(title),
        rows: mappingsOf(rows).map((row) => ({
          title: shownText(row['title']),
          description: shownText(row['description']),
        })),
      })),
    },
  ];
}

export const EXAMPLE_BUTTONS = `content:
  buttons:
    - { text: On my way, reply: coming }
    - { text: Tomorrow, reply: tomorrow }
`;
