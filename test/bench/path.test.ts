import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { type Covered, pathBetween } from './path.ts';

const covered = (file: string, counts: Readonly<Record<string, number>>): Covered => ({
  url: pathToFileURL(join(import.meta.dirname, '..', '..', 'src', file)).href,
  functions: Object.entries(counts).map(([functionName, count], startOffset) => ({
    functionName,
    ranges: [{ startOffset, count }],
  })),
});

it('counts what is called for each row, and not what is called for a start, a block of rows or a commit', () => {
  const few = [covered('a.ts', { load: 1, row: 300, twice: 600, block: 3 }), covered('b.ts', { other: 5 })];
  const many = [covered('a.ts', { load: 1, row: 1_300, twice: 2_600, block: 13 }), covered('b.ts', { other: 5 })];
  expect(pathBetween(few, many, 1_000)).toEqual({
    files: ['src/a.ts'],
    functions: ['src/a.ts row 1', 'src/a.ts twice 2'],
    calls: 3,
  });
});

it('takes functions without a name apart by their places', () => {
  const script = (count: number): Covered => ({
    url: covered('a.ts', {}).url,
    functions: [1, 2].map((startOffset) => ({ functionName: '', ranges: [{ startOffset, count }] })),
  });
  expect(pathBetween([script(0)], [script(10)], 10).functions).toHaveLength(2);
});
