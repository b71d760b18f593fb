import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { HTML_TEXT_LIMITS, loadHtmlText } from '../../src/content/html-text.ts';
import { anyText } from '../helpers/any-text.ts';
import { golden } from '../helpers/golden.ts';
import { examples } from '../helpers/quick.ts';

const textOfHtml = await loadHtmlText();

golden('HTML is read as its text', 'content/html-text', (html) => textOfHtml(html));

it('breaks no line, however long', () => {
  const long = 'word '.repeat(500).trim();
  const address = `https://a.example/${'x'.repeat(500)}`;
  expect(textOfHtml(`<p>${long}</p>`)).toBe(long);
  expect(textOfHtml(`<a href="${address}">x</a>`)).toBe(`x [${address}]`);
});

describe('what could hold it up', () => {
  test.each<[label: string, html: string]>([
    ['elements in elements', '<div>'.repeat(100_000)],
    ['inline elements in each other', '<b>'.repeat(100_000)],
    ['tables in tables', '<table><tr><td>'.repeat(20_000)],
    ['lists in lists', '<ul><li>'.repeat(20_000)],
    ['quotes in quotes', '<blockquote>x'.repeat(20_000)],
    ['cells', `<table><tr>${'<td>x'.repeat(100_000)}`],
    ['attributes', `<a ${'href=x '.repeat(100_000)}>`],
    ['signs', '<'.repeat(400_000)],
    ['comments that are not closed', '<!--'.repeat(100_000)],
    ['spaces', ' '.repeat(2_000_000)],
    ['ampersands', '&'.repeat(500_000)],
    ['links in links', '<a href=x>'.repeat(50_000)],
  ])('%s', (_label, html) => {
    const start = performance.now();
    expect(typeof textOfHtml(`${html}end`)).toBe('string');
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  it('is cut: beyond the length, the tags, the depth', () => {
    expect(textOfHtml('x'.repeat(HTML_TEXT_LIMITS.length + 10))).toHaveLength(HTML_TEXT_LIMITS.length);
    const paragraphs = textOfHtml('<p>x</p>'.repeat(HTML_TEXT_LIMITS.tags)).match(/x/g) ?? [];
    expect(paragraphs).toHaveLength(HTML_TEXT_LIMITS.tags / 2);
    const nested = (depth: number) => textOfHtml(`${'<div>'.repeat(depth)}deep${'</div>'.repeat(depth)}`);
    expect(nested(HTML_TEXT_LIMITS.depth - 5)).toBe('deep');
    expect(nested(HTML_TEXT_LIMITS.depth + 5)).toBe('');
  });
});

it('never throws', () => {
  const names =
    'div p a table tr td th ul ol li br img hr pre blockquote h1 thead style script svg title textarea select';
  const tag = fc.constantFrom(...names.split(' '));
  const value = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom('-1', '1e9', 'NaN', 'Infinity', 'i', 'A', '/', '#'),
  );
  const attribute = fc.tuple(fc.constantFrom('href', 'style', 'role', 'start', 'type', 'colspan', 'alt'), value);
  const opening = fc
    .tuple(tag, fc.array(attribute, { maxLength: 3 }))
    .map(([name, attributes]) => `<${name}${attributes.map(([key, text]) => ` ${key}="${text}"`).join('')}>`);
  const piece = fc.oneof(
    opening,
    tag.map((name) => `</${name}>`),
    anyText(10),
    fc.constantFrom('<!--', '-->', '<![CDATA[', ']]>', '<', '>', '&', '&#xffffffff;', '\0', '\ud800'),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      expect(typeof textOfHtml(pieces.join(''))).toBe('string');
    }),
    { numRuns: examples(400) },
  );
});

it('keeps every word of a text', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[A-Za-z0-9\u00e9\u4e00]{1,12}$/u), { minLength: 1 }), (words) => {
      expect(textOfHtml(`<p>${words.join(' ')}</p>`)).toBe(words.join(' '));
    }),
  );
});
