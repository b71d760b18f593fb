import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ANSWER_NAMES, ANSWER_WORDS, CODE_PLACES, UNSUPPORTED_CODES } from '../../src/model/answer-words.ts';
import { fold } from '../../src/util/json.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference', 'answers.md'), 'utf8');
const [NAMES = '', WORDS = ''] = PAGE.slice(PAGE.indexOf('## Names and words')).split('| words |');

/** The rows of a table: its first cell, and what is listed in its last. */
function listsIn(table: string): Readonly<Record<string, readonly string[]>> {
  const rows = table.matchAll(/^\| `(\w+)` \| [^|]* \| ([^|]*) \|$/gm);
  return Object.fromEntries(
    [...rows].map(([, name = '', cell = '']) => [name, cell.split('`').filter((_, i) => i % 2)]),
  );
}

test('the page of answers lists the names and words of the code', () => {
  expect(listsIn(NAMES)).toEqual(ANSWER_NAMES);
  expect(listsIn(WORDS)).toEqual(ANSWER_WORDS);
});

test('the page lists the codes for a channel that is not supported, and their places', () => {
  const [, section = ''] = PAGE.split('\n## The channel is not supported\n');
  const listed = [...(section.split('\n## ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, code]) => code);
  expect(listed).toEqual([...UNSUPPORTED_CODES, ...CODE_PLACES]);
  expect(UNSUPPORTED_CODES.filter((code) => fold(code) !== code)).toEqual([]);
});

test('no word is listed twice, or in a form in which it is never compared', () => {
  for (const words of [...Object.values(ANSWER_NAMES), ...Object.values(ANSWER_WORDS)] as (readonly string[])[]) {
    expect(new Set(words).size).toBe(words.length);
    expect(words.filter((word) => fold(word) !== word)).toEqual([]);
  }
  const no = new Set<string>([...ANSWER_WORDS.refused, ...ANSWER_WORDS.error]);
  expect(ANSWER_WORDS.success.filter((word) => no.has(word))).toEqual([]);
});
