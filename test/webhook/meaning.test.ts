import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReplyMeaning } from '../../src/model.ts';
import { foldLetters, foldWord, meaningOf, WORDS } from '../../src/webhook/meaning.ts';
import { anyText } from '../helpers/any-text.ts';
import { golden } from '../helpers/golden.ts';
import { examples } from '../helpers/quick.ts';

const read = (text: string, stopWords: readonly string[] = []): ReplyMeaning => meaningOf(text, { stopWords });

describe('what a reply means', () => {
  golden('a reply of each kind is read by its meaning', 'webhook/meaning', (text) => read(text));

  test('words of a project count as `stop` does', () => {
    const own = ['STOPNEWS', 'keine Werbung', 'Nö'];
    for (const text of [
      'stopnews',
      'Stop-News',
      'Keine Werbung!',
      'keine werbung bitte',
      'NO\u0308',
      'nö danke schön',
    ]) {
      expect(`${text}: ${read(text, own)}`).toBe(`${text}: opt-out`);
    }
    expect(read('nö danke schön')).toBe('answer');
    expect(read('nö, ich komme doch lieber', own)).toBe('review');
    expect(read('stop', own)).toBe('opt-out');
    expect(read('start', ['start'])).toBe('opt-out');
    // A word without a letter or digit would be found in every empty text.
    expect(read('', ['!!'])).toBe('answer');
  });

  test('every word of the lists does what its list says, and no word is in two of them', () => {
    const stop = [...WORDS.stop, ...WORDS.wholeStop];
    for (const word of stop) expect(`${word}: ${read(word)}`).toBe(`${word}: opt-out`);
    for (const word of WORDS.start) expect(`${word}: ${read(word)}`).toBe(`${word}: opt-in`);
    const folded = [...stop, ...WORDS.start].map(foldWord);
    expect(folded.filter((word, i) => folded.indexOf(word) !== i)).toEqual([]);
  });

  // A pattern that grows with the square of the text takes minutes here, and the test times out.
  test.each([
    ['stop '.repeat(100_000), 'review'],
    ['st'.repeat(200_000), 'answer'],
    [`${'-'.repeat(400_000)}stop`, 'answer'],
    ['\n>'.repeat(200_000), 'answer'],
  ])('a text of any length has a meaning (%#)', (text, meaning) => {
    expect(read(text)).toBe(meaning);
  });
});

describe('decoration', () => {
  const around = fc
    .array(fc.constantFrom(...' .!"«»()…\u200b\u202e\ufeff¡*\n', '🙏', '❤️'), { maxLength: 6 })
    .map((parts) => parts.join(''));
  const unseen = fc.constantFrom('', '', '\u200b', '\u200d', '\u00ad', '\u2066', '\ufe0f');
  const forms: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => text.normalize('NFD'),
    (text) => text.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
    (text) => text.replaceAll(' ', '\u00a0 \u2003'),
  ];
  const texts = ['stop', 'opt-out', 'please stop', 'end', 'arrêt', 'üyelikten çık', '退订', 'стоп', 'start', 'no'];
  texts.push('cancel my order');

  test('around a text, and inside its letters, changes nothing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...texts, "please don't stop", 'stop it, I will come', 'end of May', 'leave me alone, you'),
        around,
        around,
        fc.constantFrom(...forms),
        fc.array(unseen, { minLength: 40, maxLength: 40 }),
        (text, before, after, form, marks) => {
          const spelled = [...form(text)].map((letter, i) => letter + (marks[i] ?? '')).join('');
          expect(read(before + spelled + after)).toBe(read(text));
        },
      ),
      { numRuns: examples(500) },
    );
  });

  test('every letter has one form, which to fold again does not change: also ẞ, which is no capital of ß', () => {
    const letters = Array.from({ length: 0x20000 }, (_, code) => String.fromCodePoint(code));
    const folded = new Set(letters.map(foldWord));
    expect([...folded].filter((form) => foldWord(form) !== form)).toEqual([]);
    expect(read('SCHEIẞE')).toBe(read('Scheiße'));
  });

  test('every word has one form too, whatever letters and marks are in it', () => {
    const letters = [...'AaBeοΟὀΐᾳᲂуУŉǰßẞıİłсςᾈЙё', ...'ىيﷺﬀ¹'];
    const marks = [..."'’ʼ´-", '\u0301', '\u0308', '\u0345', '\u0307', '\u200d', '\u064b', '\u093c'];
    const word = fc.string({
      unit: fc.oneof(fc.constantFrom(...letters, ...marks), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
      maxLength: 8,
    });
    fc.assert(
      fc.property(word, (text) => {
        expect(foldLetters(foldLetters(text))).toBe(foldLetters(text));
      }),
      { numRuns: 2_000, examples: [['Aὀ'], ["q\u0301't"], ['aᲂ'], ['A\u0345ο']] },
    );
  });

  test('a text of any kind has one meaning', () => {
    fc.assert(
      fc.property(anyText(60, true), (text) => {
        expect(['opt-out', 'opt-in', 'review', 'answer']).toContain(read(text));
      }),
      { numRuns: examples(500) },
    );
  });
});
