import type {
  ButtonElement,
  CardElement,
  Description,
  ListElement,
  MessageElement,
  TextElement,
} from '../../content/channel.ts';
import { CHANNEL_TABLE } from '../../content/channels.ts';
import type { JsonObject, Step, StepMessage } from '../../model.ts';
import { countOf } from '../../report/words.ts';
import { namedValues } from './facts.ts';
import { factNodes, type KINDS, type PreviewNode } from './nodes.ts';

export function messageNode(message: StepMessage, step: Step): PreviewNode {
  const { channel, text, rendered, sms } = message;
  const facts = sms === null ? null : { ...sms, characterSet: step.characterSet };
  const described = CHANNEL_TABLE[channel].describe({ text, content: rendered ?? EMPTY, sms: facts });
  const counts = sms === null ? [] : [sms.encoding, countOf(sms.parts, 'part'), countOf(sms.units, 'unit')];
  const name = [CHANNEL_TABLE[channel].label, ...counts].join(' · ');
  return ['step', ['name', name], ...providerNodes(message, step), ...FRAMES[described.on](described, step)];
}

const EMPTY: JsonObject = Object.freeze({});

/** By where the recipient sees or hears the message. */
const FRAMES: Readonly<Record<Description['on'], (described: Description, step: Step) => readonly PreviewNode[]>> = {
  phone({ elements }, { from }) {
    if (elements.length === 0) return [];
    const bubble = elements.filter(({ kind }) => IN_BUBBLE.has(kind)).flatMap(nodesOf);
    const cards = elements.filter(({ kind }) => kind === 'card').flatMap(nodesOf);
    const below = elements.filter(({ kind }) => kind === 'buttons' || kind === 'list').flatMap(nodesOf);
    return [
      ['phone', ...shown('sender', from ?? ''), ...shown('bubble', ...bubble), ...shown('cards', ...cards), ...below],
    ];
  },
  /** An email as an inbox shows it: its HTML in a frame, and its text beside it. */
  inbox({ elements }, { from }) {
    const facts = elements.flatMap((one) => (one.kind === 'fact' ? [[one.name, one.value] as const] : []));
    const head = factNodes([['From', from ?? ''] as const, ...facts].filter(([, value]) => value !== ''));
    const sides = elements.flatMap((one): readonly PreviewNode[] => {
      if (one.kind === 'html') return nodesOf(one);
      return one.kind === 'text' ? [['side', ['soft', 'Plain text'], ['plain', one.text]]] : [];
    });
    if (head.length === 0 && sides.length === 0) return [];
    return [['mail', ...head, ['sides', ...sides]]];
  },
  /** How it is spoken, and the text. */
  call({ elements }, { from }) {
    const caller = from === null ? [] : shown('sender', `Call from ${from}`);
    const text = elements.find((one) => one.kind === 'text')?.text ?? '';
    return [['script', ...caller, ...elements.filter(({ kind }) => kind === 'note').flatMap(nodesOf), ['text', text]]];
  },
};

const IN_BUBBLE = new Set<MessageElement['kind']>(['image', 'video', 'document', 'header', 'text', 'footer']);

function nodesOf(element: MessageElement): readonly PreviewNode[] {
  switch (element.kind) {
    case 'text':
      return textNodes(element);
    case 'note':
      return [['soft', element.text]];
    case 'html': {
      const size = `HTML, ${Math.ceil(Buffer.byteLength(element.html) / 1024)} KB; pictures are not loaded`;
      return [['side', ['soft', size], ['frame', element.html]]];
    }
    case 'header':
      return shown('title', element.text);
    case 'footer':
      return shown('foot', element.text);
    case 'image':
    case 'video':
    case 'document':
      return [mediaNode(element.kind, element.url, element.name)];
    case 'card':
      return [cardNode(element)];
    case 'buttons':
      return [['buttons', ...element.buttons.map(buttonNode)]];
    case 'list':
      return listNodes(element);
    // The page shows them elsewhere.
    case 'fact':
    case 'space':
      return [];
  }
}

/** An SMS, with a mark where each part ends, and marks around characters outside GSM-7. */
function textNodes({ text, parts, odd = [] }: TextElement): readonly PreviewNode[] {
  if (parts === undefined) return shown('text', text);
  // Matches runs of characters: parts of a joined emoji would be other emoji.
  const pattern =
    odd.length === 0 ? null : new RegExp(`([${odd.map((one) => `\\u{${one.toString(16)}}`).join('')}]+)`, 'u');
  const inside = parts.flatMap((part, i): readonly PreviewNode[] => [
    [
      'part',
      ...(pattern === null ? [part] : part.split(pattern))
        .map((piece, at): PreviewNode => (at % 2 === 1 ? ['odd', piece] : piece))
        .filter((piece) => piece !== ''),
    ],
    ...(i === parts.length - 1 ? [] : [['cut', `end of part ${i + 1}`] as const]),
  ]);
  return [['text', ...inside]];
}

/** For a template at the provider: the values of its variables. */
function providerNodes({ variables }: StepMessage, { template }: Step): readonly PreviewNode[] {
  if (template?.kind !== 'provider') return [];
  const values = factNodes(namedValues(variables ?? {}));
  const end = values.length === 0 ? '.' : ' with:';
  return [['p', 'The provider renders its template ', ['word', template.id], end], ...values];
}

function mediaNode(kind: 'image' | 'video' | 'document', url: string, name: string): PreviewNode {
  return ['media', ['mediaKind', MEDIA_WORDS[kind]], ...shown('label', name), ['address', url]];
}

const MEDIA_WORDS = { image: 'Image', video: 'Video', document: 'Document' } as const;

/** Nothing where nothing is inside. */
function shown(kind: keyof typeof KINDS, ...inside: readonly PreviewNode[]): readonly PreviewNode[] {
  return inside.every((node) => node === '') ? [] : [[kind, ...inside]];
}

function cardNode({ media, title, text, buttons }: CardElement): PreviewNode {
  return [
    'card',
    ...(media.url === '' ? [] : [mediaNode(media.kind, media.url, media.alt)]),
    ...shown('title', title),
    ...shown('text', text),
    ...shown('buttons', ...buttons.map(buttonNode)),
  ];
}

function buttonNode({ label, target }: ButtonElement): PreviewNode {
  return ['button', ['label', label], ...shown('target', target ?? '')];
}

function listNodes({ button, sections }: ListElement): readonly PreviewNode[] {
  const inside = sections.flatMap(({ title, rows }): readonly PreviewNode[] => [
    ...shown('section', title),
    [
      'options',
      ...rows.map((row): PreviewNode => ['option', ['label', row.title], ...shown('target', row.description)]),
    ],
  ]);
  return [
    ['buttons', ['button', ['label', button], ['target', 'opens the list below']]],
    ['sheet', ...inside],
  ];
}
