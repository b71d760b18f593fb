import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createReference, createReferences } from '../../src/plan/expand.ts';
import { anyText } from '../helpers/any-text.ts';
import { examples } from '../helpers/quick.ts';

const RUN = { environment: 'local', campaign: 'hello', occurrence: '2026-11-21' };

it('is what it was in every version: who was sent to is found again', () => {
  expect(createReference(RUN, 'sms')('+447700900001')).toBe('WxM6rhJJinAUEDyfpB1zG_');
});

it('is the beginning of SHA-256 over run, channel and key, whatever these are', () => {
  const word = fc.oneof(fc.string({ maxLength: 90 }), anyText(20, true));
  const key = fc.oneof(fc.string({ unit: fc.constantFrom('a', '7', '+', '@'), maxLength: 140 }), anyText(40, true));
  const property = fc.property(word, word, word, fc.array(key, { minLength: 1, maxLength: 4 }), (...words) => {
    const [environment, campaign, occurrence, keys] = words;
    const referenceOf = createReferences({ environment, campaign, occurrence });
    for (const one of keys) {
      const text = `${JSON.stringify([environment, campaign, occurrence, 'rcs'])}\n${one}`;
      expect(referenceOf(one, 'rcs')).toBe(createHash('sha256').update(text).digest('base64url').slice(0, 22));
    }
  });
  fc.assert(property, { numRuns: examples(2000) });
});
