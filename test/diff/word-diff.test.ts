import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { shapeOf, wordDiff } from '../../src/diff/texts.ts';

describe('the change of a text in one line', () => {
  it.each<[label: string, before: string, after: string, shape: string]>([
    ['a word', 'Hello {{name}}', 'Hi {{name}}', '[-Hello-]{+Hi+} {{name}}'],
    ['a tag is one word', 'Hi {{first name}}', 'Hi {{name}}', 'Hi [-{{first name}}-]{+{{name}}+}'],
    ['two words beside each other', 'Dear old friend', 'My new friend', '[-Dear old-]{+My new+} friend'],
    ['two places', 'a b c d e', 'x b c d y', '[-a-]{+x+} b c d [-e-]{+y+}'],
    ['added at the end', 'Hi', 'Hi Ann', 'Hi{+ Ann+}'],
    ['taken away', 'Hi Ann', 'Ann', '[-Hi -]Ann'],
    ['all of it is new', '', 'Hi', '{+Hi+}'],
    ['all of it is gone', 'Hi', '', '[-Hi-]'],
    ['a line is added', 'a\n', 'a\nb\n', 'a\n{+b\n+}'],
    ['only white space', 'a b', 'a  b', 'a[- -]{+  +}b'],
    ['letters with marks are letters', 'Grüße', 'Grüsse', '[-Grüße-]{+Grüsse+}'],
  ])('%s', (_label, before, after, shape) => {
    expect(shapeOf(before, after)).toBe(shape);
  });

  it('leaves out what is far from any change', () => {
    const shape = shapeOf(
      `${'word '.repeat(200)}old ${'word '.repeat(200)}`,
      `${'word '.repeat(200)}new ${'word '.repeat(200)}`,
    );
    expect(shape).toContain('[-old-]{+new+}');
    expect(shape).toContain('…');
    expect(shape.length).toBeLessThan(200);
  });

  it('gives up on long texts that have nothing in common, and shows where they begin to differ', () => {
    const words = (letter: string) => Array.from({ length: 40_000 }, (_, i) => `${letter}${i}`).join(' ');
    const shape = shapeOf(`Dear Ann, ${words('a')} Bye`, `Dear Ann, ${words('b')} Bye`);
    expect(shape).toMatch(/^Dear Ann, \[-a0 a1 .*…-\]\{\+b0 b1 .*…\+\} Bye$/);
  });
});

test('the pieces make up both texts again', () => {
  const word = fc.constantFrom('a', 'b', 'c', ' ', '  ', '\n', '.', '{{x}}', '{{#if y}}', 'é', '😀');
  const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(''));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const pieces = wordDiff(before, after);
      const without = (kind: string) => pieces.filter((piece) => piece.kind !== kind).map((piece) => piece.text);
      expect(without('new').join('')).toBe(before);
      expect(without('old').join('')).toBe(after);
    }),
  );
});
