import fc from 'fast-check';
import { expect, it } from 'vitest';
import { forReader, jsonText } from '../../src/util/escape.ts';
import { anyText } from '../helpers/any-text.ts';
import { PRINTABLE } from '../security/payloads.ts';

/** Text of any kind, and of what a terminal would obey more than chance would give. */
const text = fc
  .array(
    fc.oneof(anyText(10, true), fc.constantFrom(...'\u001b\u009b\u0085\u061c\u200f\u2028\u202e\u2066\ufeff\r\n\t\\"')),
  )
  .map((pieces) => pieces.join(''));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.jsonValue(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}));
const document = fc.dictionary(text, value, { maxKeys: 4 });

it('C0, C1 and bidirectional marks are escaped in JSON, which stays the same value', () => {
  fc.assert(
    fc.property(document, fc.constantFrom(0, 2), (given, indent) => {
      const json = jsonText(given, indent);
      expect(json).toMatch(PRINTABLE);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(given)));
      expect(forReader(json, 'json', true)).toBe(json);
    }),
  );
});

it('JSON that was written with these characters as they are is the same value on a terminal', () => {
  fc.assert(
    fc.property(document, (given) => {
      const shown = forReader(JSON.stringify(given), 'jsonl', true);
      expect(shown).toMatch(PRINTABLE);
      expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(given)));
    }),
  );
});

it('a format for scripts gives a terminal nothing to obey, and a text for eyes keeps its colours', () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(forReader(given, 'csv', true).replaceAll('\r\n', '\n')).toMatch(PRINTABLE);
      expect(forReader(given, 'text', true)).toBe(given);
    }),
  );
  expect(forReader('a,"b"\r\nc\td\u001b[2J\r', 'csv', true)).toBe('a,"b"\r\nc\td\\u{1b}[2J\\u{d}');
});
