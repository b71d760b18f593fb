import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../src/model.ts';
import { brief, type Message, problemsOf, several, testCounts, testLengths } from './check-table.ts';

const reply = (i: number): JsonObject => ({ text: `Answer ${i}`, reply: `answer-${i}` });
const card = (i: number): JsonObject => ({ title: `Card ${i}` });
const withButton = (button: JsonObject): Message => ({ text: 'Hi', content: { buttons: [button] } });
const url = (length: string | null): string | null => length?.replace(/^.{18}/u, 'https://a.example/') ?? null;
const event = { title: 'Check-up', start: '2026-11-21T09:00:00+00:00', end: '2026-11-21T09:30:00+00:00' };
const place = { latitude: 51.5072, longitude: '-0.1276' };

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

describe('structure', () => {
  const cases: readonly (readonly [string, Message, readonly string[]])[] = [
    ['only text', { text: 'Hi', content: {} }, []],
    ['text that is not known yet', { text: null, content: { buttons: [reply(0)] } }, []],
    ['only a card', { content: { card: card(0) } }, []],
    [
      'carousel with width and buttons',
      { content: { cards: several(2, card), cardWidth: 'small', buttons: [reply(0)] } },
      [],
    ],
    ['no text', { content: { buttons: [reply(0)] } }, ['content-invalid /text']],
    ['blank text', { text: ' \n', content: {} }, ['content-invalid /text']],
    ['text beside a card', { text: 'Hi', content: { card: card(0) } }, ['content-advice /text']],
    ['card and cards', { content: { card: card(0), cards: several(2, card) } }, ['content-invalid /cards']],
    ['width without cards', { content: { card: card(0), cardWidth: 'small' } }, ['content-invalid /cardWidth']],
    ['card without anything', { content: { card: { buttons: [reply(0)] } } }, ['content-invalid /card']],
    [
      'card whose texts came out empty',
      { content: { card: { title: '', description: ' ' } } },
      ['content-invalid /card'],
    ],
    ['card with a title not known yet', { content: { card: { title: null } } }, []],
    ['tall image on a card', { content: { card: { media: { url: 'https://a.example/x.jpg', height: 'tall' } } } }, []],
    [
      'tall image in a carousel',
      { content: { cards: [card(0), { media: { url: 'https://a.example/x.jpg', height: 'tall' } }] } },
      ['content-invalid /cards/1/media/height'],
    ],
    [
      'media and thumbnail by http',
      { content: { card: { media: { url: 'http://a.example/x.jpg', thumbnail: 'http://a.example/y.jpg' } } } },
      ['content-invalid /card/media/url', 'content-invalid /card/media/thumbnail'],
    ],
    [
      'two answers that come back alike',
      { text: 'Hi', content: { buttons: [reply(0), { text: 'Other', reply: 'answer-0' }] } },
      ['content-invalid /buttons/1/reply'],
    ],
    [
      'two answers that read alike',
      { text: 'Hi', content: { buttons: [reply(0), { text: 'Answer 0', reply: 'b' }] } },
      ['content-invalid /buttons/1/text'],
    ],
    [
      'answers that are not known yet',
      {
        text: 'Hi',
        content: {
          buttons: [
            { text: null, reply: null },
            { text: null, reply: null },
          ],
        },
      },
      [],
    ],
    [
      'the same answer on two cards',
      { content: { cards: several(2, (i) => ({ ...card(i), buttons: [{ text: 'No', reply: 'no' }] })) } },
      [],
    ],
  ];
  test.each(cases)('%s', (_label, message, expected) => {
    expect(brief(problemsOf('rcs', message))).toEqual(expected);
  });
});

describe('buttons', () => {
  const cases: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['reply', { text: 'Yes', reply: 'yes' }, []],
    ['link by http', { text: 'Open', url: 'http://a.example/?q=1#x' }, []],
    ['dial', { text: 'Call', dial: '+442079460000', id: 'called' }, []],
    ['location', { text: 'Map', location: place }, []],
    ['location, exact degrees', { text: 'Map', location: { latitude: -90, longitude: '180.0' } }, []],
    ['location not known yet', { text: 'Map', location: { latitude: null, longitude: null } }, []],
    ['asking for the location', { text: 'Where?', shareLocation: true }, []],
    ['event', { text: 'Add', event }, []],
    ['event with other offsets', { text: 'Add', event: { ...event, end: '2026-11-21T10:01:00+01:00' } }, []],
    ['event not known yet', { text: 'Add', event: { title: null, start: null, end: null } }, []],
    ['nothing to do', { text: 'Yes' }, ['content-invalid /buttons/0']],
    ['two things to do', { text: 'Yes', reply: 'yes', url: 'https://a.example' }, ['content-invalid /buttons/0']],
    ['reply with an id', { text: 'Yes', reply: 'yes', id: 'y' }, ['content-invalid /buttons/0/id']],
    ['empty label', { text: ' ', reply: 'yes' }, ['content-invalid /buttons/0/text']],
    ['label on two lines', { text: 'Yes\nplease', reply: 'yes' }, ['content-invalid /buttons/0/text']],
    ['empty reply', { text: 'Yes', reply: '' }, ['content-invalid /buttons/0/reply']],
    ['empty id', { text: 'Open', url: 'https://a.example', id: '' }, ['content-invalid /buttons/0/id']],
    ['empty address', { text: 'Open', url: '' }, ['content-invalid /buttons/0/url']],
    ['no address', { text: 'Open', url: 'riverside.example' }, ['content-invalid /buttons/0/url']],
    ['script as address', { text: 'Open', url: 'javascript:alert(1)' }, ['content-invalid /buttons/0/url']],
    ['address with a space', { text: 'Open', url: 'https://a.example/a b' }, ['content-invalid /buttons/0/url']],
    ['address with a line break', { text: 'Open', url: 'https://a.example/\nb' }, ['content-invalid /buttons/0/url']],
    ['address without a host', { text: 'Open', url: 'https://' }, ['content-invalid /buttons/0/url']],
    ['number without its plus', { text: 'Call', dial: '442079460000' }, ['content-invalid /buttons/0/dial']],
    ['number with spaces', { text: 'Call', dial: '+44 20 7946 0000' }, ['content-invalid /buttons/0/dial']],
    [
      'north of the pole',
      { text: 'Map', location: { ...place, latitude: 90.1 } },
      ['content-invalid /buttons/0/location/latitude'],
    ],
    [
      'degrees in words',
      { text: 'Map', location: { ...place, longitude: '0.1 W' } },
      ['content-invalid /buttons/0/location/longitude'],
    ],
    [
      'degrees that are empty',
      { text: 'Map', location: { ...place, longitude: '' } },
      ['content-invalid /buttons/0/location/longitude'],
    ],
    [
      'event without an offset',
      { text: 'Add', event: { ...event, start: '2026-11-21T09:00:00' } },
      ['content-invalid /buttons/0/event/start'],
    ],
    [
      'event on 30 February',
      { text: 'Add', event: { ...event, end: '2026-02-30T09:00:00Z' } },
      ['content-invalid /buttons/0/event/end'],
    ],
    [
      'event that ends as it begins',
      { text: 'Add', event: { ...event, end: event.start } },
      ['content-invalid /buttons/0/event/end'],
    ],
    [
      'event without a name',
      { text: 'Add', event: { ...event, title: '' } },
      ['content-invalid /buttons/0/event/title'],
    ],
  ];
  test.each(cases)('%s', (_label, button, expected) => {
    expect(brief(problemsOf('rcs', withButton(button)))).toEqual(expected);
  });
});
