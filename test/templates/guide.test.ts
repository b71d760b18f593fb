import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { SIGNATURES } from '../../src/templates/helpers/helpers.ts';
import { compile, render } from './harness.ts';

const guide = ['templates.md', 'reference/helpers.md']
  .map((page) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8'))
  .join('\n');

/** The cells of every table row, code spans without their backticks; rows of `---` left out. */
const rows = guide
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`+ ?(.*?) ?`+$/, '$1')),
  );

const row = Object.fromEntries(
  rows
    .slice(
      1,
      rows.findIndex(([first]) => first === 'template'),
    )
    .map(([name = '', value = '']) => [name, value]),
);
const examples = rows.slice(Object.keys(row).length + 1).filter(([first = '']) => first.includes('{{'));
const partials = { greeting: 'Dear {{title}} {{name}},', footer: 'Yours, {{default from "Riverside"}}' };

describe('the guide', () => {
  test.each(examples.map(([template = '', result = '']) => [template, result]))('%s', (template, result) => {
    expect(render(template, row, { partials })).toBe(result);
  });

  it('has examples at all', () => {
    expect(Object.keys(row)).toContain('offer');
    expect(examples.length).toBeGreaterThan(40);
  });

  it('shows every helper', () => {
    const shown = examples.map(([template]) => template).join('\n');
    for (const name of SIGNATURES.keys()) expect(shown).toMatch(new RegExp(`[{(]${name} `));
  });

  it('names the partials that its examples use', () => {
    for (const [name, text] of Object.entries(partials)) {
      expect(guide.replace(/\s+/g, ' ')).toContain(`\`${name}\` is \`${text}\``);
    }
    expect(compile('{{> footer}}', Object.keys(row), { partials }).template).toBeNull();
  });

  it('is right about HTML', () => {
    const options = { escape: 'html' } as const;
    expect(render('{{a}}', { a: "O'Brien & Sons" }, options)).toBe('O&#x27;Brien &amp; Sons');
    expect(render('{{{a}}}', { a: "O'Brien & Sons" }, options)).toBe("O'Brien & Sons");
  });

  it('gives examples in hints that are right', () => {
    const columns = ['name', 'when', 'points', 'amount', 'count', 'plan', 'vip'];
    for (const { example } of SIGNATURES.values()) {
      const text = example.startsWith('{{#if') ? `${example}{{/if}}` : example;
      expect(compile(text, columns).diagnostics).toEqual([]);
    }
  });
});
