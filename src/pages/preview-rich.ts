import { mappingOf, mappingsOf } from '../content/check-values.ts';
import { buttonLines, labelOf, textOf } from '../content/describe.ts';
import type { Json, JsonObject } from '../model.ts';
import type { PreviewNode } from './preview-nodes.ts';

/** Header, text and footer in one bubble; cards; then what can be tapped. Pictures are named, never loaded. */
export function richNode(content: JsonObject, text: string | null): readonly PreviewNode[] {
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

/** Where a picture will stand, and which one. */
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

/** What it says, and what it opens: in the words of the preview in a terminal, where both stand on one line. */
function buttonNode(button: JsonObject): PreviewNode {
  const line = buttonLines([button]).join('\n');
  const start = `${labelOf(button['text'])} -> `;
  const target = line.startsWith(start) ? line.slice(start.length) : '';
  return ['button', ['label', textOf(button['text'])], ...(target === '' ? [] : [['target', target] as const])];
}

/** The button, and what it opens. */
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
