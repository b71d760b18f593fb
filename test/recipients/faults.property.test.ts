import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HandbillError, problem } from '../../src/errors.ts';
import { withAllFaults } from '../../src/recipients/faults.ts';
import { openList } from '../../src/recipients/read.ts';
import { examples } from '../helpers/quick.ts';
import { useLists } from './lists.ts';

const lists = useLists();

const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', '\r\n', 'é', '\uFFFD', ' '), maxLength: 6 });
const rows = fc.array(fc.tuple(cell, cell), { maxLength: 12 });
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');

test('the second reading sees the same rows as the first, and nothing but the fault that ended it', async () => {
  await fc.assert(
    fc.asyncProperty(rows, rows, lineEnd, fc.boolean(), async (before, after, end, isWide) => {
      const write = (all: typeof before): string =>
        all.map((cells) => cells.map((one) => `"${one.replaceAll('"', '""')}"`).join(',') + end).join('');
      const text = `msisdn,name${end}${write(before)}x,y" z${end}${write(after)}`;
      const spec = await lists.write(isWide ? Buffer.from(`\uFEFF${text}`, 'utf16le') : text);
      const seen: (readonly string[] | null)[] = [];
      const list = await openList(spec);
      const error: unknown = await (async () => {
        for await (const batch of list.rows()) void batch;
      })().catch((thrown: unknown) => thrown);
      const all = await withAllFaults(spec, error, 0, () => (row) => {
        seen.push(row.values);
        return row.values === null ? problem('csv-ragged-row', 'ragged') : null;
      });
      expect(all).toBeInstanceOf(HandbillError);
      expect(all).toMatchObject({ diagnostics: error instanceof HandbillError ? error.diagnostics : [], total: 1 });
      expect(seen).toEqual(
        [...before, ...after]
          .filter((cells) => cells.some((one) => one.trim() !== ''))
          .map((cells) => cells.map((one) => one.replace(/\r\n?/g, '\n'))),
      );
    }),
    { numRuns: examples(200) },
  );
});
