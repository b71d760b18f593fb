import { describe, expect, it, test } from 'vitest';
import { compile, findings, fixture } from './harness.ts';

const COLUMNS = ['msisdn', 'name', 'first', 'plan', 'vip', 'when', 'amount', 'first.name', 'First Name', 'if', 'with'];
const PARTIALS = {
  greet: 'Hi {{who}}',
  loop: '{{> pool}}',
  pool: 'x{{> loop}}',
  broken: 'a\n{{#if vip}}',
  ok: '{{name}}',
};

/** Without the lists of what there is, which are tested by themselves. */
function found(text: string): string[] {
  return findings(text, COLUMNS, { partials: PARTIALS }).map((line) =>
    line.replace(/ \(The (?:columns|helpers|partials): .*\)$/, ''),
  );
}

describe('a name that is like no other', () => {
  it.each([
    ['of a column', '{{zzz}}', {}, 'No column is called "zzz". (The columns: a, b.)'],
    ['with parts', '{{zzz.name}}', {}, 'No column is called "zzz.name". (The columns: a, b.)'],
    ['of a partial', '{{> zzz}}', { partials: { ok: 'x' } }, 'No partial is called "zzz". (The partials: ok.)'],
    ['of a partial, where there is none', '{{> zzz}}', {}, /a file such as footer\.hbs, beside the campaign/],
    ['of a helper', '{{zzz a}}', {}, /No helper is called "zzz"\. \(The helpers: .*upper.*\)/],
  ])('%s: those that there are follow', (_, text, options, expected) => {
    expect(findings(text, ['a', 'b'], options)).toEqual([
      expect.stringMatching(typeof expected === 'string' ? expected.replace(/[().*]/g, '\\$&') : expected),
    ]);
  });
});

describe('unknown names', () => {
  test.each([
    ['alone', 'Hi {{nmae}}', ['unknown-name 1:6 No column is called "nmae". (Did you mean "name"?)']],
    ['in triple braces', '{{{nmae}}}', ['unknown-name 1:4 No column is called "nmae". (Did you mean "name"?)']],
    ['in #if', '{{#if vp}}x{{/if}}', ['unknown-name 1:7 No column is called "vp". (Did you mean "vip"?)']],
    ['in #unless', '{{#unless qq}}x{{/unless}}', ['unknown-name 1:11 No column is called "qq".']],
    [
      'in else if',
      '{{#if vip}}x{{else if paln}}y{{/if}}',
      ['unknown-name 1:23 No column is called "paln". (Did you mean "plan"?)'],
    ],
    [
      'in a branch',
      '{{#if vip}}{{a1}}{{else}}{{a2}}{{/if}}',
      ['unknown-name 1:14 No column is called "a1".', 'unknown-name 1:28 No column is called "a2".'],
    ],
    [
      'as a helper’s value',
      '{{upper frist}}',
      ['unknown-name 1:9 No column is called "frist". (Did you mean "first"?)'],
    ],
    ['as a named value', '{{date when tz=zone}}', ['unknown-name 1:16 No column is called "zone".']],
    [
      'in parentheses',
      '{{#if (and vip (eq paln "x"))}}{{/if}}',
      ['unknown-name 1:20 No column is called "paln". (Did you mean "plan"?)'],
    ],
    [
      'as a value for a partial',
      '{{> greet who=nmae}}',
      ['unknown-name 1:15 No column is called "nmae". (Did you mean "name"?)'],
    ],
    ['as a value that the partial does not use', '{{> ok x=qqq}}', ['unknown-name 1:10 No column is called "qqq".']],
    [
      'in a partial',
      '{{> greet}}',
      [
        'unknown-name partials/greet.hbs:1:6 No column is called "who". (Give it where the partial is included: {{> greet who=...}}.)',
      ],
    ],
    [
      'after a value for a partial, outside it',
      '{{> greet who=name}}{{who}}',
      ['unknown-name 1:23 No column is called "who".'],
    ],
    [
      'of a helper that is not a column',
      '{{title}}',
      ['helper-arguments 1:3 "title" is a helper and needs a value. (For example {{title name}}.)'],
    ],
    ['of a helper as a value', '{{upper title}}', ['unknown-name 1:9 No column is called "title".']],
    [
      'of a prototype',
      '{{constructor}} {{toString}} {{__proto__}}',
      [
        'unknown-name 1:3 No column is called "constructor".',
        'unknown-name 1:19 No column is called "toString".',
        'unknown-name 1:32 No column is called "__proto__".',
      ],
    ],
    [
      'with curly quotes',
      '{{upper “x”}}',
      ['unknown-name 1:9 No column is called "“x”". (Put a text in straight quotes: "text".)'],
    ],
    ['in a language of letters', '{{prénon}}', ['unknown-name 1:3 No column is called "prénon".']],
    [
      'after a comment and braces that stay',
      '\\{{a}}{{!-- {{b}} --}}{{qqq}}',
      ['unknown-name 1:25 No column is called "qqq".'],
    ],
    ['on another line', 'a\r\nb\n\n  {{~ qqq ~}}', ['unknown-name 4:7 No column is called "qqq".']],
    ['after an emoji, which is two units', '🎉 {{qqq}}', ['unknown-name 1:6 No column is called "qqq".']],
    [
      'in an unknown helper',
      '{{uper nmae}}',
      [
        'unknown-name 1:8 No column is called "nmae". (Did you mean "name"?)',
        'unknown-helper 1:3 No helper is called "uper". (Did you mean "upper"?)',
      ],
    ],
  ])('%s', (_, text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it('reports every one of them at once, each in its own file, once', () => {
    const partials = { 'sign-off': fixture('misspelt/partials/sign-off.hbs') };
    expect(
      findings(fixture('misspelt/misspelt.hbs'), ['name', 'vip', 'plan', 'code', 'branch', 'city'], { partials }),
    ).toEqual([
      'unknown-name 1:9 No column is called "nmae". (Did you mean "name"?)',
      'unknown-name 2:7 No column is called "vipp". (Did you mean "vip"?)',
      'unknown-name 2:33 No column is called "paln". (Did you mean "plan"?)',
      'unknown-name 3:45 No column is called "cod". (Did you mean "code"?)',
      'unknown-name 3:71 No column is called "brnach". (Did you mean "branch"?)',
      'unknown-name partials/sign-off.hbs:2:20 No column is called "citty". (Did you mean "city"?)',
    ]);
    expect(found('{{> greet}}{{> greet}}')).toHaveLength(1);
  });

  it('marks the name in its line', () => {
    const [diagnostic] = compile('Dear\nHi {{ nmae }}!', ['name']).diagnostics;
    expect(diagnostic).toMatchObject({
      severity: 'error',
      source: 'Hi {{ nmae }}!',
      at: { file: 'template.hbs', line: 2, column: 7, length: 4 },
    });
  });

  it('counts from where an inline template begins', () => {
    const inline = { text: 'Hi {{a}}\n\n{{b}}', file: 'campaign.yaml', line: 7, column: 5 };
    const { diagnostics } = compile(inline, ['x']);
    expect(diagnostics.map((d) => [d.at?.line, d.at?.column, d.source])).toEqual([
      [7, 10, undefined],
      [9, 7, undefined],
    ]);
    const quoted = { text: 'Hi {{a', file: 'campaign.yaml', line: 7, column: 15 };
    expect(findings(quoted, ['x'])).toEqual(['template-syntax 7:18 "{{" is never closed. (Close it with }}.)']);
  });
});

describe('columns with other characters', () => {
  const dotted = 'The name of the column "first.name" needs square brackets here. (Write {{[first.name]}}.)';
  const spaced = 'The name of the column "First Name" needs square brackets here. (Write {{[First Name]}}.)';
  test.each([
    ['a dot', '{{first.name}}', `unknown-name 1:3 ${dotted}`],
    ['a dot in #if', '{{#if first.name}}{{/if}}', `unknown-name 1:7 ${dotted}`],
    ['a dot as a value', '{{upper first.name}}', `unknown-name 1:9 ${dotted}`],
    ['a space', '{{First Name}}', `unknown-name 1:3 ${spaced}`],
    ['a space in #if', '{{#if First Name}}{{/if}}', `unknown-name 1:7 ${spaced}`],
    ['a space as a value', '{{upper First Name}}', `unknown-name 1:9 ${spaced}`],
    ['a space before another value', '{{default First Name "x"}}', `unknown-name 1:11 ${spaced}`],
    [
      'a part of a column',
      '{{name.length}}',
      'unknown-name 1:3 No column is called "name.length". ("name" is a column, and a column has no parts.)',
    ],
    ['two unknown parts', '{{constructor.name}}', 'unknown-name 1:3 No column is called "constructor.name".'],
  ])('%s', (_, text, expected) => {
    expect(found(text)).toEqual([expected]);
  });

  test.each(['if', 'with'])('a column called %s is told apart from the block', (name) => {
    const hint = `Write [${name}] for the column, or rename it.`;
    const message = `"${name}" is a column and a block helper. (${hint})`;
    expect(found(`{{${name}}}`)).toEqual([`column-is-helper 1:3 ${message}`]);
    expect(found(`{{upper ${name}}}`)).toEqual([`column-is-helper 1:9 ${message}`]);
    expect(found(`{{#if ${name}}}{{/if}}`)).toEqual([`column-is-helper 1:7 ${message}`]);
    expect(found('{{name}}')).toEqual([]);
  });
});

describe('what is not allowed', () => {
  test.each([
    ['a decorator', '{{*inline "x"}}', 'template-not-allowed'],
    ['an inline partial', '{{#*inline "x"}}y{{/inline}}', 'template-not-allowed'],
    ['each', '{{#each name}}x{{/each}}', 'template-not-allowed'],
    ['with', '{{#with name}}x{{/with}}', 'template-not-allowed'],
    ['lookup', '{{lookup this "name"}}', 'template-not-allowed'],
    ['lookup in parentheses', '{{upper (lookup name "length")}}', 'template-not-allowed'],
    ['log', '{{log name}}', 'template-not-allowed'],
    ['log as a block', '{{#log name}}{{/log}}', 'template-not-allowed'],
    ['@root', '{{@root.name}}', 'template-not-allowed'],
    ['@data in a helper', '{{upper @index}}', 'template-not-allowed'],
    ['the parent', '{{../name}}', 'template-not-allowed'],
    ['the row', '{{this}}', 'template-not-allowed'],
    ['the row as a value', '{{upper .}}', 'template-not-allowed'],
    ['block parameters', '{{#if vip as |x|}}{{/if}}', 'template-not-allowed'],
    ['a partial with a block', '{{#> ok}}x{{/ok}}', 'template-not-allowed'],
    ['a partial with a computed name', '{{> (name)}}', 'template-not-allowed'],
    ['a partial with another row', '{{> ok name}}', 'template-not-allowed'],
    ['the block of a partial', '{{> @partial-block}}', 'template-not-allowed'],
    ['a raw block', '{{{{if}}}}{{name}}{{{{/if}}}}', 'template-not-allowed'],
    ['a column as a block', '{{#vip}}x{{/vip}}', 'template-not-allowed'],
    ['a column as an inverted block', '{{^vip}}x{{/vip}}', 'template-not-allowed'],
    ['a helper as a block', '{{#upper name}}x{{/upper}}', 'template-not-allowed'],
    ['an unknown block', '{{#iff vip}}x{{/iff}}', 'unknown-helper'],
    ['an unknown helper', '{{uper name}}', 'unknown-helper'],
    ['a column as a helper', '{{name vip}}', 'unknown-helper'],
    ['a helper of Handlebars itself', '{{helperMissing name}}', 'unknown-helper'],
    ['a helper that handbill keeps for itself', '{{[default:refuse] name vip "x"}}', 'unknown-helper'],
    ['if without a block', '{{if vip}}', 'helper-arguments'],
    ['a path as a helper', '{{this.upper name}}', 'unknown-helper'],
    ['a partial that is not there', '{{> gret}}', 'unknown-partial'],
    ['a path as a partial', '{{> ../../etc/passwd}}', 'unknown-partial'],
    ['a path in quotes as a partial', '{{> "/etc/passwd"}}', 'unknown-partial'],
    ['a name of Object.prototype as a partial', '{{> constructor}}', 'unknown-partial'],
    ['a circle of partials', '{{> loop}}', 'partial-cycle'],
  ])('%s', (_, text, code) => {
    const codes = compile(text, COLUMNS, { partials: PARTIALS }).diagnostics.map((d) => d.code);
    expect(codes).toEqual([code]);
  });

  it('shows the circle of partials where it closes', () => {
    expect(found('{{> loop}}')).toEqual([
      'partial-cycle partials/pool.hbs:1:6 Partials include each other in a circle: loop -> pool -> loop.',
    ]);
  });

  it('shows a syntax error of a partial in its own file', () => {
    expect(found('{{> broken}}{{> broken}}')).toEqual([
      'template-syntax partials/broken.hbs:2:1 {{#if}} is never closed. (Close it with {{/if}}.)',
    ]);
  });

  it('does not look at partials that are not included', () => {
    expect(found('{{name}}')).toEqual([]);
  });
});

describe('arguments of helpers', () => {
  test.each([
    [
      'too few',
      '{{default name}}',
      '1:3 "default" needs more: value, fallback. (For example {{default name "friend"}}.)',
    ],
    ['too many', '{{upper name first}}', '1:3 "upper" takes only value. (For example {{upper name}}.)'],
    ['none in parentheses', '{{upper (trim)}}', '1:10 "trim" needs more: value. (For example {{trim name}}.)'],
    ['an unknown named value', '{{date when zone="UTC"}}', '1:13 "date" knows no zone=.'],
    [
      'a misspelt named value',
      '{{number amount decimal=2}}',
      '1:17 "number" knows no decimal=. (Did you mean "decimals"?)',
    ],
    [
      'a named value where none is taken',
      '{{trim name x="1"}}',
      '1:13 "trim" knows no x=. ("trim" takes no named values.)',
    ],
    ['a named value twice', '{{number amount decimals=1 decimals=2}}', '1:28 decimals= is given twice.'],
    [
      'true',
      '{{default name true}}',
      '1:16 "true" is not a value here: every value is a text. (Write "true" in quotes, or [true] for a column.)',
    ],
    [
      'null',
      '{{upper null}}',
      '1:9 "null" is not a value here: every value is a text. (Write "null" in quotes, or [null] for a column.)',
    ],
    [
      'a comparison as a text',
      '{{upper (eq name "x")}}',
      '1:9 "upper" needs a text as value, and a comparison is none. (Comparisons are allowed in {{#if (...)}} and in other comparisons.)',
    ],
    [
      'a comparison as an output',
      '{{eq name "x"}}',
      '1:1 {{eq name "x"}} answers yes or no, and is no text. (Comparisons are allowed in {{#if (...)}} and in other comparisons.)',
    ],
    ['an unknown date format', '{{date when "q"}}', '1:13 "q" is no part of a date in the format "q".'],
    ['a date format from a column', '{{date when name}}', '1:13 The format of "date" must be written in the template.'],
    [
      'an unknown part of a date',
      '{{date when month="big"}}',
      '1:19 month is one of numeric, 2-digit, long, short, narrow.',
    ],
    [
      'a format and parts',
      '{{date when "long" day="numeric"}}',
      '1:3 A format and parts such as weekday= cannot be combined.',
    ],
    ['a clock without a time', '{{date when hourCycle="h12"}}', '1:3 Name a part of the date, such as day="numeric".'],
    ['an unknown time zone', '{{date when tz="London"}}', '1:16 "London" is not a time zone such as "Europe/London".'],
    ['an unknown language', '{{upper name locale="english"}}', '1:21 "english" is not a language such as "en-GB".'],
    [
      'decimals that are not a number',
      '{{number amount decimals="two"}}',
      '1:26 decimals= is a whole number from 0 to 20.',
    ],
    ['too many decimals', '{{number amount decimals=21}}', '1:26 decimals= is a whole number from 0 to 20.'],
    [
      'an unknown currency',
      '{{currency amount "EURO"}}',
      '1:19 "EURO" is not a currency code such as "EUR" (ISO 4217).',
    ],
    ['no currency', '{{currency amount}}', '1:3 "currency" needs more: value, code.'],
    ['one word for plural', '{{plural amount "item"}}', '1:3 The word for one needs the word for more beside it.'],
    [
      'no other word for plural',
      '{{plural amount one="item"}}',
      '1:3 The word for all other numbers is missing (other=).',
    ],
    [
      'words for plural twice',
      '{{plural amount "a" "b" other="c"}}',
      '1:3 The words for one and other are given twice.',
    ],
    ['two conditions', '{{#if vip name}}{{/if}}', '1:4 {{#if}} takes exactly one condition.'],
    ['no condition', '{{#unless}}{{/unless}}', '1:4 {{#unless}} takes exactly one condition.'],
    ['a named value for if', '{{#if vip includeZero="1"}}{{/if}}', '1:4 {{#if}} takes exactly one condition.'],
    ['one value for and', '{{#if (and vip)}}{{/if}}', '1:8 "and" needs more: condition, condition.'],
  ])('%s', (_, text, expected) => {
    const lines = found(text);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.slice(0, `helper-arguments ${expected}`.length)).toBe(`helper-arguments ${expected}`);
  });

  it('checks what a partial is given for them', () => {
    const partials = { p: '{{date when how}}' };
    expect(findings('{{> p how="long"}}', COLUMNS, { partials })).toEqual([]);
    expect(findings('{{> p how=name}}', COLUMNS, { partials })).toEqual([
      'helper-arguments partials/p.hbs:1:13 The format of "date" must be written in the template.',
    ]);
  });
});

describe('HTML entities in text', () => {
  it('warns of each, and of nothing in comments', () => {
    const text = 'A&amp;B &#x27; &#39;{{!-- &lt; --}}{{default name "&euro;"}} R&D; AT&T';
    expect(found(text)).toEqual([
      'html-entity 1:2 "&amp;" would be sent literally. (Write "&".)',
      'html-entity 1:9 "&#x27;" would be sent literally. (Write "\'".)',
      'html-entity 1:16 "&#39;" would be sent literally. (Write "\'".)',
      'html-entity 1:52 "&euro;" would be sent literally. (Write "€".)',
    ]);
    expect(compile(text, COLUMNS).template).not.toBeNull();
    expect(findings(text, COLUMNS, { escape: 'html' })).toEqual([]);
  });

  it('warns of tags, but not of those of speech', () => {
    expect(found('<b>Hi</b><br/>I <3 it, a<b')).toEqual([
      'html-entity 1:1 "<b>" would be sent literally. (Remove the tag.)',
      'html-entity 1:6 "</b>" would be sent literally. (Remove the tag.)',
      'html-entity 1:10 "<br/>" would be sent literally. (Write a line end.)',
    ]);
    expect(found('<speak><p>Hi</p></speak>')).toEqual([]);
    expect(findings('<b>Hi</b>', COLUMNS, { escape: 'html' })).toEqual([]);
  });

  it.each([
    ['&aacute;', '"á"'],
    ['&rarr;', '"→"'],
    ['&oslash;', '"ø"'],
    ['&frac12;', '"½"'],
    ['&NotEqualTilde;', '"≂̸"'],
    ['&AMP;', '"&"'],
    ['&#128;', '"€"'],
  ])('knows %s, as a browser does', (entity, character) => {
    expect(found(`a ${entity} b`)).toEqual([
      `html-entity 1:3 "${entity}" would be sent literally. (Write ${character}.)`,
    ]);
  });

  it.each(['&#0;', '&#7;', '&#x81;', '&#xD800;', '&#99999999999;', '&Tab;'])(
    'offers no character for %s, which is invisible or invalid',
    (entity) => {
      expect(found(`a ${entity} b`)).toEqual([
        `html-entity 1:3 "${entity}" would be sent literally. (Write the character itself.)`,
      ]);
    },
  );

  it.each(['&D;', '&toString;', '&constructor;', '&amp', '&auml', '& amp;', '&#;', '&#x;', '&#xg;', '&;'])(
    'ignores %s, which is not an entity',
    (text) => {
      expect(found(`a ${text} b`)).toEqual([]);
    },
  );
});

describe('brackets of other tools', () => {
  test.each([
    [
      'Hi \uff5b\uff5bname\uff5d\uff5d',
      ['foreign-tag 1:4 "\uff5b\uff5bname\uff5d\uff5d" would be sent literally. (Did you mean {{name}}?)'],
    ],
    ['Hi {name}', ['foreign-tag 1:4 "{name}" would be sent literally. (Did you mean {{name}}?)']],
    ['Hi { Name }!', ['foreign-tag 1:4 "{ Name }" would be sent literally. (Did you mean {{name}}?)']],
    [`a\nHi ${'$'}{name}`, [`foreign-tag 2:4 "${'$'}{name}" would be sent literally. (Did you mean {{name}}?)`]],
    ['10% off, %NAME%', ['foreign-tag 1:10 "%NAME%" would be sent literally. (Did you mean {{name}}?)']],
    ['{first name}', ['foreign-tag 1:1 "{first name}" would be sent literally. (Did you mean {{[First Name]}}?)']],
    ...['[name]', '[[name]]', '*|NAME|*', '%%name%%', '«name»', '#name#', '{%name%}', '<%= name %>', '{name|you}'].map(
      (tag): [string, string[]] => [
        `Hi ${tag}`,
        [`foreign-tag 1:4 "${tag}" would be sent literally. (Did you mean {{name}}?)`],
      ],
    ),
    ['Hi *|FNAME|*', ['foreign-tag 1:4 "*|FNAME|*" would be sent literally. (handbill fills in {{column}} only.)']],
    ['Hi [FIRST NAME]', ['foreign-tag 1:4 "[FIRST NAME]" would be sent literally. (Did you mean {{[First Name]}}?)']],
    ['[x] *name* (name) #1 or #2, p { name: red; } <name>', []],
    [
      'Hi {secret.token} {to}',
      ['foreign-tag 1:4 "{secret.token}" would be sent literally. (Only provider files have such values.)'],
    ],
    ['{{default name "{first}"}}', ['foreign-tag 1:17 "{first}" would be sent literally. (Did you mean {{first}}?)']],
    ['{nmae} {} 5% of 10% \\{{name}} {{name}} {{{name}}} {{!-- {name} --}} { name', []],
  ])('%s', (text, expected) => {
    expect(found(text)).toEqual(expected);
    expect(compile(text, COLUMNS).template).not.toBeNull();
  });
});
