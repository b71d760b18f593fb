import fc from 'fast-check';
import { words as wordsOf } from './words.ts';

/*
 * Valid files, damaged as people, editors and attackers damage them: at the level of words and signs, so that most of
 * a file stays what it was and the damage gets deep into the program, and at the level of bytes.
 */

/** What is done to a file, and where; `at` counts words, modulo their number. */
export interface Edit {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly length: number;
  readonly word: string;
}

const KINDS = ['delete', 'double', 'replace', 'insert', 'swap', 'cut', 'repeat', 'surround'] as const;

/** How the whole file comes as bytes. */
export type Spelling = (typeof SPELLINGS)[number];

const SPELLINGS = [
  'utf8',
  'byte order mark',
  'two byte order marks',
  'utf16le',
  'latin1',
  'CR only',
  'CR LF',
  'NUL inside',
  'invalid byte inside',
  'lone surrogate inside',
  'overlong slash inside',
  'cut in a character',
  'no last newline',
  'U+2028 for newlines',
] as const;

/** Too much of something. Rare, because each costs time. */
const TOO_MUCH = [
  'x'.repeat(100_000),
  'ä😀'.repeat(20_000),
  '['.repeat(20_000),
  '{'.repeat(20_000),
  '('.repeat(20_000),
  '{{'.repeat(5_000),
  '{{#if a}}'.repeat(3_000),
  '{{#each a}}'.repeat(200),
  '- '.repeat(5_000),
  '? '.repeat(5_000),
  '&a '.repeat(5_000),
  'a: '.repeat(3_000),
  '"'.repeat(9_999),
  ','.repeat(50_000),
  '\n'.repeat(50_000),
  ' '.repeat(50_000),
  '\t'.repeat(20_000),
  '\0'.repeat(1_000),
  '{"a":'.repeat(5_000),
  'x: y\r\n'.repeat(2_000),
  '>'.repeat(10_000),
  '!'.repeat(10_000),
  'a.'.repeat(20_000),
  '../'.repeat(3_000),
  '9'.repeat(5_000),
  '\u0301'.repeat(10_000),
] as const;

/** Damage: some edits and a way to write the file. `words` are those of the format, which count more than odd ones. */
export function damage(words: readonly string[]): fc.Arbitrary<{ edits: readonly Edit[]; spelling: Spelling }> {
  const word = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...words) },
    { weight: 6, arbitrary: fc.constantFrom(...wordsOf('any')) },
    { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: 'binary' }) },
    { weight: 1, arbitrary: fc.constantFrom(...TOO_MUCH) },
  );
  const edit: fc.Arbitrary<Edit> = fc.record({
    kind: fc.constantFrom(...KINDS),
    at: fc.nat(9_999),
    length: fc.integer({ min: 1, max: 6 }),
    word,
  });
  return fc.record({
    edits: fc.array(edit, { minLength: 1, maxLength: 5 }),
    spelling: fc.oneof(
      { weight: 4, arbitrary: fc.constant('utf8' as const) },
      { weight: 1, arbitrary: fc.constantFrom(...SPELLINGS) },
    ),
  });
}

/** The file with the damage done. */
export function damaged(text: string, edits: readonly Edit[], spelling: Spelling = 'utf8'): Buffer {
  let words: string[] = text.match(/[\p{L}\p{N}_]+|[^\S\n]+|\n|[^\s\p{L}\p{N}_]/gu) ?? [];
  for (const edit of edits) words = apply(words, edit);
  return spell(words.join(''), spelling);
}

function apply(words: readonly string[], { kind, at: anywhere, length, word }: Edit): string[] {
  const at = words.length === 0 ? 0 : anywhere % words.length;
  const [before, some, after] = [words.slice(0, at), words.slice(at, at + length), words.slice(at + length)];
  switch (kind) {
    case 'delete':
      return [...before, ...after];
    case 'double':
      return [...before, ...some, ...some, ...after];
    case 'replace':
      return [...before, word, ...words.slice(at + 1)];
    case 'insert':
      return [...before, word, ...some, ...after];
    case 'swap':
      return [...before, ...some.toReversed(), ...after];
    case 'cut':
      return before;
    case 'repeat':
      return [...before, ...Array<string>(length * 50).fill(some.join('')), ...after];
    case 'surround':
      return [...before, word, ...some, word, ...after];
  }
}

function spell(text: string, spelling: Spelling): Buffer {
  const utf8 = Buffer.from(text, 'utf8');
  const middle = Math.floor(utf8.length / 2);
  const inside = (...bytes: number[]): Buffer =>
    Buffer.concat([utf8.subarray(0, middle), Buffer.from(bytes), utf8.subarray(middle)]);
  switch (spelling) {
    case 'utf8':
      return utf8;
    case 'byte order mark':
      return Buffer.from(`\ufeff${text}`);
    case 'two byte order marks':
      return Buffer.from(`\ufeff\ufeff${text}`);
    case 'utf16le':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'latin1':
      return Buffer.from(text, 'latin1');
    case 'CR only':
      return Buffer.from(text.replaceAll('\n', '\r'));
    case 'CR LF':
      return Buffer.from(text.replaceAll('\n', '\r\n'));
    case 'NUL inside':
      return inside(0);
    case 'invalid byte inside':
      return inside(0xff);
    case 'lone surrogate inside':
      return inside(0xed, 0xa0, 0x80);
    case 'overlong slash inside':
      return inside(0xc0, 0xaf);
    case 'cut in a character':
      return Buffer.concat([utf8, Buffer.from([0xf0, 0x9f, 0x98])]);
    case 'no last newline':
      return Buffer.from(text.replace(/\n+$/, ''));
    case 'U+2028 for newlines':
      return Buffer.from(text.replaceAll('\n', '\u2028'));
  }
}
