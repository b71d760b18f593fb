import { describe, expect, it, test } from 'vitest';
import { compile, findings, type Options, render } from './harness.ts';

function codes(text: string, partials: Options['partials'] = {}): string[] {
  return compile(text, ['a'], { partials }).diagnostics.map((d) => d.code);
}

/** On a busy machine too; the parser alone would need up to 99 s for some of these. */
const QUICK_MS = 5000;

describe('too large, and known at once', () => {
  const chain = (n: number, line: (i: number) => string, end: string) =>
    Object.fromEntries([...Array.from({ length: n }, (_, i) => [`p${i}`, line(i)]), [`p${n}`, end]]);
  test.each<[string, string, Options['partials']?]>([
    ['bytes', 'x'.repeat(65_537)],
    ['bytes, not characters', 'é'.repeat(32_769)],
    ['3,000 nested blocks', '{{#if a}}'.repeat(3000) + '{{/if}}'.repeat(3000)],
    ['blocks that are never closed', '{{#if a}}'.repeat(7000)],
    ['33 nested blocks', '{{#if a}}'.repeat(33) + '{{/if}}'.repeat(33)],
    ['else if', `{{#if a}}${'{{else if a}}'.repeat(4900)}{{/if}}`],
    ['15,000 parentheses', `{{upper ${'(a '.repeat(15_000)}${')'.repeat(15_000)}}}`],
    ['only parentheses', `{{upper ${'('.repeat(60_000)}`],
    ['tags', '{{a}}'.repeat(10_001)],
    ['values', `{{#if (and ${'a '.repeat(10_001)})}}x{{/if}}`],
    ['partials', '{{> p}}'.repeat(5001), { p: 'x' }],
    ['bytes of partials', '{{> p}}'.repeat(10), { p: 'x'.repeat(7000) }],
    ['one partial', '{{> p}}', { p: 'x'.repeat(65_537) }],
    ['depth of partials', '{{> p0}}', chain(33, (i) => `{{> p${i + 1}}}`, 'x')],
    ['depth of a partial’s blocks', '{{#if a}}{{> p}}{{/if}}', { p: '{{#if a}}'.repeat(32) + '{{/if}}'.repeat(32) }],
    ['partials that double', '{{> p0}}', chain(20, (i) => `{{> p${i + 1}}}{{> p${i + 1}}}`, 'x')],
    ['values that grow', '{{> p0 x=a}}', chain(15, (i) => `{{> p${i + 1} x=(trim (trim x))}}`, '{{x}}')],
    ['values that double', '{{> p0 x=a}}', chain(15, (i) => `{{> p${i + 1} x=(and x x)}}`, '{{#if x}}y{{/if}}')],
  ])('%s', (_, text, partials) => {
    const start = performance.now();
    expect(codes(text, partials)).toEqual(['template-too-large']);
    expect(performance.now() - start).toBeLessThan(QUICK_MS);
  });

  it('says where', () => {
    expect(findings(`x\n${'{{#if a}}'.repeat(33)}`, ['a'])).toEqual([
      'template-too-large 2:289 The template is nested more than 32 levels deep. (Blocks, parentheses and partials count as levels, and each {{else if}} as one more.)',
    ]);
  });
});

describe('as large as it may be', () => {
  test.each<[string, string, string, Options['partials']?]>([
    ['64 KiB', 'x'.repeat(65_536), 'x'.repeat(65_536)],
    ['32 blocks', `${'{{#if a}}'.repeat(32)}{{a}}${'{{/if}}'.repeat(32)}`, 'v'],
    ['else if', `{{#if b}}${'{{else if b}}x'.repeat(30)}{{else if a}}y{{/if}}`, 'y'],
    ['many parentheses, one after the other', '{{upper (trim a)}}'.repeat(40), 'V'.repeat(40)],
    ['32 parentheses', `{{upper ${'(trim '.repeat(32)}a${')'.repeat(32)}}}`, 'V'],
    ['10,000 tags', '{{a}}'.repeat(10_000), 'v'.repeat(10_000)],
    ['partials', '{{> p}}'.repeat(9), 'x'.repeat(63_000), { p: 'x'.repeat(7000) }],
  ])('%s', (_, text, expected, partials = {}) => {
    expect(render(text, { a: 'v', b: '' }, { partials })).toBe(expected);
  });
});

test.each([
  ['braces that stay', '\\{{'.repeat(3000)],
  ['comments', '{{!-- x --}}'.repeat(5000)],
  ['lines', `{{#if a}}${'\n '.repeat(32_000)}{{/if}}`],
  ['lines with blocks', '{{#if a}}\n{{/if}}\n'.repeat(3000)],
  ['braces', '{'.repeat(65_536)],
  ['open texts', '{{upper "'.repeat(7000)],
  ['open brackets', '{{['.repeat(20_000)],
])('takes no long time for %s', (_, text) => {
  const start = performance.now();
  compile(text, ['a']);
  expect(performance.now() - start).toBeLessThan(QUICK_MS);
});
