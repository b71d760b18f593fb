import { mappingOf, mappingsOf } from '../../content/check-values.ts';
import { buttonLines, describeContent, labelOf, textOf } from '../../content/describe.ts';
import { smsParts } from '../../content/sms.ts';
import { unicodeCauses } from '../../content/unicode.ts';
import type { Channel, Json, JsonObject, Leg, LegMessage, Variables } from '../../model.ts';
import { countOf } from '../../report/words.ts';
import type { PreviewNode } from './nodes.ts';

/** One message as its recipient will see or hear it. */
export function messageNode(message: LegMessage, leg: Leg): PreviewNode {
  const seen = WRITERS[message.channel](message, leg);
  return ['leg', ['name', nameOf(message)], ...providerNodes(message, leg), ...seen];
}

export const CHANNEL_WORDS: Readonly<Record<Channel, string>> = {
  sms: 'SMS',
  rcs: 'RCS',
  'messaging-app': 'Messaging app',
  email: 'Email',
  voice: 'Voice',
};

function nameOf({ channel, sms }: LegMessage): string {
  const facts = sms === null ? [] : [sms.encoding, countOf(sms.parts, 'part'), countOf(sms.units, 'unit')];
  return [CHANNEL_WORDS[channel], ...facts].join(' · ');
}

type Writer = (message: LegMessage, leg: Leg) => readonly PreviewNode[];

const EMPTY: JsonObject = Object.freeze({});

const WRITERS: Readonly<Record<Channel, Writer>> = {
  sms: (message, leg) => (message.text === null ? [] : [phone(leg, smsBubble(message, leg))]),
  rcs: rich,
  'messaging-app': rich,
  email: ({ text, rendered }, leg) => emailNode(leg.from, rendered ?? EMPTY, text),
  voice,
};

function rich({ text, rendered }: LegMessage, leg: Leg): readonly PreviewNode[] {
  if (text === null && rendered === null) return [];
  return [phone(leg, ...richNode(rendered ?? EMPTY, text))];
}

function phone({ from }: Leg, ...inside: readonly PreviewNode[]): PreviewNode {
  return ['phone', ...(from === null ? [] : [['sender', from] as const]), ...inside];
}

/** The bubble, with a mark where each part ends, and marks around what GSM-7 does not have. */
function smsBubble({ text, sms }: LegMessage, { characterSet }: Leg): PreviewNode {
  const parts = sms === null ? [text ?? ''] : smsParts(text ?? '', sms.encoding);
  const causes = sms?.encoding === 'UCS-2' && characterSet === 'auto' ? unicodeCauses(text ?? '') : [];
  const odd = causes.length === 0 ? null : oddOf(causes);
  const inside = parts.flatMap((part, i): readonly PreviewNode[] => [
    ['part', ...(odd === null ? [part] : marked(part, odd))],
    ...(i === parts.length - 1 ? [] : [['cut', `end of part ${i + 1}`] as const]),
  ]);
  return ['bubble', ['text', ...inside]];
}

/** Runs of characters: a joined emoji in pieces would be several others. */
function oddOf(causes: readonly { readonly codePoint: number }[]): RegExp {
  return new RegExp(`([${causes.map(({ codePoint }) => `\\u{${codePoint.toString(16)}}`).join('')}]+)`, 'u');
}

function marked(part: string, odd: RegExp): readonly PreviewNode[] {
  return part.split(odd).flatMap((piece, i) => (piece === '' ? [] : [i % 2 === 1 ? (['odd', piece] as const) : piece]));
}

function voice({ text, rendered }: LegMessage, { from }: Leg): readonly PreviewNode[] {
  // The first line says how it is spoken; what follows is the text.
  const [how = ''] = describeContent('voice', text, rendered);
  const caller = from === null ? [] : [['sender', `Call from ${from}`] as const];
  return [['script', ...caller, ['soft', how], ['text', text ?? '']]];
}

/** Of a template that the provider has, what goes into it. */
function providerNodes({ variables }: LegMessage, { template }: Leg): readonly PreviewNode[] {
  if (template?.kind !== 'provider') return [];
  const values = named(variables ?? {}).flatMap(([name, value]): readonly PreviewNode[] => [
    ['term', name],
    ['value', value],
  ]);
  return [
    ['p', 'The provider renders its template ', ['word', template.id], values.length === 0 ? '.' : ' with:'],
    ...(values.length === 0 ? [] : [['facts', ...values] as const]),
  ];
}

function named(variables: Variables<string>, group = ''): readonly (readonly [string, string])[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    typeof value === 'string' ? [[`${group}${name}`, value] as const] : named(value, `${group}${name}.`),
  );
}

/** What an inbox shows of an email, its HTML in a frame of its own, and its text beside it. */
function emailNode(from: string | null, content: JsonObject, text: string | null): readonly PreviewNode[] {
  const { subject, preheader, html, unsubscribe } = content;
  const { url, mailto, oneClick } = mappingOf(unsubscribe);
  const how = [textOf(url), textOf(mailto)].filter((one) => one !== '').join(', ');
  const facts = [
    ['From', from ?? ''],
    ['Subject', textOf(subject)],
    ['Preheader', textOf(preheader)],
    ['Unsubscribe', oneClick === true ? `${how} (one click)` : how],
  ].filter(([, value]) => value !== '');
  const head = facts.flatMap(([name = '', value = '']): readonly PreviewNode[] => [
    ['term', name],
    ['value', value],
  ]);
  const sides: PreviewNode[] = [];
  if (typeof html === 'string') {
    const size = `HTML, ${Math.ceil(Buffer.byteLength(html) / 1024)} KB; pictures are not loaded`;
    sides.push(['side', ['soft', size], ['frame', html]]);
  }
  if (text !== null) sides.push(['side', ['soft', 'Plain text'], ['plain', text]]);
  if (head.length === 0 && sides.length === 0) return [];
  return [['mail', ...(head.length === 0 ? [] : [['facts', ...head] as const]), ['sides', ...sides]]];
}

/** Header, text and footer in one bubble; cards; then what can be tapped. Pictures are named, never loaded. */
function richNode(content: JsonObject, text: string | null): readonly PreviewNode[] {
  const card = content['card'] === undefined ? [] : [mappingOf(content['card'])];
  const cards = [...card, ...mappingsOf(content['cards'])];
  const bubble = [
    ...headerNodes(mappingOf(content['header'])),
    ...(text === null || text === '' ? [] : [['text', text] as const]),
    ...shown('foot', content['footer']),
  ];
  return [
    ...(bubble.length === 0 ? [] : [['bubble', ...bubble] as const]),
    ...(cards.length === 0 ? [] : [['cards', ...cards.map(cardNode)] as const]),
    ...buttonNodes(mappingsOf(content['buttons'])),
    ...listNodes(mappingOf(content['list'])),
  ];
}

function headerNodes({ image, video, document, filename, text }: JsonObject): readonly PreviewNode[] {
  return [
    ...media('Image', image),
    ...media('Video', video),
    ...media('Document', document, textOf(filename)),
    ...shown('title', text),
  ];
}

/** A placeholder for a picture, and which one. */
function media(kind: string, value: Json | undefined, name = ''): readonly PreviewNode[] {
  const address = textOf(value);
  if (address === '') return [];
  return [['media', ['mediaKind', kind], ...(name === '' ? [] : [['label', name] as const]), ['address', address]]];
}

function shown(
  kind: 'title' | 'foot' | 'text' | 'section' | 'target',
  value: Json | undefined,
): readonly PreviewNode[] {
  const text = textOf(value);
  return text === '' ? [] : [[kind, text]];
}

const VIDEO = /\.(?:mp4|m4v|3gp|webm|mpe?g|mov)(?:[?#]|$)/i;

function cardNode({ title, description, media: picture, buttons }: JsonObject): PreviewNode {
  const { url, alt } = mappingOf(picture);
  return [
    'card',
    ...media(VIDEO.test(textOf(url)) ? 'Video' : 'Image', url, textOf(alt)),
    ...shown('title', title),
    ...shown('text', description),
    ...buttonNodes(mappingsOf(buttons)),
  ];
}

function buttonNodes(buttons: readonly JsonObject[]): readonly PreviewNode[] {
  if (buttons.length === 0) return [];
  return [['buttons', ...buttons.map(buttonNode)]];
}

/** The text and the target of a button, in the words of the preview in a terminal, which has both on one line. */
function buttonNode(button: JsonObject): PreviewNode {
  const line = buttonLines([button]).join('\n');
  const start = `${labelOf(button['text'])} -> `;
  const target = line.startsWith(start) ? line.slice(start.length) : '';
  return ['button', ['label', textOf(button['text'])], ...(target === '' ? [] : [['target', target] as const])];
}

/** The button, and the list that it opens. */
function listNodes({ button, sections }: JsonObject): readonly PreviewNode[] {
  if (sections === undefined) return [];
  const inside = mappingsOf(sections).flatMap(({ title, rows }): readonly PreviewNode[] => [
    ...shown('section', title),
    ['options', ...mappingsOf(rows).map(optionNode)],
  ]);
  return [
    ['buttons', ['button', ['label', textOf(button)], ['target', 'opens the list below']]],
    ['sheet', ...inside],
  ];
}

function optionNode({ title, description }: JsonObject): PreviewNode {
  return ['option', ['label', textOf(title)], ...shown('target', description)];
}
