import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { HTML_TEXT_LIMITS, loadHtmlText } from '../../src/content/html-text.ts';

/** Any text at all, lone surrogates and control characters too. fast-check's own unit for it takes a second to begin. */
const anyText = (maxLength: number) =>
  fc
    .array(fc.oneof(fc.integer({ min: 0, max: 0x2fff }), fc.integer({ min: 0, max: 0x10ffff })), { maxLength })
    .map((codes) => String.fromCodePoint(...codes));

const textOfHtml = await loadHtmlText();

test.each<[label: string, html: string, text: string]>([
  ['paragraphs', '<p>One</p><p>Two</p>', 'One\n\nTwo'],
  ['a break', 'One<br>Two', 'One\nTwo'],
  ['a heading, as it is written', '<h1>Good evening</h1><p>x</p>', 'Good evening\n\nx'],
  ['white space', ' <p>\n  One   two\n</p> ', 'One two'],
  ['entities', '&lt;b&gt; &amp; &eacute; &#163;', '<b> & é £'],
  ['emoji and other scripts', '<p>☀️ مرحبا 👩‍👩‍👧</p>', '☀️ مرحبا 👩‍👩‍👧'],
  ['a link', '<a href="https://a.example/?b=1&amp;c=2">Book</a>', 'Book [https://a.example/?b=1&c=2]'],
  ['a link that shows its address', '<a href="https://a.example">https://a.example</a>', 'https://a.example'],
  ['a link to an email address', '<a href="mailto:a@b.example">a@b.example</a>', 'a@b.example'],
  ['a link inside the page', '<a href="#top">Up</a>', 'Up'],
  ['a picture', '<img src="a.png" alt="The terrace">', 'The terrace'],
  ['a picture without words', '<p>x</p><img src="a.png" alt=" "><img src="b.png">', 'x'],
  ['a picture that is a link', '<a href="https://a.example"><img alt="Shop"></a>', 'Shop [https://a.example]'],
  ['a list', '<ul><li>One</li><li>Two</li></ul>', '- One\n- Two'],
  ['a numbered list', '<ol><li>One</li><li>Two</li></ol>', '1. One\n2. Two'],
  ['a numbered list that begins later', '<ol start="9"><li>One</li><li>Two</li></ol>', '9.  One\n10. Two'],
  ['a list in a list', '<ul><li>One<ol><li>Two</li></ol></li></ul>', '- One\n  1. Two'],
  ['a list of Roman numbers beyond the Romans', '<ol type="i" start="5000"><li>x</li></ol>', '5000. x'],
  ['a list that would never begin', '<ol type="a" start="Infinity"><li>x</li></ol>', '1. x'],
  [
    'a table',
    '<table><tr><th>Dish</th><th>Price</th></tr><tr><td>Soup</td> <td>£5</td></tr></table>',
    'Dish | Price\nSoup | £5',
  ],
  ['an empty cell', '<table><tr><td>a</td><td></td><td>c</td></tr></table>', 'a | | c'],
  ['a table that arranges blocks', '<table role="presentation"><tr><td>One</td><td>Two</td></tr></table>', 'One\nTwo'],
  ['a table of paragraphs', '<table><tr><td><p>One</p></td><td><p>Two</p></td></tr></table>', 'One\n\nTwo'],
  ['a cell as wide as memory', '<table><tr><td colspan="100000000" rowspan="100000000">x</td></tr></table>', 'x'],
  ['a line', 'a<hr>b', `a\n\n${'-'.repeat(40)}\n\nb`],
  ['text unchanged', '<pre>a\n  b</pre>', 'a\n  b'],
  ['a head', '<html><head><title>T</title><style>p{}</style></head><body>x</body></html>', 'x'],
  ['a script', '<script>alert(1)</script>x', 'x'],
  ['what is hidden', '<div style="color:red;display:none">a</div><i style="display: none">b</i><b hidden>c</b>x', 'x'],
  ['comments for Outlook', '<!--[if mso]><table><tr><td>o</td></tr></table><![endif]-->x', 'x'],
  ['expressions', '<p>Hi {{name}} {{#if x}}<b>{{{x}}}</b>{{/if}}</p>', 'Hi {{name}} {{#if x}}{{{x}}}{{/if}}'],
  ['markup that is not closed', '<p>One <b>two <a href="https://a.example">three', 'One two three [https://a.example]'],
  ['only pictures', '<img src="a.png">', ''],
  ['nothing', '', ''],
])('%s', (_label, html, text) => {
  expect(textOfHtml(html)).toBe(text);
});

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
    { numRuns: 400 },
  );
});

it('keeps every word of a text', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[A-Za-z0-9\u00e9\u4e00]{1,12}$/u), { minLength: 1 }), (words) => {
      expect(textOfHtml(`<p>${words.join(' ')}</p>`)).toBe(words.join(' '));
    }),
  );
});
