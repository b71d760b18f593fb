import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { HALT_RULES } from '../helpers/halt-rules.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs/failures.md'), 'utf8');

const SECTIONS = { A: 7, B: 10, C: 11, D: 3, E: 2, F: 6, G: 5, H: 6, I: 5, J: 6, K: 3 } as const;
const ROWS = Object.entries(SECTIONS).flatMap(([section, last]) =>
  Array.from({ length: last }, (_, at) => `${section}${at + 1}`),
);
/** Their place is kept; the page says what they wait for. */
const LATER: readonly string[] = [];

interface TableRow {
  readonly id: string;
  readonly text: string;
  readonly decidedIn: readonly string[];
  readonly provedIn: readonly string[];
}

const table: readonly TableRow[] = PAGE.split('\n').flatMap((line) => {
  const cells = line.split('|').map((cell) => cell.trim());
  const [, id = '', , , , text = '', decidedIn = '', provedIn = ''] = cells;
  return /^[A-K]\d+$/.test(id) ? [{ id, text, decidedIn: paths(decidedIn), provedIn: paths(provedIn) }] : [];
});

function paths(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => join(ROOT, path));
}

test('the page has every row, in order', () => {
  expect(table.map(({ id }) => id)).toEqual(ROWS);
});

test('the stop rules are all there', () => {
  const rows = [
    ...PAGE.slice(PAGE.indexOf('### Stop rules'), PAGE.indexOf('## The table')).matchAll(/^\| `([^`]+)`/gm),
  ];
  expect(rows.map(([, rule]) => rule)).toEqual(expect.arrayContaining([...HALT_RULES]));
});

test('rows whose time has not come say so', () => {
  const waiting = table.filter(({ decidedIn }) => decidedIn.length === 0);
  expect(waiting.map(({ id }) => id)).toEqual(LATER);
  for (const { text } of waiting) expect(text).toMatch(/^comes with /);
});

describe.each(table.filter(({ id }) => !LATER.includes(id)))('row $id', ({ id, decidedIn, provedIn }) => {
  it('is named where it is decided', () => {
    expect(decidedIn).not.toEqual([]);
    for (const file of decidedIn) expect(readFileSync(file, 'utf8'), file).toMatch(named(id));
  });

  it('has a test that names it', () => {
    expect(provedIn).not.toEqual([]);
    for (const place of provedIn) {
      const naming = sources(place).filter((file) => named(id).test(readFileSync(file, 'utf8')));
      expect(naming, `${id} in ${place}`).not.toEqual([]);
    }
  });
});

function named(id: string): RegExp {
  return new RegExp(String.raw`\b${id}\b`);
}

/** The test files of a folder, or the one file; tables that titles are made from lie beside the tests. */
function sources(place: string): string[] {
  if (!existsSync(place)) return [];
  if (statSync(place).isFile()) return [place];
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(place, name));
}
