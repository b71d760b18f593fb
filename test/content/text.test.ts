import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { isGsm } from '../../src/content/sms-parts.ts';
import { lookalikes, normaliseText, transliterate, unicodeCauses } from '../../src/content/unicode.ts';
import { golden } from '../helpers/golden.ts';

/** Any UTF-16 units, half pairs and control characters among them. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0x0a, 0x0d, 0x301, 0xd83d, 0xde00)))
  .map((units) => String.fromCharCode(...units));

describe('normaliseText', () => {
  test.each([
    ['ASCII as it is', 'Hello', 'Hello'],
    ['combining acute', 'Cafe\u0301', 'Café'],
    ['composed already', 'Café', 'Café'],
    ['CR LF', 'a\r\nb', 'a\nb'],
    ['only CR', 'a\rb', 'a\nb'],
    ['CR CR LF', 'a\r\r\nb', 'a\n\nb'],
    ['Ångström sign', '\u212b', 'Å'],
    ['Hangul', '\u1112\u1161\u11ab', '한'],
  ])('%s', (_label, text, expected) => {
    expect(normaliseText(text)).toBe(expected);
  });

  it('is what String.normalize gives, and stays so when done again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = normaliseText(text);
        expect(once).toBe(text.replace(/\r\n?/g, '\n').normalize('NFC'));
        expect(normaliseText(once)).toBe(once);
      }),
    );
  });

  it('NFC changes nothing below U+0300, so that skipping it is exact', () => {
    for (let unit = 0; unit < 0x300; unit++) {
      const text = `a${String.fromCharCode(unit)}`;
      expect(text.normalize('NFC')).toBe(text);
    }
  });
});

describe('unicodeCauses', () => {
  it('names each character once, at its first place', () => {
    expect(unicodeCauses('It’s\nŁukasz’ 😀x“\r\n\tŁ')).toEqual([
      { character: '’', codePoint: 0x2019, line: 1, column: 3 },
      { character: 'Ł', codePoint: 0x141, line: 2, column: 1 },
      { character: '😀', codePoint: 0x1f600, line: 2, column: 9 },
      { character: '“', codePoint: 0x201c, line: 2, column: 12 },
      { character: '\t', codePoint: 9, line: 3, column: 1 },
    ]);
  });
  it('counts a lone CR as a line end, and reports half a pair', () => {
    expect(unicodeCauses('a\rb\ud83d')).toEqual([{ character: '\ud83d', codePoint: 0xd83d, line: 2, column: 2 }]);
  });
  it('is empty exactly where the text is GSM, and each place holds its character', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const causes = unicodeCauses(text);
        expect(causes.length === 0).toBe(isGsm(text));
        const lines = text.split(/\r\n|\r|\n/);
        for (const { character, line, column } of causes) {
          expect(lines[line - 1]?.startsWith(character, column - 1)).toBe(true);
        }
      }),
    );
  });
});

golden(
  'signs that GSM lacks are replaced where nothing else stays',
  'content/transliterate',
  (text) => transliterate(text).text,
);

describe('transliterate', () => {
  it('says each replacement once, in order', () => {
    expect(transliterate('’ – ’ “').replaced).toEqual([
      { from: '’', to: "'" },
      { from: '–', to: '-' },
      { from: '“', to: '"' },
    ]);
  });

  it('gives GSM or the same text, and nothing more the second time', () => {
    const unit = fc.constantFrom('a', 'é', '€', 'Ł', '😀', ...lookalikes().keys());
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), (units) => {
        const text = units.join('');
        const result = transliterate(text);
        expect(isGsm(result.text) || result.text === text).toBe(true);
        expect(transliterate(result.text).replaced).toEqual([]);
      }),
    );
  });

  it('replaces only what GSM lacks, by what GSM has, none of it a letter by another letter', () => {
    for (const [from, to] of lookalikes()) {
      expect({ from, gsm: isGsm(from), toGsm: isGsm(to) }).toEqual({ from, gsm: false, toGsm: true });
      expect([...from]).toHaveLength(1);
    }
    expect(lookalikes().size).toBeGreaterThan(240);
  });
});
