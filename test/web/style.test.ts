import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { TONES } from '../../src/web/charts/chart.ts';
import { documentFrame } from '../../src/web/document.ts';

/** The style that every page has: few sizes, so that all pages look like one thing. */
const { head } = documentFrame({ title: 'x' });
const css = head.slice(head.indexOf('<style>') + '<style>'.length, head.indexOf('</style>'));

function valuesOf(property: RegExp): readonly string[] {
  const found = css.matchAll(new RegExp(`[{;](?:${property.source}):([^;}]+)`, 'g'));
  return [
    ...new Set([...found].flatMap(([, value = '']) => value.replaceAll(/calc\(|\)(?=\)| |$)/g, '').split(/[ /]+/))),
  ];
}

test.each([
  [
    'sizes of text',
    /font-size|font/,
    't',
    6,
    /^(?:inherit|[\d.]+|var\(--mono|system-ui.*|-apple.*|"?[A-Z].*|"?UI".*|Neue".*)$/,
  ],
  ['spaces', /(?:padding|margin)(?:-[a-z]+)?|(?:row-|column-)?gap/, 's', 6, /^(?:0|auto|\+|-1px|10mm)$/],
  ['radii', /border-radius/, '(?:r|pill)', 3, /^50%$/],
])('%s are as few as agreed, and all have a name', (_, property, name, most, others) => {
  const values = valuesOf(property);
  const isNamed = new RegExp(`^var\\(--${name}\\d*\\)?$`);
  expect(values.filter((value) => !isNamed.test(value) && !others.test(value))).toEqual([]);
  expect(values.filter((value) => isNamed.test(value)).length).toBeLessThanOrEqual(most);
  expect(css.match(new RegExp(`--${name}\\d*:`, 'g'))?.length).toBe(most);
});

it('a layout changes at three widths, and that of the window at one of them', () => {
  const widths = (rule: string) => {
    const conditions = [...css.matchAll(new RegExp(`@${rule} ?([^{]+)`, 'g'))].map(([, condition = '']) => condition);
    return [...new Set(conditions.flatMap((one) => (/width/.test(one) ? (one.match(/[\d.]+rem/g) ?? []) : [])))];
  };
  expect(widths('container').sort()).toEqual(['28rem', '40rem', '52rem']);
  expect(widths('media').filter((width) => width !== '40rem')).toEqual(['52rem']);
});

it('has no rule for a class that no page has', () => {
  const folder = new URL('../../src/web', import.meta.url).pathname;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(?:ts|json)$/.test(file),
  );
  const sources = [...files, '../report/verdict.ts'].map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  const selectors = css.replaceAll(/\{[^{}]*\}|"[^"]*"/g, '{}');
  const classes = new Set([...selectors.matchAll(/\.([a-z][a-z-]*\d?)/g)].map(([, name = '']) => name));
  const isUsed = (name: string) =>
    TONES.some((tone) => name === `tone-${tone}`) ||
    /^dash-\d$/.test(name) ||
    new RegExp(`['" \`]${name}['" \`$]`).test(sources);
  expect(classes.size).toBeGreaterThan(100);
  expect([...classes].filter((name) => !isUsed(name))).toEqual([]);
});

it('what the page of a preview calls by its id is no part of another page', () => {
  const pages = join(import.meta.dirname, '../../src/web/pages');
  const sources = readdirSync(pages).map((name) => readFileSync(join(pages, name), 'utf8'));
  const parts = new Set(sources.join('\n').match(/(?<=\b(?:live|fixed)\(')[a-z]+/g));
  expect(parts.size).toBeGreaterThan(0);
  const styled = new Set(css.match(/(?<=#)[a-z]+(?=[{ .>,[:])/g));
  expect([...parts].filter((part) => styled.has(part) && part !== 'attention')).toEqual([]);
});
