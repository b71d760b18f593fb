import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { loadHtmlText } from '../../src/content/html-text.ts';
import { compileMjml, MAX_MJML_BYTES } from '../../src/content/mjml.ts';
import { MAX_MJML_DEPTH } from '../../src/content/mjml-markup.ts';
import type { Diagnostic } from '../../src/errors.ts';
import { anyText } from '../helpers/any-text.ts';
import { diagnosticLines, golden } from '../helpers/golden.ts';
import { examples } from '../helpers/quick.ts';

const source = (text: string) => ({ text, file: 'mail.mjml', line: 1, column: 1 });

async function compiled(text: string) {
  const result = await compileMjml(source(text));
  if ('problem' in result) throw new Error(JSON.stringify(result.problem));
  return result;
}

async function refused(text: string): Promise<Diagnostic> {
  const result = await compileMjml(source(text));
  if (!('problem' in result)) throw new Error(`taken: ${result.html}`);
  return result.problem;
}

/** A file whose first column begins at line 2, column 1. */
const inColumn = (markup: string) =>
  `<mjml><mj-body><mj-section><mj-column>\n${markup}\n</mj-column></mj-section></mj-body></mjml>`;

golden('MJML is taken with warnings, or refused at its place', 'content/mjml', async (input, label) => {
  const text = label.startsWith('column: ') ? inColumn(input) : input;
  const result = await compileMjml(source(text));
  const found = 'problem' in result ? [result.problem] : result.warnings;
  for (const { source: line } of found) expect(text.split(/\r\n?|\n/)).toContain(line);
  return diagnosticLines(found, 'mail.mjml');
});

describe('an attribute that MJML does not have', () => {
  const told = async (markup: string) =>
    (await compiled(inColumn(markup))).warnings.map(({ code, severity, message, hint = '', at }) => [
      `${code} ${severity} ${at?.file}:${at?.line}:${at?.column}+${at?.length}`,
      `${message} ${hint}`,
    ]);

  it('is told for each element, and never of mj-all and mj-class', async () => {
    expect(await told('<mj-text src="1">x</mj-text><mj-divider src="2" /><mj-text src="3">x</mj-text>')).toHaveLength(
      2,
    );
    const head = '<mj-attributes><mj-all src="a" /><mj-class name="b" cellpadding="1" /></mj-attributes>';
    const { warnings } = await compiled(inColumn('').replace('<mjml>', `<mjml><mj-head>${head}</mj-head>`));
    expect(warnings).toEqual([]);
  });

  it('is told once, however often it is written', async () => {
    expect(await told('<mj-text siz="1">x</mj-text><mj-text siz="2">x</mj-text>')).toHaveLength(1);
  });

  it('is not one of HTML, of a comment or of a text', async () => {
    const text =
      '<mj-text css-class="a" mj-class="b"><p data-x="1" font-szie="2">x siz="3"</p></mj-text><!-- <mj-text siz="1"> -->';
    expect(await told(text)).toEqual([]);
  });

  it('does not reach the email, and the others may', async () => {
    const { html } = await compiled(inColumn('<mj-text font-szie="21px" font-size="22px">x</mj-text>'));
    expect(html).not.toContain('21px');
    expect(html).toContain('22px');
  });
});

describe('a preheader of the campaign', () => {
  const text = '<mjml><mj-head>\n<mj-preview>{{name}}, your offer</mj-preview></mj-head><mj-body></mj-body></mjml>';

  it('is refused beside <mj-preview>, with the place of the second', async () => {
    const result = await compileMjml(source(text), true);
    expect(result).toMatchObject({
      problem: {
        code: 'content-invalid',
        severity: 'error',
        message: 'The email has two preheaders: this one and content.preheader.',
        at: { file: 'mail.mjml', line: 2, column: 1 },
      },
    });
  });
  it('may be in either of the two, and in a comment', async () => {
    expect(await compileMjml(source(text), false)).toHaveProperty('html');
    expect(
      await compileMjml(source(text.replaceAll(/<mj-preview>.*<.mj-preview>/g, '<!-- <mj-preview> -->')), true),
    ).toHaveProperty('html');
  });
});

describe('a newsletter', async () => {
  const text = await readFile(new URL('../fixtures/content/mjml/newsletter.mjml', import.meta.url), 'utf8');
  const { html, warnings } = await compiled(text);

  it('has no attribute that is not known', () => {
    expect(warnings).toEqual([]);
  });

  it('becomes HTML with its texts', async () => {
    expect(html).toMatch(/<!doctype html>.*<body.*<\/body><\/html>/s);
    expect(html).not.toMatch(/<\/?mj-/);
    const toText = await loadHtmlText();
    const plain = toText(html);
    expect(plain).toContain('Good evening, {{first_name}}');
    expect(plain).toContain('Your table is booked & the kitchen is open{{#if late}} until 11{{else}} until 9{{/if}}.');
    expect(plain).toContain('Dish | Price\n{{dish}} | {{currency price "GBP"}}');
    expect(plain).toContain('See the offer [{{link');
  });

  it('holds each expression of the file, in the order of the file where it is not in an attribute', () => {
    const expressions = (of: string) => of.match(/\{\{.*?\}{2,}/g) ?? [];
    expect([...new Set(expressions(html))].sort()).toEqual([...new Set(expressions(text))].sort());
    expect(html.match(/\{\{[#/>].*?\}\}|\{\{else\}\}/g)).toEqual(text.match(/\{\{[#/>].*?\}\}|\{\{else\}\}/g));
  });

  it('keeps what the compiler would have written as escapes', () => {
    expect(html).toContain('alt="The terrace ☀️ in {{town}}"');
    expect(html).toContain('href="https://riverside.example/steak?for=&quot;two&quot;"');
    expect(html).toMatch(/style="margin: 0; +padding: 0"/);
    expect(html).not.toMatch(/\\[nu"\\]/);
  });

  it('puts what surrounds a section around the whole of its HTML', () => {
    const [, inside = ''] = /\{\{#if offer\}\}(.*?)\{\{\/if\}\}/s.exec(html.slice(html.indexOf('{{#if offer}}'))) ?? [];
    const count = (tag: string) => inside.split(tag).length - 1;
    expect(count('<div')).toBeGreaterThan(0);
    expect(count('<div')).toBe(count('</div>'));
    expect(count('<table')).toBe(count('</table>'));
  });
});

test.each<[label: string, markup: string, html: RegExp]>([
  ['raw HTML', '<mj-text>{{{html}}}{{&amp}}</mj-text>', />\{\{\{html\}\}\}\{\{&amp\}\}</],
  ['braces and signs in quotes', '<mj-text>{{x "}} < > &" \'"\'}}</mj-text>', /\{\{x "\}\} < > &" '"'\}\}/],
  ['quotes in an attribute', '<mj-button href="{{url "a"}}">x</mj-button>', /href="\{\{url "a"\}\}"/],
  [
    'a block in an attribute',
    '<mj-button href="a{{#if b}}?b={{b}}{{/if}}">x</mj-button>',
    /href="a\{\{#if b\}\}\?b=\{\{b\}\}\{\{\/if\}\}"/,
  ],
  ['several lines', '<mj-text>{{x\n  y=1\n}}</mj-text>', /\{\{x\n {2}y=1\n\}\}/],
  ['a comment with a quote', "<mj-text>{{! don't }}x</mj-text>", />\{\{! don't \}\}x</],
  ['a comment with braces', '<mj-text>{{!-- a }} <b> --}}x</mj-text>', />\{\{!-- a \}\} <b> --\}\}x</],
  ['an escaped expression', '<mj-text>\\{{x}}</mj-text>', />\\\{\{x\}\}</],
  [
    'a block around texts',
    '{{#if a}}<mj-text>x</mj-text>{{/if}}',
    /<tbody>\n\{\{#if a\}\}<tr>.*<\/tr>\{\{\/if\}\}\n<\/tbody>/,
  ],
  [
    'a block in mj-raw',
    '<mj-raw>{{#if a}}</mj-raw><mj-text>x</mj-text><mj-raw>{{/if}}</mj-raw>',
    /\{\{#if a\}\}<tr>.*<\/tr>\{\{\/if\}\}/,
  ],
  ['a colour', '<mj-text color="{{colour}}">x</mj-text>', /color:\{\{colour\}\}/],
  ['a bracket of its own', '<mj-text>\u27e6{{x}}\u27e7</mj-text>', />\u27e6\{\{x\}\}\u27e7</],
  [
    'one that is not closed, left to Handlebars',
    '<mj-text>{{#if x}<b>{{y}}</b></mj-text>',
    /\{\{#if x\}<b>\{\{y\}\}<\/b>/,
  ],
])('%s passes through', async (_label, markup, expected) => {
  expect((await compiled(inColumn(markup))).html).toMatch(expected);
});

test('the example of the documentation is taken', async () => {
  const guide = await readFile(new URL('../../docs/email.md', import.meta.url), 'utf8');
  const example = /```html\n(<mj-body>.*?)```/s.exec(guide)?.[1] ?? '';
  expect((await compiled(`<mjml>${example}</mjml>`)).html).toContain('Hi {{first_name}}, {{#if late}}');
  expect(guide).toContain(`at most ${MAX_MJML_DEPTH} levels deep and ${MAX_MJML_BYTES / 1024} KB`);
});

test('what surrounds <mjml> stays around the HTML', async () => {
  const { html } = await compiled('{{#if a}}\n<mjml><mj-body></mj-body></mjml>\n{{/if}}\n');
  expect(html).toMatch(/^\{\{#if a\}\}\n<!doctype html>.*<\/html>\n\{\{\/if\}\}\n$/s);
});

describe('input that the compiler could not survive', () => {
  it('is refused before: too deep', async () => {
    const nested = (depth: number) => inColumn(`<mj-text>${'<i>'.repeat(depth)}x${'</i>'.repeat(depth)}</mj-text>`);
    // mjml, mj-body, mj-section, mj-column, mj-text
    expect((await refused(nested(MAX_MJML_DEPTH - 4))).message).toMatch(/nested/);
    expect((await compiled(nested(MAX_MJML_DEPTH - 5))).html).toContain('<i>x</i>');
  });

  test.each(['mj-wrapper', 'mj-section', 'mj-column', 'mj-group', 'mj-hero', 'mj-raw'])(
    'is far off: %s',
    async (name) => {
      const depth = MAX_MJML_DEPTH - 2;
      const text = `<mjml><mj-body>${`<${name}>`.repeat(depth)}${`</${name}>`.repeat(depth)}</mj-body></mjml>`;
      expect((await compiled(text)).html).toContain('</html>');
    },
  );

  it('is refused before: too large', async () => {
    const text = inColumn(`<mj-text>${'é'.repeat(MAX_MJML_BYTES / 2)}</mj-text>`);
    expect((await refused(text)).code).toBe('file-too-large');
  });
});

describe('diagnostics about the HTML', () => {
  const text = inColumn(
    '<mj-text color="{{colour}}">Hi\n  {{nmae}}</mj-text>\n<mj-button background-color="{{bg}}">x</mj-button>',
  );
  const about = (html: string, what: string, from = 0): Diagnostic => {
    const offset = html.indexOf(what, from);
    const before = html.slice(0, offset).split('\n');
    const at = { file: 'mail.mjml', line: before.length, column: (before.at(-1) ?? '').length + 1, length: 4 };
    return { code: 'unknown-name', severity: 'error', message: 'x', at, source: 'HTML' };
  };

  it('become ones about the MJML', async () => {
    const { html, relocate } = await compiled(text);
    expect(relocate([about(html, 'nmae')])).toEqual([
      {
        code: 'unknown-name',
        severity: 'error',
        message: 'x',
        at: { file: 'mail.mjml', line: 3, column: 5, length: 4 },
        source: '  {{nmae}}</mj-text>',
      },
    ]);
  });

  it('are told once for an expression that is copied', async () => {
    const { html, relocate } = await compiled(text);
    const first = html.indexOf('{{bg}}');
    expect(html.indexOf('{{bg}}', first + 1)).toBeGreaterThan(first);
    const moved = relocate([about(html, 'bg}}'), about(html, 'bg}}', first + 4)]);
    expect(moved.map(({ at }) => `${at?.line}:${at?.column}`)).toEqual(['4:32']);
  });

  it('name the file where the HTML is the compiler’s, and stay as they are where they are about another file', async () => {
    const { html, relocate } = await compiled(text);
    const elsewhere: Diagnostic = {
      code: 'unknown-name',
      severity: 'error',
      message: 'y',
      at: { file: 'footer.hbs', line: 9 },
    };
    const [head, other] = relocate([about(html, '<head>'), elsewhere]);
    expect(head?.at).toEqual({ file: 'mail.mjml' });
    expect(other).toEqual(elsewhere);
  });
});

describe('whatever the file holds', () => {
  const expression = fc.constantFrom(
    '{{a}}',
    '{{{b "}}" c=\'<\'}}}',
    '{{#if d}}',
    '{{/if}}',
    '{{!-- "e --}}',
    '{{> f}}',
    '{{~g~}}',
  );
  const characters = [
    'a',
    'Z',
    '7',
    ' ',
    '.',
    '\u00e9',
    'e\u0301',
    '\u200d',
    '\ufe0f',
    '\u{1f600}',
    '\\',
    '\u27e6',
    '\u27e7',
  ];
  const words = fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((parts) => parts.join(''));
  const prose = fc.array(fc.oneof(expression, words), { maxLength: 8 }).map((parts) => parts.join(''));

  it('expressions and texts come out as they were', async () => {
    await fc.assert(
      fc.asyncProperty(prose, prose, async (text, value) => {
        const { html } = await compiled(inColumn(`<mj-text><p title="${value}">|${text}|</p></mj-text>`));
        expect(html).toContain(`<p title="${value}">|${text}|</p>`);
      }),
    );
  });

  it('there is an answer, soon', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<mjml>',
        '</mjml>',
        '<mj-body>',
        '</mj-body>',
        '<mj-section>',
        '<mj-column>',
        '<mj-text>',
        '</mj-text>',
      ),
      fc.constantFrom(
        '<mj-raw>',
        '<p',
        '>',
        '"',
        "'",
        '<!--',
        '-->',
        '<br>',
        '<mj-image src="',
        '/>',
        '<![CDATA[',
        '&',
        '<',
        '{{',
        '}}',
        '{{!--',
      ),
      anyText(5),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), fc.boolean(), async (pieces, inside) => {
        const text = inside ? inColumn(pieces.join('')) : pieces.join('');
        const result = await compileMjml(source(text));
        expect('html' in result || result.problem.severity === 'error').toBe(true);
      }),
      { numRuns: examples(300) },
    );
    // The compiler still works: none of this broke it.
    expect((await compiled(inColumn('<mj-text>still</mj-text>'))).html).toContain('still');
  });

  test.each(['{{[', '{{"', '{{!--', '{{~!', '{{{{', '<!--', '<a b="', '<mj-text ', ' ', '<mj-spacer/>'])(
    '%j over and over',
    async (piece) => {
      const text = `<mjml><mj-body>${piece.repeat(200_000 / piece.length)}`;
      const start = performance.now();
      expect((await refused(text)).at?.file).toBe('mail.mjml');
      expect(performance.now() - start).toBeLessThan(5000);
    },
  );
});
