import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyDelta, baseOf, deltaOf, tokensOf } from '../../src/web/preview/delta.ts';
import { examples } from '../helpers/quick.ts';

const markup = fc.string({ unit: fc.constantFrom('<', '>', 'p', 'td', ' ', 'é', '\n', '😀'), maxLength: 60 });

it('a text comes back from what differs of it, whatever the base', () => {
  fc.assert(
    fc.property(markup, markup, (first, second) => {
      expect(tokensOf(second).join('')).toBe(second);
      const delta = JSON.parse(JSON.stringify(deltaOf(second, baseOf(first))));
      expect(applyDelta(delta, tokensOf(first))).toBe(second);
    }),
    { numRuns: examples(500) },
  );
});

it('of two letters of one template little more is kept than what differs', () => {
  const letter = (name: string): string =>
    `${'<tr><td class="x">a line of the template</td></tr>'.repeat(500)}<p>${name}</p>${'<p>and its end</p>'.repeat(200)}`;
  const kept = JSON.stringify(deltaOf(letter('Łukasz & Söhne'), baseOf(letter('Ann'))));
  expect(kept.length).toBeLessThan(100);
  expect(kept).toContain('Łukasz');
});
