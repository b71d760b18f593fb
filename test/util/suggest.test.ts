import { expect, test } from 'vitest';
import { didYouMean } from '../../src/util/suggest.ts';

test.each([
  [
    'phone number',
    'ph\u043ene number',
    'Did you mean "ph\u043ene number"? The "\u043e" in "ph\u043ene number" is U+043E.',
  ],
  ['n\u0430me', 'name', 'Did you mean "name"? The "\u0430" in "n\u0430me" is U+0430.'],
  [
    'phone-number',
    'phone\u2011number',
    'Did you mean "phone\u2011number"? The "\u2011" in "phone\u2011number" is U+2011.',
  ],
  ['имя', 'Имя', 'Did you mean "Имя"?'],
  ['strase', 'straße', 'Did you mean "straße"?'],
  ['nmae', 'name', 'Did you mean "name"?'],
])('%s beside %s names the character that only looks alike', (word, candidate, hint) => {
  expect(didYouMean(word, [candidate])).toEqual({ hint });
});
