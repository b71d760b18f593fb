import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { spokenSeconds, VOICE_LIMITS, voice } from '../../src/content/voice.ts';
import type { JsonObject } from '../../src/model.ts';
import { anyText } from '../helpers/any-text.ts';

const brief = (content: JsonObject, text: string | null | undefined) =>
  voice.check(content, text).map(({ code, severity, pointer }) => `${severity} ${code} ${pointer}`);

test.each<[label: string, content: JsonObject, text: string | null | undefined]>([
  ['a text', {}, 'Your table is booked for half past seven.'],
  ['all of it', { language: 'en-GB', voice: 'Emma', repeat: 5 }, 'Hello.'],
  ['nothing known yet', { language: null, voice: null }, null],
  ['the text of the provider', { language: 'en' }, null],
  ['languages with script and region', { language: 'zh-Hant-TW' }, '您好'],
  ['signs that are spoken', {}, '50% of £3 & 20° at 7:30, "good" (really)?\nYes - £1,000; €5 + 2 © Riverside™!'],
  ['a code with spaces', {}, 'Your code is 1 2 3 4 5 6.'],
  ['a year', {}, 'Since 1999.'],
  ['accents of their own', {}, 'Cafe\u0301 नमस्ते สวัสดี'],
  ['1,400 characters', {}, 'x'.repeat(1400)],
  ['1,400 characters of two units', {}, '𝐱'.repeat(1400)],
])('%s is fine', (_label, content, text) => {
  expect(voice.check(content, text)).toEqual([]);
});

test.each<[label: string, content: JsonObject, text: string | null | undefined, problem: string, says: RegExp]>([
  ['a language with an underscore', { language: 'en_GB' }, null, 'error content-invalid /language', /hyphens: en-GB/],
  ['a name of a language', { language: 'English!' }, null, 'error content-invalid /language', /"English!" is not/],
  ['no language', { language: '' }, null, 'error content-invalid /language', /BCP 47/],
  ['an undetermined language', { language: 'und' }, null, 'error content-invalid /language', /BCP 47/],
  ['a voice without a name', { voice: ' ' }, null, 'error content-invalid /voice', /empty/],
  ['never', { repeat: 0 }, null, 'error content-invalid /repeat', /1 to 5/],
  ['six times', { repeat: 6 }, null, 'error content-invalid /repeat', /"repeat" is 6/],
  ['one and a half times', { repeat: 1.5 }, null, 'error content-invalid /repeat', /1 to 5/],
  ['no text', {}, undefined, 'error content-invalid /text', /nothing that can be spoken/],
  ['an empty text', {}, '', 'error content-invalid /text', /nothing that can be spoken/],
  ['only signs', {}, '... !', 'error content-invalid /text', /nothing that can be spoken/],
  ['1,401 characters', {}, 'x'.repeat(1401), 'error content-limit /text', /1401 characters.*1400/],
  ['an address', {}, 'See https://a.example/x now', 'warning content-advice /text', /\(https:\/\/a\.example\/x\)/],
  ['an address without its scheme', {}, 'See www.riverside.example', 'warning content-advice /text', /address/],
  ['an emoji', {}, 'Hello 😀', 'warning content-advice /text', /emoji.*😀/],
  ['a family', {}, 'Hello 👩‍👩‍👧', 'warning content-advice /text', /emoji/],
  ['a flag', {}, 'Hello 🇬🇧', 'warning content-advice /text', /emoji/],
  ['a heart with its variation', {}, 'Love ❤️', 'warning content-advice /text', /emoji/],
  ['markup', {}, '<speak>Hello', 'warning content-advice /text', /character.*\(<\)/],
  ['a list of stars', {}, '* one', 'warning content-advice /text', /\(\*\)/],
  ['what is never visible', {}, 'Hello\u200bthere', 'warning content-advice /text', /U\+200B/],
  ['what was lost', {}, 'Caf\ufffd', 'warning content-advice /text', /character/],
  ['a control character', {}, 'Hi\u0007', 'warning content-advice /text', /U\+0007/],
  ['a code in a row', {}, 'Your code is 123456', 'warning content-advice /text', /123456/],
])('%s', (_label, content, text, expected, says) => {
  expect(brief(content, text)).toEqual([expected]);
  const [problem] = voice.check(content, text);
  expect(`${problem?.message} ${problem?.hint}`).toMatch(says);
});

describe('the length of a call', () => {
  test.each<[label: string, text: string, repeat: number | undefined, seconds: number]>([
    ['five words', 'Your table is booked now.', undefined, 2],
    ['six words', 'Your table is booked now, Ann.', undefined, 3],
    ['five words, twice', 'Your table is booked now.', 2, 4],
    ['digits, one by one', '1234567890', undefined, 4],
    ['digits with spaces', '1 2 3 4 5 6 7 8 9 0', undefined, 4],
    ['words with an apostrophe and a hyphen', "Don't over-think it, mother-in-law says", undefined, 2],
    ['digits of other scripts', '٠١٢٣٤', undefined, 2],
    ['Chinese', '您的餐桌已经预订好了', undefined, 3],
    ['nothing', '', undefined, 0],
    ['only signs', '... - !', 3, 0],
  ])('%s', (_label, text, repeat, seconds) => {
    expect(spokenSeconds(text, repeat)).toBe(seconds);
  });

  it('is that of words and digits at 2.5 a second', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 60 });
    fc.assert(
      fc.property(words, fc.stringMatching(/^[0-9]{0,12}$/), fc.integer({ min: 1, max: 5 }), (list, digits, repeat) => {
        const seconds = spokenSeconds([...list, digits].join(' '), repeat);
        expect(seconds).toBe(Math.ceil(((list.length + digits.length) * repeat) / 2.5));
      }),
    );
  });
});

it('judges any text, and no text by more than its characters', () => {
  fc.assert(
    fc.property(anyText(30), fc.integer({ min: 1, max: 60 }), (piece, times) => {
      const text = piece.repeat(times);
      const over = [...text].length > VOICE_LIMITS.text;
      const problems = brief({}, text);
      if (/[\p{L}\p{N}]/u.test(text)) expect(problems.includes('error content-limit /text')).toBe(over);
      else expect(problems).toEqual(['error content-invalid /text']);
    }),
  );
});

test('the table of docs/channels.md has the figures', () => {
  const guide = readFileSync(new URL('../../docs/channels.md', import.meta.url), 'utf8');
  expect(guide).toContain(`| text | ${VOICE_LIMITS.text} characters`);
  expect(guide).toContain(`| \`repeat\` | ${VOICE_LIMITS.repeat.min} to ${VOICE_LIMITS.repeat.max} times |`);
});
