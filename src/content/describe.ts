import type { JsonObject } from '../util/json.ts';
import type { ButtonElement, CardElement, ListElement, MessageElement } from './channel.ts';
import { CHANNEL_TABLE, type Channel } from './channels.ts';

/** Lines of plain text, not safe to show yet. Null `text`: none, or the provider has it. Null `content`: none. */
export function describeContent(channel: Channel, text: string | null, content: JsonObject | null): readonly string[] {
  const { elements } = CHANNEL_TABLE[channel].describe({ text, content: content ?? {}, sms: null });
  const cards = elements.filter(({ kind }) => kind === 'card');
  return elements.flatMap((element) => {
    if (element.kind !== 'card') return linesOf(element);
    return cardLines(element, cards.length > 1 ? `card ${cards.indexOf(element) + 1} of ${cards.length}` : 'card');
  });
}

function linesOf(element: Exclude<MessageElement, CardElement>): readonly string[] {
  switch (element.kind) {
    case 'text':
    case 'note':
      return split(element.text);
    case 'fact':
      return split(`${element.name}: ${element.value}`);
    case 'space':
      return [''];
    case 'html':
      return [`[html] ${Buffer.byteLength(element.html)} bytes`];
    case 'header':
    case 'footer':
      return split(`[${element.kind}] ${element.text}`);
    case 'image':
    case 'video':
    case 'document': {
      const { kind, url, name } = element;
      return split(`[${kind}] ${name === '' ? url : `${name} (${url})`}`);
    }
    case 'buttons':
      return buttonLines(element.buttons);
    case 'list':
      return listLines(element);
  }
}

/** Between two rules: a terminal has no room for cards side by side. */
function cardLines({ media, title, text, buttons }: CardElement, caption: string): readonly string[] {
  const inside = [
    ...filled(media.url, `[${media.kind}] `),
    ...filled(media.alt, '[alt] '),
    ...filled(title),
    ...filled(text),
    ...buttonLines(buttons),
  ];
  return [`+-- ${caption} ${'-'.repeat(CARD_RULE - caption.length)}`, ...inside.map((line) => `| ${line}`), CARD_END];
}

const CARD_RULE = 36;
const CARD_END = `+${'-'.repeat(CARD_RULE + 4)}`;

function listLines({ button, sections }: ListElement): readonly string[] {
  return [
    `${boxed(button)} opens:`,
    ...sections.flatMap(({ title, rows }) => [
      ...filled(title).map((line) => `  ${line}`),
      ...rows.flatMap((row) => [
        ...split(`( ) ${row.title}`).map((line) => `  ${line}`),
        ...filled(row.description).map((line) => `      ${line}`),
      ]),
    ]),
  ];
}

/** Answers share a line as long as there is room; every other button has a line, with its target. */
function buttonLines(buttons: readonly ButtonElement[]): readonly string[] {
  const lines: string[] = [];
  let row: string | null = null;
  for (const { label: written, target } of buttons) {
    const label = boxed(written);
    if (target === null) {
      const longer: string = row === null ? label : `${row}  ${label}`;
      if (row !== null && longer.length > ROW_WIDTH) lines.push(row);
      row = row !== null && longer.length > ROW_WIDTH ? label : longer;
    } else {
      if (row !== null) lines.push(row);
      row = null;
      lines.push(...split(`${label} -> ${target}`));
    }
  }
  if (row !== null) lines.push(row);
  return lines;
}

const ROW_WIDTH = 72;

function boxed(label: string): string {
  return `[ ${label.replaceAll('\n', ' ')} ]`;
}

function filled(text: string, before = ''): readonly string[] {
  return text === '' ? [] : split(before + text);
}

function split(text: string): readonly string[] {
  return text.split('\n');
}
