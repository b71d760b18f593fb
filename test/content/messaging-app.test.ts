import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../src/model.ts';
import { brief, type Message, problemsOf, several, testCounts, testLengths } from './check-table.ts';

const reply = (i: number): JsonObject => ({ text: `Answer ${i}`, reply: `answer-${i}` });
const link = { text: 'Open', url: 'https://a.example' };
const row = (i: number): JsonObject => ({ id: `row-${i}`, title: `Row ${i}` });
const listOf = (...sections: readonly JsonObject[]): JsonObject => ({ list: { button: 'Choose', sections } });
const image = { image: 'https://a.example/summer.jpg' };
const media = { url: 'https://a.example/card.jpg' };
const card = (i: number): JsonObject => ({
  description: `Card ${i}`,
  media,
  buttons: [{ text: 'Book', reply: `book-${i}` }],
});
const hi = (content: JsonObject): Message => ({ text: 'Hi', content });
const url = (length: string | null): string | null => length?.replace(/^.{18}/u, 'https://a.example/') ?? null;

describe('lengths', () => {
  testLengths('messaging-app', [
    ['text', 4096, '/text', (text) => ({ text, content: {} })],
    ['text with buttons', 1024, '/text', (text) => ({ text, content: { buttons: [reply(0)] } })],
    ['text with a list', 1024, '/text', (text) => ({ text, content: listOf({ rows: [row(0)] }) })],
    ['text with cards', 1024, '/text', (text) => ({ text, content: { cards: several(2, card) } })],
    ['caption of an image', 1024, '/text', (text) => ({ text, content: { header: image } })],
    ['header', 60, '/header/text', (text) => hi({ header: { text }, buttons: [reply(0)] })],
    ['footer', 60, '/footer', (footer) => hi({ footer, buttons: [reply(0)] })],
    ['address of an image', 2048, '/header/image', (text) => hi({ header: { image: url(text) } })],
    [
      'name of a document',
      240,
      '/header/filename',
      (filename) => hi({ header: { document: 'https://a.example/1.pdf', filename } }),
    ],
    ['label of an answer', 20, '/buttons/0/text', (text) => hi({ buttons: [{ text, reply: 'a' }] })],
    ['id of an answer', 256, '/buttons/0/reply', (text) => hi({ buttons: [{ text: 'Yes', reply: text }] })],
    ['label of a link', 20, '/buttons/0/text', (text) => hi({ buttons: [{ ...link, text }] })],
    ['address of a link', 2048, '/buttons/0/url', (text) => hi({ buttons: [{ ...link, url: url(text) }] })],
    ['button of a list', 20, '/list/button', (button) => hi({ list: { button, sections: [{ rows: [row(0)] }] } })],
    ['title of a section', 24, '/list/sections/0/title', (title) => hi(listOf({ title, rows: [row(0)] }))],
    ['id of a row', 200, '/list/sections/0/rows/0/id', (id) => hi(listOf({ rows: [{ id, title: 'Row' }] }))],
    ['title of a row', 24, '/list/sections/0/rows/0/title', (title) => hi(listOf({ rows: [{ id: 'a', title }] }))],
    [
      'description of a row',
      72,
      '/list/sections/0/rows/1/description',
      (description) => hi(listOf({ rows: [row(0), { ...row(1), description }] })),
    ],
    [
      'text of a card',
      160,
      '/cards/1/description',
      (description) => hi({ cards: [card(0), { ...card(1), description }] }),
    ],
    [
      'address on a card',
      2048,
      '/cards/1/media/url',
      (text) => hi({ cards: [card(0), { ...card(1), media: { url: url(text) } }] }),
    ],
    [
      'label on a card',
      20,
      '/cards/1/buttons/0/text',
      (text) => hi({ cards: [card(0), { ...card(1), buttons: [{ text, reply: 'a' }] }] }),
    ],
  ]);

  it('of title and description of a card count together', () => {
    const cardOf = (title: number, description: number): JsonObject => ({
      ...card(1),
      title: 'x'.repeat(title),
      description: 'x'.repeat(description),
    });
    expect(problemsOf('messaging-app', hi({ cards: [card(0), cardOf(60, 100)] }))).toEqual([]);
    const problems = problemsOf('messaging-app', hi({ cards: [card(0), cardOf(61, 100)] }));
    expect(problems[0]?.message).toBe('The text of "cards[1]" has 161 characters; messaging-app takes at most 160.');
  });
});

describe('numbers', () => {
  const cardWith =
    (...buttons: readonly JsonObject[]) =>
    (i: number): JsonObject => ({
      ...card(i),
      buttons: buttons.map((button, b) => (button['reply'] === undefined ? button : { ...button, reply: `${i} ${b}` })),
    });

  testCounts('messaging-app', [
    ['answers', 3, '/buttons/3', (count) => hi({ buttons: several(count, reply) })],
    ['links', 1, '/buttons/1', (count) => hi({ buttons: several(count, () => link) })],
    [
      'sections',
      10,
      '/list/sections/10',
      (count) => hi(listOf(...several(count, (i) => ({ title: `Section ${i}`, rows: i < 10 ? [row(i)] : [] })))),
    ],
    ['rows of one section', 10, '/list/sections/0/rows/10', (count) => hi(listOf({ rows: several(count, row) }))],
    [
      'rows in all sections',
      10,
      '/list/sections/1/rows/4',
      (count) =>
        hi(
          listOf(
            { title: 'First', rows: several(6, row) },
            { title: 'Second', rows: several(count - 6, (i) => row(i + 6)) },
          ),
        ),
    ],
    ['cards', 10, '/cards/10', (count) => hi({ cards: several(count, card) })],
  ]);

  it('of answers on a card is two, of links one', () => {
    const of = (...buttons: readonly JsonObject[]) =>
      problemsOf('messaging-app', hi({ cards: several(2, cardWith(...buttons)) }));
    expect(of(reply(0), reply(1))).toEqual([]);
    expect(of(link)).toEqual([]);
    expect(brief(of(reply(0), reply(1), reply(2)))).toEqual([
      'content-limit /cards/0/buttons/2',
      'content-limit /cards/1/buttons/2',
    ]);
    expect(brief(of(link, link))).toEqual(['content-limit /cards/0/buttons/1', 'content-limit /cards/1/buttons/1']);
  });

  it('of cards is two at least', () => {
    const problems = problemsOf('messaging-app', hi({ cards: [card(0)] }));
    expect(brief(problems)).toEqual(['content-limit /cards']);
    expect(problems[0]?.message).toBe('A carousel has 2 to 10 cards, but there is 1 here.');
  });

  it('of answers says what was found and what is allowed', () => {
    const problems = problemsOf('messaging-app', hi({ buttons: several(4, reply) }));
    expect(problems[0]?.message).toBe('There are 4 reply buttons; messaging-app takes at most 3.');
  });
});

describe('structure', () => {
  const cases: readonly (readonly [string, Message, readonly string[]])[] = [
    ['only text', hi({}), []],
    ['text not known yet', { text: null, content: {} }, []],
    ['image without a text', { content: { header: image } }, []],
    ['image, text, footer, answers', hi({ header: image, footer: 'Bye', buttons: several(3, reply) }), []],
    ['header and list', hi({ header: { text: 'Times' }, ...listOf({ rows: [row(0)] }) }), []],
    ['nothing at all', { content: {} }, ['content-invalid /text']],
    [
      'header without a text',
      { content: { header: { text: 'Hi' } } },
      ['content-invalid /text', 'content-advice /header/text'],
    ],
    ['answers without a text', { content: { header: image, buttons: [reply(0)] } }, ['content-invalid /text']],
    ['list without a text', { text: '', content: listOf({ rows: [row(0)] }) }, ['content-invalid /text']],
    ['cards without a text', { content: { cards: several(2, card) } }, ['content-invalid /text']],
    ['buttons and list', hi({ buttons: [reply(0)], ...listOf({ rows: [row(0)] }) }), ['content-invalid /list']],
    ['buttons and cards', hi({ buttons: [reply(0)], cards: several(2, card) }), ['content-invalid /cards']],
    [
      'cards with header and footer',
      hi({ header: image, footer: 'Bye', cards: several(2, card) }),
      ['content-invalid /header', 'content-invalid /footer'],
    ],
    ['image above a list', hi({ header: image, ...listOf({ rows: [row(0)] }) }), ['content-invalid /header/image']],
    ['answers and a link', hi({ buttons: [reply(0), link] }), ['content-invalid /buttons/1']],
    ['a link and an answer', hi({ buttons: [link, reply(0)] }), ['content-invalid /buttons/1']],
    ['footer below a bare text', hi({ footer: 'Bye' }), ['content-advice /footer']],
    ['empty header', hi({ header: {} }), ['content-invalid /header']],
    [
      'two headers',
      hi({ header: { ...image, text: 'Hi' } }),
      ['content-invalid /header', 'content-advice /header/text'],
    ],
    ['image by http', hi({ header: { image: 'http://a.example/x.jpg' } }), ['content-invalid /header/image']],
    ['image not known yet', hi({ header: { image: null } }), []],
    ['image that came out empty', hi({ header: { image: '' } }), ['content-invalid /header/image']],
    ['document by ftp', hi({ header: { document: 'ftp://a.example/x.pdf' } }), ['content-invalid /header/document']],
    [
      'image of a kind that is not shown',
      hi({ header: { image: 'https://a.example/x.WEBP?v=1' } }),
      ['content-advice /header/image'],
    ],
    ['image on a host that ends like a video', hi({ header: { image: 'https://pictures.mov/x' } }), []],
    [
      'video of a kind that is not shown',
      hi({ header: { video: 'https://a.example/x.mov' } }),
      ['content-advice /header/video'],
    ],
    ['name of an image', hi({ header: { ...image, filename: 'x.jpg' } }), ['content-invalid /header/filename']],
    ['header on two lines', hi({ header: { text: 'A\nB' }, buttons: [reply(0)] }), ['content-invalid /header/text']],
    [
      'button that calls',
      hi({ buttons: [{ text: 'Call', dial: '+442079460000' }] }),
      ['content-invalid /buttons/0/dial'],
    ],
    ['link with an id', hi({ buttons: [{ ...link, id: 'opened' }] }), ['content-invalid /buttons/0/id']],
    ['button that does nothing', hi({ buttons: [{ text: 'Yes' }] }), ['content-invalid /buttons/0']],
    [
      'answers that come back alike',
      hi({ buttons: [reply(0), reply(1), { text: 'Other', reply: 'answer-1' }] }),
      ['content-invalid /buttons/2/reply'],
    ],
    [
      'answers that read alike',
      hi({ buttons: [reply(0), { text: 'Answer 0', reply: 'b' }] }),
      ['content-invalid /buttons/1/text'],
    ],
    ['answers not known yet', hi({ buttons: several(3, () => ({ text: null, reply: null })) }), []],
    [
      'sections without titles',
      hi(listOf({ title: 'First', rows: [row(0)] }, { rows: [row(1)] })),
      ['content-invalid /list/sections/1'],
    ],
    [
      'section with a title not known yet',
      hi(listOf({ title: null, rows: [row(0)] }, { title: null, rows: [row(1)] })),
      [],
    ],
    [
      'section with an empty title',
      hi(listOf({ title: '', rows: [row(0)] })),
      ['content-invalid /list/sections/0/title'],
    ],
    [
      'row without a title',
      hi(listOf({ rows: [{ id: 'a', title: '' }] })),
      ['content-invalid /list/sections/0/rows/0/title'],
    ],
    [
      'row without an id',
      hi(listOf({ rows: [{ id: '', title: 'Row' }] })),
      ['content-invalid /list/sections/0/rows/0/id'],
    ],
    [
      'rows with one id in two sections',
      hi(listOf({ title: 'First', rows: [row(0)] }, { title: 'Second', rows: [row(0)] })),
      ['content-invalid /list/sections/1/rows/0/id'],
    ],
    [
      'card without media',
      hi({ cards: [card(0), { description: 'x', buttons: card(1)['buttons'] ?? [] }] }),
      ['content-invalid /cards/1'],
    ],
    [
      'cards with other kinds of buttons',
      hi({ cards: [card(0), { ...card(1), buttons: [link] }] }),
      ['content-invalid /cards/1'],
    ],
    [
      'cards with other numbers of buttons',
      hi({ cards: [card(0), { description: 'x', media }] }),
      ['content-invalid /cards/1'],
    ],
    [
      'the same answer on two cards',
      hi({ cards: [card(0), card(1), card(0)] }),
      ['content-invalid /cards/2/buttons/0/reply'],
    ],
    [
      'height and thumbnail on a card',
      hi({ cards: [card(0), { ...card(1), media: { ...media, height: 'short', thumbnail: media.url } }] }),
      ['content-invalid /cards/1/media/height', 'content-invalid /cards/1/media/thumbnail'],
    ],
    [
      'a title that is too long beside a description not known yet',
      hi({ cards: [card(0), { ...card(1), title: 'x'.repeat(161), description: null }] }),
      ['content-limit /cards/1/title'],
    ],
  ];
  test.each(cases)('%s', (_label, message, expected) => {
    expect(brief(problemsOf('messaging-app', message))).toEqual(expected);
  });
});
