import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvCell, guardCell, unguardCell } from '../../src/util/csv.ts';

describe('csv cells (S20)', () => {
  it('read back exactly, and never begin as a formula', () => {
    const piece = fc.constantFrom(
      '=',
      '+',
      '-',
      '@',
      '\t',
      '\r',
      '\n',
      '\0',
      '＝',
      '＋',
      '－',
      '＠',
      "'",
      '"',
      'a',
      ',',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const value = pieces.join('');
        expect(guardCell(value)).not.toMatch(/^[=+\-@\t\r\n\0＝＋－＠]/);
        expect(unguardCell(guardCell(value))).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });
  it("does not change O'Brien and 'tis, and quotes everything", () => {
    expect(csvCell("O'Brien")).toBe(`"O'Brien"`);
    expect(csvCell("'tis")).toBe(`"'tis"`);
    expect(unguardCell("'tis")).toBe("'tis");
    expect(csvCell('say "hi"')).toBe('"say ""hi"""');
    expect(csvCell(-5)).toBe(`"'-5"`);
    expect(csvCell(null)).toBe('""');
  });
});
