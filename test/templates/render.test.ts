import { readdirSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { columnTag, createValues, RenderError } from '../../src/templates/compile.ts';
import { golden } from '../helpers/golden.ts';
import { compile, compiled, fixture, render } from './harness.ts';

describe('values go in as they are', () => {
  test.each([
    ['an apostrophe in text', "O'Brien & <b>", 'none', "O'Brien & <b>"],
    ['an apostrophe in HTML', "O'Brien & <b>", 'html', 'O&#x27;Brien &amp; &lt;b&gt;'],
    ['braces of a name', '{{apiKey}}', 'none', '{{apiKey}}'],
    ['braces of a name that is a column', '{{n}}', 'none', '{{n}}'],
    ['triple braces', '{{{n}}}', 'none', '{{{n}}}'],
    ['a way to code', '{{#with "s"}}{{constructor.constructor "return 1"}}{{/with}}', 'none', null],
    ['a partial', '{{> secret}}', 'none', null],
    ['a backslash before braces', '\\{{n}}', 'none', null],
    ['line ends and quotes', 'a\r\n"b"\u2028', 'none', null],
  ] as const)('%s', (_, value, mode, expected) => {
    expect(render('Hi {{n}}!', { n: value }, { escape: mode, partials: { secret: 'no' } })).toBe(
      `Hi ${expected ?? value}!`,
    );
  });

  it('escapes what helpers give and what partials are given, in HTML', () => {
    const options = { escape: 'html', partials: { p: '<i>{{x}}</i>{{{x}}}' } } as const;
    expect(render('{{upper n}} {{{n}}} {{&n}} {{> p x="a & b"}}', { n: '<a>' }, options)).toBe(
      '&lt;A&gt; <a> <a> <i>a &amp; b</i>a & b',
    );
  });
});

describe('a bare name that is a column is the column', () => {
  const names = 'default upper lower title trim oneline url date number currency plural eq ne and'.split(' ');
  const others = ['or', 'not', 'log', 'lookup', 'helperMissing', 'blockHelperMissing', 'toString', 'hasOwnProperty'];
  const objects = ['valueOf', 'isPrototypeOf', '__defineGetter__', '__lookupGetter__', 'length', 'name', 'as', 'this'];

  test.each([...names, ...others, ...objects, 'partial:indent', 'default:refuse', '0', '12', 'Straße', '-', 'a-b'])(
    '%s',
    (name) => {
      const tag = columnTag(name);
      const inner = tag.slice(2, -2);
      expect(
        render(
          `${tag}|{{upper ${inner}}}|{{#if ${inner}}}yes{{/if}}|{{> p x=${inner}}}`,
          { [name]: 'v' },
          { partials: { p: `{{x}}${tag}` } },
        ),
      ).toBe('v|V|yes|vv');
    },
  );

  test.each(names.filter((n) => n !== 'and' && n !== 'eq' && n !== 'ne'))('%s called as a helper stays one', (name) => {
    const call: Record<string, string> = { default: 'x "f"', currency: 'x "EUR"', plural: 'x "a" "b"' };
    const text = `{{${name} ${call[name] ?? 'x'}}}`;
    const row = { x: name === 'date' ? '2026-01-02' : '7', [name]: 'the column' };
    expect(render(text, row)).not.toContain('column');
  });

  test.each(['if', 'unless', 'each', 'with'])('%s needs brackets', (name) => {
    expect(render(`{{[${name}]}} {{upper [${name}]}} {{this.${name}}}`, { [name]: 'v' })).toBe('v V v');
  });
});

describe('column names', () => {
  test.each([
    ['a dot', 'first.name'],
    ['a space', 'First Name'],
    ['a bracket', 'a]b'],
    ['brackets around it', '[x]'],
    ['a backslash', 'a\\b'],
    ['quotes', `it's "x"`],
    ['braces', 'a}}b{{c'],
    ['a slash', 'a/b'],
    ['a word of the language', 'else'],
    ['a word that is a value', 'true'],
    ['only a dot', '.'],
    ['two dots', '..'],
    ['a space at its end', 'name '],
    ['nothing that is a letter', '€'],
    ['an emoji', '🎉'],
  ])('%s', (_, name) => {
    expect(render(`<${columnTag(name)}>`, { [name]: 'value', other: 'x' })).toBe('<value>');
    expect(compiled(`${columnTag(name)}`, ['other', name]).required).toEqual([name]);
  });

  it('takes a name as those of columns are: a line end is a space, and what shows nothing is left out', () => {
    for (const name of ['First\nName', ' First Name ', 'First\u00a0Name', 'First Na\u200bme', 'First\r\nName']) {
      expect(render(`{{[${name}]}}`, { 'First Name': 'Ada' })).toBe('Ada');
    }
  });

  it('takes a name in quotes, as Handlebars does', () => {
    expect(render('{{"First Name"}} {{1}}', { 'First Name': 'Ada', '1': 'one' })).toBe('Ada one');
  });

  it('writes plain names without brackets', () => {
    expect(['name', 'first_name', 'prénom', 'first.name', 'if', '1st'].map(columnTag)).toEqual([
      '{{name}}',
      '{{first_name}}',
      '{{prénom}}',
      '{{[first.name]}}',
      '{{[if]}}',
      '{{[1st]}}',
    ]);
  });
});

describe('createValues', () => {
  it('holds the columns that are used, and nothing that is inherited', () => {
    const values = createValues(['a', 'toString', 'c'], ['c', 'toString', 'not a column'])(['1', '2', '3']);
    expect(Object.entries(values)).toEqual([
      ['toString', '2'],
      ['c', '3'],
    ]);
    expect('hasOwnProperty' in values).toBe(false);
    expect('constructor' in values).toBe(false);
  });

  it('cannot be made to write to a prototype', () => {
    const values = createValues(['__proto__', 'constructor'], ['__proto__', 'constructor'])(['x', 'y']);
    expect(Object.entries(values)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('takes a cell that is not there for an empty one', () => {
    expect(createValues(['a', 'b'], ['b'])(['1'])['b']).toBe('');
  });
});

describe('empty values', () => {
  const blank = ['', ' ', '\t', '\n', '\u00a0', '\u3000 ', '\ufeff', '\u200b', '\u0085', '\u2060\u200d', '\u3164'];
  const words = [
    'NULL',
    'null',
    '(null)',
    ' NULL ',
    'nan',
    'None',
    'undefined',
    '\\N',
    '[object Object]',
    '00/01/1900',
  ];
  const errors = ['#N/A', '#ref!', '#VALUE!', '#DIV/0!', '########', '#NV', '#¿NOMBRE?', 'Err:502', '#GETTING_DATA'];
  test.each([...blank, ...words, ...errors])('%j is empty for if, unless and default', (value) => {
    const text = '{{#if a}}yes{{else}}no{{/if}} {{#unless a}}no{{else}}yes{{/unless}} {{default a "d"}}';
    expect(render(text, { a: value })).toBe('no no d');
  });

  test.each(['0', 'false', 'no', '-', '.', 'Null', 'Nan', 'NA', '#1', '#', '🏴\u{e0067}\u{e007f}', '0/1'])(
    '%j is a text',
    (value) => {
      expect(render('{{#if a}}yes{{else}}no{{/if}} {{default a "d"}}', { a: value })).toBe(`yes ${value}`);
    },
  );

  it('gives nothing for an empty value in any helper', () => {
    const text =
      '{{#if b}}<{{upper a}}{{title a}}{{trim a}}{{date a}}{{number a}}{{currency a "EUR"}}{{plural a "x" "y"}}>{{/if}}';
    expect(render(text, { a: '', b: '1' })).toBe('<>');
  });

  it('falls back on a column, one of which must be filled', () => {
    const row = { a: '', b: 'B', c: '' };
    expect(render('{{default a b}}', row)).toBe('B');
    expect(() => render('{{upper (default a c)}}', row)).toThrow('The columns "a", "c" are all empty');
    expect(() => render('{{> p x=(default a c)}}', row, { partials: { p: '{{x}}' } })).toThrow(RenderError);
    expect(render('{{default a (default c "you")}}', row)).toBe('you');
    expect(render('<{{default a ""}}{{default a (default c " ")}}>', row)).toBe('< >');
    expect(render('{{> p x=(default a c)}}', row, { partials: { p: '{{#if b}}<{{x}}>{{/if}}' } })).toBe('<>');
    expect(render('{{default (default a c) "you"}}', row)).toBe('you');
    expect(render('{{#if b}}<{{default a c}}>{{/if}}', row)).toBe('<>');
    try {
      render('{{default a c}}', row);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ name: 'RenderError', reason: 'missing-variable' });
    }
  });
});

golden('a template names the columns that it uses, and those that a row has to fill', 'templates/columns', (text) => {
  const partials = { needs: '{{x}}', asks: '{{#if x}}{{x}}{{/if}}', outer: '{{> needs x=y}}' };
  const { columns, required } = compiled(text, ['a', 'b', 'c', 'd', 'x'], { partials });
  return `uses ${columns.join(' ') || 'none'}, required ${required.join(' ') || 'none'}`;
});

golden('a partial leaves a line end that fits', 'templates/line-ends', (input) => {
  const [text = '', partial = ''] = input.split('\n--\n');
  return JSON.stringify(render(text, { e: '' }, { partials: { p: partial } }));
});

describe('partials', () => {
  it('renders the example of the fixtures', () => {
    const names = readdirSync(new URL('../fixtures/templates/parcel/partials', import.meta.url));
    const partials = Object.fromEntries(names.map((n) => [n.slice(0, -4), fixture(`parcel/partials/${n}`)]));
    const row = { name: ' ', parcels: '2', plan: 'silver', code: 'ab1', branch: 'North', arrives: '2026-03-01' };
    expect(render(fixture('parcel/parcel.hbs'), row, { partials })).toBe(
      'Hello there,\n2 parcels for you\nCode: AB1\nRiverside North, 1 Mar',
    );
  });

  it('gives a value in place of a column of that name, and only in that partial', () => {
    expect(render('{{> p x="given"}} {{x}} {{> p}}', { x: 'column' }, { partials: { p: '{{x}}' } })).toBe(
      'given column column',
    );
  });

  it('resolves a value where it was written', () => {
    const partials = { outer: '{{> inner a=b b="B"}}', inner: '{{a}}{{b}}' };
    expect(render('{{> outer b=a}}', { a: '1', b: '2' }, { partials })).toBe('1B');
  });

  it('hands values on to partials further in', () => {
    expect(render('{{> outer a="1"}}', { a: '' }, { partials: { outer: '{{> inner}}', inner: '{{a}}' } })).toBe('1');
  });

  it('takes a comparison as a value', () => {
    const partials = { p: '{{#if gold}}G{{else}}-{{/if}}' };
    expect(render('{{> p gold=(eq plan "gold")}}', { plan: 'gold' }, { partials })).toBe('G');
  });
});

describe('what cannot be rendered', () => {
  it('says which column a row lacks', () => {
    const template = compiled('{{upper a}} {{b}}', ['a', 'b']);
    const noPrototype = Object.assign(Object.create(null), { a: 'x' });
    expect(() => template.render(noPrototype)).toThrow(
      new RenderError('The row has no value for the column "b".', 'missing-variable'),
    );
    expect(() => template.render({})).toThrow(
      new RenderError('The row has no value for the column "a".', 'missing-variable'),
    );
    expect(() => template.render({ a: 'x', b: { toString: 1 } } as never)).toThrow(RenderError);
  });

  it('counts bytes', () => {
    const limit = { maxOutput: 10 };
    expect(render('{{a}}', { a: 'x'.repeat(10) }, limit)).toBe('x'.repeat(10));
    expect(render('{{a}}', { a: 'é'.repeat(5) }, limit)).toBe('é'.repeat(5));
    expect(() => render('{{a}}', { a: 'x'.repeat(11) }, limit)).toThrow('The text is longer than 10 bytes.');
    expect(() => render('{{a}}', { a: 'é'.repeat(6) }, limit)).toThrow('The text is longer than 10 bytes.');
    expect(() => render('{{a}}', { a: 'x'.repeat(65_537) })).toThrow('longer than 65536 bytes');
  });

  it('stops before a huge cell fills the memory', () => {
    const huge = { a: 'x'.repeat(1024 * 1024) };
    expect(() => render('{{upper a}}'.repeat(3000), huge)).toThrow(RenderError);
    expect(() => render('{{a}}'.repeat(3000), huge)).toThrow(RenderError);
    for (const helper of ['upper', 'lower', 'title']) {
      const compared = `{{#if (eq (${helper} a) "x")}}{{/if}}`.repeat(4);
      expect(() => render(compared, huge)).toThrow('The values are too long for this template.');
    }
  });

  it('measures each row for itself', () => {
    const template = compiled('{{#if (eq (upper a) "X")}}{{/if}}', ['a']);
    const values = createValues(['a'], ['a'])(['x'.repeat(300_000)]);
    for (let i = 0; i < 10; i++) expect(template.render(values)).toBe('');
  });

  it('does not make the next row fail', () => {
    const template = compiled('{{date a}}', ['a']);
    const values = createValues(['a'], ['a']);
    expect(() => template.render(values(['no date']))).toThrow('"no date" in the column "a" cannot be read as a date');
    expect(template.render(values(['2026-01-02']))).toBe('2 Jan 2026');
  });
});

it('compiles only text', () => {
  const tree = { type: 'Program', body: [{ type: 'ContentStatement', value: 'x', original: 'x' }] };
  const { template, diagnostics } = compile({ text: tree as never, file: 'f', line: 1, column: 1 }, []);
  expect(template).toBeNull();
  expect(diagnostics[0]?.message).toBe('A template must be text.');
});

test.each([
  ['its last line end', 'a\n', 'a'],
  ['CR LF', 'a\r\n', 'a'],
  ['no more than one', 'a\n\n', 'a\n'],
  ['none that a value brings', 'a{{b}}', 'a\n'],
  ['none inside a block', 'a{{#if b}}\n{{/if}}', 'a\n'],
])('a template leaves out %s', (_, text, expected) => {
  expect(render(text, { b: '\n' === expected.slice(1) && text.includes('#if') ? 'x' : '\n' })).toBe(expected);
});
