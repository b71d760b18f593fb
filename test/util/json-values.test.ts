import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type JsonPiece, jsonValues } from '../../src/util/json.ts';

async function read(text: string, pieceLength = 7, max = 1000): Promise<JsonPiece[]> {
  async function* pieces(): AsyncGenerator<string> {
    for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength);
  }
  const found: JsonPiece[] = [];
  for await (const batch of jsonValues(pieces(), max)) found.push(...batch);
  return found;
}

const shown = (pieces: readonly JsonPiece[]): string[] =>
  pieces.map((piece) => `${piece.line} ${'text' in piece ? piece.text : `(${piece.fault})`}`);

test.each<[string, string, string[]]>([
  ['nothing', '', []],
  ['white space', ' \n\n', []],
  ['one value', '{"a": 1}', ['1 {"a": 1}']],
  ['a value over several lines', '\n{\n"a": [1,\n2]}\n', ['2 {\n"a": [1,\n2]}']],
  ['JSON lines', '{"a":1}\n\n{"b":"}"}\n', ['1 {"a":1}', '3 {"b":"}"}']],
  ['JSON lines with a broken one', '{"a":1}\n{"b":\n{"c":3}', ['1 {"a":1}', '2 {"b":', '3 {"c":3}']],
  ['an array', '[{"a":1},\n {"b":"]"}\n]', ['1 {"a":1}', '2 {"b":"]"}']],
  ['an empty array', '[ ]', []],
  ['arrays a line', '[{"a":1}]\n[{"b":2},[3]]', ['1 {"a":1}', '2 {"b":2}', '2 [3]']],
  ['quotes and backslashes', '[{"a":"\\"]}\\\\"},{"b":0}]', ['1 {"a":"\\"]}\\\\"}', '1 {"b":0}']],
  ['a value that is not an object', '[1, "x, y", null,true]', ['1 1', '1 "x, y"', '1 null', '1 true']],
  ['words after each other', 'a\nb "c"d', ['1 a', '2 b', '2 "c"', '2 d']],
  ['an array without an end', '[{"a":1},\n', ['1 {"a":1}', '2 (unfinished)']],
  ['a value without an end', '[{"a":1},\n{"b":', ['1 {"a":1}', '2 (unfinished)']],
  ['a bracket too many', '[{"a":1}]\n]\n{"b":2}', ['1 {"a":1}', '2 (stray)']],
])('%s', async (_, text, expected) => {
  for (const pieceLength of [1, 3, 1000]) expect(shown(await read(text, pieceLength))).toEqual(expected);
});

describe('a value that is too large', () => {
  it('is the end of an array', async () => {
    expect(shown(await read(`[{"a":1},{"b":"${'x'.repeat(90)}"},{"c":3}]`, 10, 50))).toEqual([
      '1 {"a":1}',
      '1 (too-large)',
    ]);
  });

  it('is one line of JSON lines', async () => {
    const text = `{"a":1}\n{"b":"${'x'.repeat(90)}"}\n{"c":3}`;
    expect(shown(await read(text, 10, 50))).toEqual(['1 {"a":1}', '2 (too-large)', '3 {"c":3}']);
  });
});

it('finds the values of any array, however it is cut', async () => {
  const values = fc.array(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(values, fc.integer({ min: 1, max: 20 }), fc.constantFrom(0, 2), async (given, length, indent) => {
      const found = await read(JSON.stringify(given, null, indent), length, 1e6);
      expect(found.map((piece) => ('text' in piece ? JSON.parse(piece.text) : piece))).toEqual(
        JSON.parse(JSON.stringify(given)),
      );
    }),
  );
});
