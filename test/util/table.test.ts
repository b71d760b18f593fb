import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cut, displayWidth, table } from '../../src/util/table.ts';

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
  it('becomes several lines a row where columns have no room, and cuts none of them', () => {
    const columns = [{ title: 'Run' }, { title: 'Accepted', align: 'right' as const }, { shrink: true }];
    const rows = [
      ['hello-00c0ffee', '4,980', 'the API took the message'],
      ['日本-00c0ffee', '1', ''],
    ];
    expect(table(rows, columns, { width: 20, below: (row) => (row === 0 ? '    below\n' : '') })).toBe(
      'hello-00c0ffee\n  Accepted: 4,980\n  the API took the\n  message\n    below\n日本-00c0ffee\n  Accepted: 1\n',
    );
  });
  it('puts lines below their rows', () => {
    const rows = [['a'], ['b']];
    const below = (row: number) => `  of ${row}\n`;
    expect(table(rows, [{ title: 'T' }], { width: 80, below })).toBe('T\na\n  of 0\nb\n  of 1\n');
  });
});
