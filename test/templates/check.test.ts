import { describe, expect, it } from 'vitest';
import { golden } from '../helpers/golden.ts';
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

golden('each mistake is found once, at its place, with what to write', 'templates/check', (text) => {
  const lines = found(text);
  const isSent = lines.length > 0 && compile(text, COLUMNS, { partials: PARTIALS }).template !== null;
  return isSent ? [...lines, 'sent nonetheless'] : lines;
});

describe('unknown names', () => {
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

describe('arguments of helpers', () => {
  it('checks what a partial is given for them', () => {
    const partials = { p: '{{date when how}}' };
    expect(findings('{{> p how="long"}}', COLUMNS, { partials })).toEqual([]);
    expect(findings('{{> p how=name}}', COLUMNS, { partials })).toEqual([
      'helper-arguments partials/p.hbs:1:13 The format of "date" must be written in the template.',
    ]);
  });
});

describe('HTML entities in text', () => {
  it('are what HTML wants', () => {
    const text = 'A&amp;B &#x27; &#39;{{default name "&euro;"}}';
    expect(findings(text, COLUMNS, { escape: 'html' })).toEqual([]);
  });
});
