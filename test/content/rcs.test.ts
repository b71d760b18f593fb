import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../src/model.ts';
import { golden } from '../helpers/golden.ts';
import { type Message, problemsOf, several, stated, testCounts, testLengths } from './check-table.ts';

const reply = (i: number): JsonObject => ({ text: `Answer ${i}`, reply: `answer-${i}` });
const card = (i: number): JsonObject => ({ title: `Card ${i}` });
const withButton = (button: JsonObject): Message => ({ text: 'Hi', content: { buttons: [button] } });
const url = (length: string | null): string | null => length?.replace(/^.{18}/u, 'https://a.example/') ?? null;
const event = { title: 'Check-up', start: '2026-11-21T09:00:00+00:00', end: '2026-11-21T09:30:00+00:00' };
const place = { latitude: 51.5072, longitude: '-0.1276' };

golden('a message is what rcs can show, or has problems at their places', 'content/rcs', (input, label) =>
  stated(problemsOf('rcs', label.startsWith('button: ') ? withButton(JSON.parse(input)) : JSON.parse(input))),
);

describe('lengths', () => {
  testLengths('rcs', [
    ['text', 3072, '/text', (text) => ({ text, content: {} })],
    ['text with buttons', 3072, '/text', (text) => ({ text, content: { buttons: [reply(0)] } })],
    ['label', 25, '/buttons/0/text', (text) => withButton({ text, reply: 'yes' })],
    ['postback of a reply', 2048, '/buttons/0/reply', (text) => withButton({ text: 'Yes', reply: text })],
    ['postback of a link', 2048, '/buttons/0/id', (id) => withButton({ text: 'Open', url: 'https://a.example', id })],
    ['address of a link', 2048, '/buttons/0/url', (text) => withButton({ text: 'Open', url: url(text) })],
    [
      'name of a place',
      100,
      '/buttons/0/location/label',
      (label) => withButton({ text: 'Map', location: { ...place, label } }),
    ],
    [
      'title of an event',
      100,
      '/buttons/0/event/title',
      (title) => withButton({ text: 'Add', event: { ...event, title } }),
    ],
    [
      'description of an event',
      500,
      '/buttons/0/event/description',
      (description) => withButton({ text: 'Add', event: { ...event, description } }),
    ],
    ['title of a card', 200, '/card/title', (title) => ({ content: { card: { title } } })],
    ['description of a card', 2000, '/card/description', (description) => ({ content: { card: { description } } })],
    ['title in a carousel', 200, '/cards/1/title', (title) => ({ content: { cards: [card(0), { title }] } })],
    ['media of a card', 2048, '/card/media/url', (text) => ({ content: { card: { media: { url: url(text) } } } })],
    [
      'label on a card',
      25,
      '/cards/1/buttons/0/text',
      (text) => ({ content: { cards: [card(0), { ...card(1), buttons: [{ text, reply: 'a' }] }] } }),
    ],
  ]);
});

describe('numbers', () => {
  testCounts('rcs', [
    ['buttons', 11, '/buttons/11', (count) => ({ text: 'Hi', content: { buttons: several(count, reply) } })],
    [
      'buttons on a card',
      4,
      '/card/buttons/4',
      (count) => ({ content: { card: { ...card(0), buttons: several(count, reply) } } }),
    ],
    ['cards', 10, '/cards/10', (count) => ({ content: { cards: several(count, card) } })],
  ]);

  test.each([2, 10])('%i cards are a carousel', (count) => {
    expect(problemsOf('rcs', { content: { cards: several(count, card) } })).toEqual([]);
  });

  it('one card is none', () => {
    const problems = problemsOf('rcs', { content: { cards: [card(0)] } });
    expect(problems).toMatchObject([{ code: 'content-limit', pointer: '/cards', severity: 'error' }]);
    expect(problems[0]?.message).toBe('A carousel has 2 to 10 cards, but there is 1 here.');
    expect(problems[0]?.hint).toContain('"card"');
    expect(problemsOf('rcs', { content: { card: card(0) } })).toEqual([]);
  });
});

describe('the whole message', () => {
  /** So many bytes of JSON, each part inside its own limits: control characters take six bytes, the rest one. */
  const weighing = (bytes: number): JsonObject => {
    const heavy = several(11, (i) => ({ text: `B${i}`, url: 'https://a.example', id: '\u0001'.repeat(2048) }));
    const cardOf = (i: number, filler: number): JsonObject => ({
      description: 'x'.repeat(filler),
      ...(i < 2 ? { buttons: heavy.slice(0, 4) } : {}),
    });
    const contentOf = (fillers: readonly number[]): JsonObject => ({
      buttons: heavy,
      cards: fillers.map((n, i) => cardOf(i, n)),
    });
    let left = bytes - Buffer.byteLength(JSON.stringify({ ...contentOf(several(10, () => 1)), text: '' }));
    return contentOf(
      several(10, () => {
        const filler = Math.min(left, 1999);
        left -= filler;
        return 1 + filler;
      }),
    );
  };

  it('has at most 250,000 bytes as JSON', () => {
    const content = weighing(250_000);
    expect(Buffer.byteLength(JSON.stringify({ ...content, text: '' }))).toBe(250_000);
    expect(problemsOf('rcs', { content })).toEqual([]);
    const problems = problemsOf('rcs', { content: weighing(250_001) });
    expect(problems).toMatchObject([{ code: 'content-limit', pointer: '' }]);
    expect(problems[0]?.message).toBe('The whole message has 250001 bytes; rcs takes at most 250000.');
  });

  it('is not judged by its length where that is within the limit by far', () => {
    const text = 'x'.repeat(3072);
    expect(problemsOf('rcs', { text, content: { buttons: several(11, reply) } })).toEqual([]);
  });
});
