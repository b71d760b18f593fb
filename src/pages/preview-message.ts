import { describeContent } from '../content/describe.ts';
import { smsParts } from '../content/sms.ts';
import { unicodeCauses } from '../content/unicode.ts';
import type { Channel, JsonObject, Leg, LegMessage, Variables } from '../model.ts';
import { countOf } from '../report/words.ts';
import { emailNode } from './preview-email.ts';
import type { PreviewNode } from './preview-nodes.ts';
import { richNode } from './preview-rich.ts';

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
