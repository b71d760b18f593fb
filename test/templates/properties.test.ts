import fc from 'fast-check';
import Handlebars from 'handlebars';
import { expect, it } from 'vitest';
import { compileTemplate, createValues, RenderError } from '../../src/templates/compile.ts';
import { holdsNothing } from '../../src/util/cell.ts';
import { anyText } from '../helpers/any-text.ts';
import { examples } from '../helpers/quick.ts';
import { compile, compiled, source } from './harness.ts';

const COLUMNS = ['a', 'b', 'first.name', 'if', 'toString', 'title', 'date'];

/** Cells that mean something to a parser, and any other text. */
const cell = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '{{a}}',
    '{{{b}}}',
    '{{#if a}}',
    '{{/if}}',
    '{{> p}}',
    '\\{{',
    '}}',
    '$&',
    '$1',
    '__proto__',
    'constructor',
    '<script>',
    "'",
    '2026-01-02',
    '2026-01-02T09:30Z',
    '1767364200',
    '1e309',
    '-0',
    '99999999999999999999.5',
    '\u0000',
    '\ud800',
    'de',
    'EUR',
    'UTC',
  ),
  anyText(30, true),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
);
const cells = fc.array(cell, { minLength: COLUMNS.length, maxLength: COLUMNS.length });

it('throws nothing but RenderError, whatever the cells hold', () => {
  const everything = `{{a}}{{b}}{{[first.name]}}{{[if]}}{{toString}}{{title}}{{date}}
    {{upper a}}{{lower b}}{{title a}}{{trim b}}{{default a "x"}}{{default a b}}
    {{#if a}}{{b}}{{else if (eq a b)}}{{a}}{{else}}-{{/if}}{{#unless (and a (or b title) (not date))}}{{b}}{{/unless}}
    {{> p x=a y=(default b "d")}}`;
  const single = [
    '{{date a}}',
    '{{date a "d MMM yyyy HH:mm"}}',
    '{{date a tz=b locale=title}}',
    '{{number a}}',
    '{{number a decimals=2 locale=b}}',
    '{{currency a b}}',
    '{{plural a "x" "y" locale=b}}',
    '{{upper a locale=b}}',
    '{{lower a locale=b}}',
    '{{title a locale=b}}',
    '{{date a weekday="long" hour="numeric" timeZoneName="long" tz=b}}',
    '{{default a b}}',
    everything,
  ];
  for (const mode of ['none', 'html'] as const) {
    const partials = { p: '  {{x}}{{#if y}}{{upper y}}{{/if}}\n' };
    const templates = single.map((text) => compiled(text, COLUMNS, { escape: mode, partials, maxOutput: 500 }));
    const values = createValues(COLUMNS, COLUMNS);
    fc.assert(
      fc.property(cells, (row) => {
        for (const template of templates) {
          try {
            expect(typeof template.render(values(row))).toBe('string');
          } catch (error) {
            if (!(error instanceof RenderError)) throw error;
          }
        }
      }),
      { numRuns: examples(200) },
    );
  }
});

it('lets a cell change nothing but its own place', () => {
  const text = 'A{{a}}B{{#if b}}C{{[first.name]}}D{{/if}}E{{> p x=title}}F{{toString}}G';
  const { template } = compile(text, COLUMNS, { partials: { p: '<{{x}}{{date}}>' } });
  const values = createValues(COLUMNS, template?.columns ?? []);
  fc.assert(
    fc.property(cells, (row) => {
      const [a, b = '', first, , own, title, date] = row;
      const middle = holdsNothing(b) ? '' : `C${first}D`;
      expect(template?.render(values(row))).toBe(`A${a}B${middle}E<${title}${date}>F${own}G`);
    }),
    { numRuns: examples(2000) },
  );
});

it('finds every misspelt name at its place, and nothing else', () => {
  const piece = fc.oneof(
    fc.string({ unit: fc.constantFrom('x', ' ', '\n', '\r\n', '🎉', 'é', '.'), maxLength: 4 }),
    fc.constantFrom(
      '{{a}}',
      '{{upper a}}',
      '{{! {{nope }}',
      '{{!-- {{nope}} --}}',
      '\\{{nope}}',
      '{{#if a}}\n{{/if}}',
      '{{~ a ~}}',
      '{{{a}}}',
    ),
    fc.constantFrom(
      '{{@}}',
      '{{upper @}}',
      '{{#if @}}x{{/if}}',
      '{{#if (eq a @)}}{{/if}}',
      '{{{ @ }}}',
      '{{> p x=@}}',
      '{{~@~}}',
      '{{date a tz=@}}',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      // A name of its own for each place: `@` means it in the pieces.
      let count = 0;
      const text = pieces.map((p) => (p.startsWith('{{') ? p.replace('@', () => `wrong${count++}`) : p)).join('');
      const expected = [...text.matchAll(/wrong\d+/g)].map((m) => {
        const lines = text.slice(0, m.index).split(/\r\n|\n/);
        return [m[0], lines.length, (lines.at(-1)?.length ?? 0) + 1];
      });
      const { diagnostics } = compile(text, ['a'], { partials: { p: 'p' } });
      expect(diagnostics.map((d) => [/"(.*)"/.exec(d.message)?.[1], d.at?.line, d.at?.column])).toEqual(expected);
    }),
    { numRuns: examples(1000) },
  );
});

it('answers any text with a template or with diagnostics inside the text', () => {
  const token = fc.constantFrom(
    ...'{{ }} {{{ }}} {{# {{/ {{^ {{> {{! {{!-- --}} {{{{ }}}} {{* {{#> {{else}} {{else'.split(' '),
    ...[...'if unless each upper date plural a b nope this .. . / @ "'.split(' '), "'", '"x"', '[', ']', '(', ')'],
    ...[
      '=',
      '|',
      ' as |x|',
      '~',
      ' ',
      '\n',
      '\r',
      '\r\n',
      '\\',
      '1',
      '-1.5',
      'true',
      'null',
      'undefined',
      'x=',
      '&',
      '&amp;',
      '\0',
      '\ud800',
      '🎉',
    ],
    ...[
      '{{#if a}}',
      '{{/if}}',
      '{{a}}',
      '{{upper a}}',
      '{{> p}}',
      '{{#unless (eq a b)}}',
      '{{/unless}}',
      ' (or a b)',
      '}}{{/if}}',
    ],
  );
  const soup = fc.array(token, { maxLength: 25 }).map((tokens) => tokens.join(''));
  const values = createValues(['a', 'b'], ['a', 'b']);
  fc.assert(
    fc.property(fc.oneof({ weight: 5, arbitrary: soup }, anyText(10, true)), (text) => {
      const { template, diagnostics } = compile(text, ['a', 'b'], { partials: { p: '{{a}}' } });
      const lines = text.split(/\r\n?|\n/).map((line) => line.length);
      for (const { at, message, severity } of diagnostics) {
        expect(at?.column).toBeLessThanOrEqual((lines[(at?.line ?? 0) - 1] ?? -9) + 1);
        expect(message).toMatch(/^[^\s].*\.$/s);
        expect(message).not.toMatch(/Expecting|Parse error|Lexical error/);
        expect(severity === 'warning' || template === null).toBe(true);
      }
      expect(template !== null || diagnostics.length > 0).toBe(true);
      try {
        template?.render(values(['2026-01-02', '']));
      } catch (error) {
        if (!(error instanceof RenderError)) throw error;
      }
    }),
    { numRuns: examples(1000) },
  );
});

/** Handlebars as it comes, with the same helpers; handbill must not read templates in its own way. */
function plainHandlebars(
  text: string,
  partials: Readonly<Record<string, string>>,
  row: Readonly<Record<string, string>>,
) {
  const plain = Handlebars.create();
  plain.registerHelper({ upper: (v: string) => v.toUpperCase(), eq: (a: string, b: string) => a === b });
  plain.registerHelper({ default: (v: string, d: string) => v || d });
  plain.registerPartial(partials);
  return plain.compile(text, { noEscape: true })(row);
}

it('renders what Handlebars renders', () => {
  const space = fc.constantFrom('', ' ', '\n', '  \n', '\n  ', '\r\n', 'x', ' x ', '\nx\n', '\\{{a}}', '\\\\');
  const tag = fc.constantFrom(
    '{{a}}',
    '{{{b}}}',
    '{{&a}}',
    '{{~a}}',
    '{{b~}}',
    '{{upper a}}',
    '{{default c (upper "d")}}',
    '{{! c }}',
    '{{!-- c --}}',
    '{{~! c ~}}',
    '\n{{> line}}\n',
    '\n  {{> line x=b}}\n',
    '\n{{> block}}\n',
    'q{{> inline}}q',
    'q{{> inline x="text"}}',
    'q {{~> inline x=(upper a)~}} q',
  );
  const { template } = fc.letrec<{ template: string }>((tie) => ({
    template: fc
      .array(fc.oneof({ maxDepth: 3, withCrossShrink: true }, space, tag, blockOf(tie('template'))), { maxLength: 6 })
      .map((parts) => parts.join('')),
  }));
  const partials = {
    line: 'l{{x}}\nm\n',
    block: '{{#if c}}\nc\n{{else}}\n{{a}}\n{{/if}}\n',
    inline: 'i{{x}}{{#if b}} b{{/if}}',
  };
  const row = { a: 'A', b: "b'", c: '', x: 'x' };
  const columns = Object.keys(row);
  fc.assert(
    fc.property(template, (text) => {
      const options = { columns, escape: 'none', locale: 'en-GB', timeZone: 'UTC' } as const;
      const files = new Map(Object.entries(partials).map(([name, t]) => [name, source(t)]));
      // A letter at the end, because handbill leaves out the last line end.
      const { template: made, diagnostics } = compileTemplate(source(`${text}.`), { ...options, partials: files });
      expect(diagnostics).toEqual([]);
      const values = createValues(columns, columns)(Object.values(row));
      expect(made?.render(values)).toBe(plainHandlebars(`${text}.`, partials, row));
    }),
    { numRuns: examples(300) },
  );
});

function blockOf(inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const name = fc.constantFrom('a', 'c', '(eq a "A")', '(eq a b)');
  return fc
    .tuple(fc.constantFrom('if', 'unless'), name, name, inner, inner, inner, fc.nat(4), fc.constantFrom('', '\n'))
    .map(([block, one, two, a, b, c, form, end]) => {
      const close = `${end}{{/${block}}}${end}`;
      if (form === 0) return `{{#${block} ${one}}}${end}${a}${close}`;
      if (form === 1) return `{{#${block} ${one}}}${end}${a}${end}{{else}}${end}${b}${close}`;
      if (form === 2) return `{{~#${block} ${one}~}}${a}{{~else~}}${b}{{~/${block}~}}`;
      if (form === 3) return `{{^${block} ${one}}}${end}${a}${close}`;
      return `{{#${block} ${one}}}${end}${a}${end}{{else if ${two}}}${end}${b}${end}{{else}}${end}${c}${close}`;
    });
}
