import stringWidth from 'string-width';
import { expect, it, test } from 'vitest';
import { cut, displayWidth, proseWidth, wrap } from '../../src/util/table.ts';

it('counts as the library does whatever it does not ask it about', () => {
  for (let code = 0x20; code <= 0x2027; code++) {
    const text = `a${String.fromCodePoint(code)}b`;
    if (code < 0x300 || code >= 0x2000) expect(displayWidth(text), `U+${code.toString(16)}`).toBe(stringWidth(text));
  }
});

test.each([
  ['🧑🏽‍🚀', 2],
  ['🫠', 2],
  ['1️⃣', 2],
  ['ก็', 1],
  ['각', 2],
  ['ﾊﾞ', 2],
  ['👨‍👩‍👧‍👦 family', 9],
])('%j takes %i columns', (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

it('cuts between characters as they are seen', () => {
  expect(cut('🧑🏽‍🚀🧑🏽‍🚀🧑🏽‍🚀', 5)).toBe('🧑🏽‍🚀🧑🏽‍🚀…');
  expect(cut('नमस्ते', 3)).toBe('नम…');
});

it('wraps at spaces, by columns', () => {
  expect(wrap('日本 日本 ab', 7)).toEqual(['日本', '日本 ab']);
  expect(wrap('a-word-that-is-longer b', 5)).toEqual(['a-word-that-is-longer', 'b']);
});

it('writes sentences 80 columns wide where no terminal shows them', () => {
  expect([proseWidth(20), proseWidth(Number.POSITIVE_INFINITY)]).toEqual([20, 80]);
});
