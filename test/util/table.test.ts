import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cut, displayWidth, fill, table } from '../../src/util/table.ts';

describe('displayWidth', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['日本', 4],
    ['한', 2],
    ['ﾊ', 1],
    ['Ａ', 2],
    ['😀', 2],
    ['🇮🇹', 2],
    ['👩‍👩‍👧', 2],
    ['❤\ufe0f', 2],
    ['•', 1],
    ['\u200b', 0],
    ['1', 1],
  ])('%j takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe('cut', () => {
  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['abcdef', 1, '…'],
    ['abcdef', 0, ''],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['👩‍👩‍👧abc', 3, '👩‍👩‍👧…'],
  ])('%j to %i columns is %j', (text, width, expected) => {
    expect(cut(text, width)).toBe(expected);
  });
  it('never exceeds its width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, width) => {
        expect(displayWidth(cut(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('table', () => {
  it('aligns, with titles and an indent, without blanks at the ends', () => {
    const columns = [{ title: 'Name' }, { title: 'Parts', align: 'right' as const }, { title: 'Note' }];
    expect(
      table(
        [
          ['日本', '1', ''],
          ['Anna', '12', 'x'],
        ],
        columns,
        { width: 80, indent: 2 },
      ),
    ).toBe('  Name  Parts  Note\n  日本      1\n  Anna     12  x\n');
  });
  it('shrinks the widest column that may shrink', () => {
    const rows = [['a'.repeat(30), 'b'.repeat(20), 'c'.repeat(10)]];
    expect(table(rows, [{ shrink: true }, { shrink: true }, {}], { width: 40 })).toBe(
      `${'a'.repeat(12)}…  ${'b'.repeat(12)}…  ${'c'.repeat(10)}\n`,
    );
  });
  it('shows what a terminal would obey, on one line per row', () => {
    const text = table([['a\u001b[2Jb\nc\r', 'x']], [{}, {}], { width: 80 });
    expect(text).toBe('a\\u{1b}[2Jb\\nc\\u{d}  x\n');
  });
  it('is never wider than the terminal while a column can shrink', () => {
    const cells = fc.array(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.string({ maxLength: 10 })), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(cells, fc.integer({ min: 90, max: 120 }), (rows, width) => {
        for (const line of table(rows, [{ shrink: true }, {}], { width }).split('\n')) {
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
        }
      }),
    );
  });
  it('cuts nothing where no terminal shows it', () => {
    const rows = [['a'.repeat(300), 'b']];
    expect(table(rows, [{ shrink: true }, {}], { width: Number.POSITIVE_INFINITY })).toBe(`${'a'.repeat(300)}  b\n`);
  });
  it('drops columns where the table is too wide, the least important first, before it cuts what people read', () => {
    const columns = [
      { title: 'run' },
      { title: 'place', drop: 1 },
      { title: 'text', shrink: true },
      { title: 'id', drop: 2 },
    ];
    const rows = [['spring', 'Paris', 'Who is this, please?', 'a1b2c3']];
    const at = (width: number) => table(rows, columns, { width });
    expect(at(43)).toBe('run     place  text                  id\nspring  Paris  Who is this, please?  a1b2c3\n');
    expect(at(40)).toBe('run     place  text               id\nspring  Paris  Who is this, ple…  a1b2c3\n');
    expect(at(37)).toBe('run     place  text\nspring  Paris  Who is this, please?\n');
    expect(at(28)).toBe('run     text\nspring  Who is this, please?\n');
    expect(table([['spring', '', 'Who?', '']], columns, { width: 80 })).toBe('run     text\nspring  Who?\n');
    expect(at(14)).toBe('run     text\nspring  Who i…\n');
  });
  it('breaks cells at spaces where columns have no room, and cuts none of them', () => {
    const columns = [{ title: 'Run' }, { title: 'Accepted', align: 'right' as const }, {}];
    const rows = [
      ['hello-00c0ffee', '4,980', 'the API took the message'],
      ['日本-00c0ffee', '1', ''],
    ];
    expect(table(rows, columns, { width: 34, below: (row) => (row === 0 ? '    below\n' : '') })).toBe(
      'Run             Accepted\nhello-00c0ffee     4,980  the API\n                          took the\n                          message\n    below\n日本-00c0ffee          1\n',
    );
  });
  it('gives up columns where a word has no room', () => {
    const rows = [['GET', 'https://api.example.com/messages', 'gives a list of them']];
    expect(table(rows, [{}, {}, {}], { width: 36 })).toBe(
      'GET\n     https://api.example.com/messages\n     gives a list of them\n',
    );
  });
  it('puts lines below their rows', () => {
    const rows = [['a'], ['b']];
    const below = (row: number) => `  of ${row}\n`;
    expect(table(rows, [{ title: 'T' }], { width: 80, below })).toBe('T\na\n  of 0\nb\n  of 1\n');
  });
});

describe('fill', () => {
  it.each([
    ['short', 'short'],
    ['a sentence that is longer than it', 'a sentence that is\n  longer than it'],
    ['  help: a hint that is longer', '  help: a hint that\n    is longer'],
    ['ok  clock  the clock is ten seconds late', 'ok  clock  the clock\n    is ten seconds\n    late'],
    ['send hello --env x  to the first', 'send hello --env x\n    to the first'],
    ['    | a text of some words', '    | a text of some\n    | words'],
    ['  npx handbill send a-long-name --env production', '  npx handbill send a-long-name --env production'],
    ['handbill send a-long-name  to the sandbox', 'handbill send a-long-name\n    to the sandbox'],
    ['{"code": "usage", "message": "x"}', '{"code": "usage", "message": "x"}'],
    ['\u001b[1merror\u001b[0m: a b c d e f g h i j', '\u001b[1merror\u001b[0m: a b c d e f g\n  h i j'],
  ])('%j', (text, filled) => {
    expect(fill(`${text}\n${text}\n`, 20)).toBe(`${filled}\n${filled}\n`);
    expect(fill(text, Number.POSITIVE_INFINITY)).toBe(text);
  });
  it('is never wider where a word has room, and loses no word', () => {
    const words = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '日'), minLength: 1, maxLength: 4 }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(words, fc.nat(6), (given, indent) => {
        const text = ' '.repeat(indent) + given.join(' ');
        const filled = fill(text, 20);
        for (const line of filled.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(20);
        expect(filled.trim().split(/\s+/)).toEqual(given);
      }),
    );
  });
});
