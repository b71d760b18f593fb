import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model.ts';
import { golden } from '../helpers/golden.ts';
import { brief, type Message, problemsOf, several, stated, testCounts, testLengths } from './check-table.ts';

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

golden('a message is what messaging-app can show, or has problems at their places', 'content/messaging-app', (input) =>
  stated(problemsOf('messaging-app', JSON.parse(input))),
);

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
