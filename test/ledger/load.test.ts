import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoadRow } from '../../src/ledger/records.ts';
import { open, scratchPath } from './scratch.ts';
import { HELLO, keyOf, loadRow, NOON, rows } from './values.ts';

/** What the ledger holds of a list, row by row, as it was loaded. */
function loaded(list: readonly LoadRow[]): unknown[] {
  const path = scratchPath();
  const ledger = open(path);
  const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
  ledger.load(draft, list);
  ledger.close();
  using db = new DatabaseSync(path, { readOnly: true });
  return db
    .prepare(`SELECT row, line, key, address AS "to", state, reason, parts, encoding, cost_micros AS costMicros,
      variant, channel FROM recipients WHERE step = 0 AND attempts = 0 ORDER BY row`)
    .all()
    .map((row) => ({ ...row }));
}

const asWritten = (list: readonly LoadRow[]) => list.map((row) => ({ channel: null, ...row }));

/** SQLite has no halves of characters: Node writes another in their place, alone as well as together. */
const wellFormed = ({ key, to }: LoadRow) => ({ key: key?.toWellFormed() ?? null, to: to?.toWellFormed() ?? null });

/** Lists of stretches, in each of which rows differ in their keys alone, or in something more, or are odd. */
const lists = fc
  .array(
    fc.record({
      length: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 95, max: 205 })),
      gap: fc.constantFrom(0, 0, 0, 1, 7),
      blankLines: fc.constantFrom(0, 0, 0, 1),
      facts: fc.record({
        parts: fc.constantFrom(1, 2, null),
        encoding: fc.constantFrom('GSM-7' as const, 'UCS-2' as const, null),
        costMicros: fc.constantFrom(null, null, 45_000),
        variant: fc.constantFrom(null, null, null, 'a'),
        channel: fc.constantFrom(null, null, null, 'rcs' as const),
      }),
      key: fc.constantFrom(
        null,
        null,
        null,
        'a"b',
        'back\\slash',
        'half \ud800',
        'line\nbreak',
        'nul\u0000 inside',
        'ü@例え.jp',
        '12',
        '1e3',
        ' ',
        'null',
        '',
      ),
      state: fc.constantFrom(
        'pending' as const,
        'pending' as const,
        'pending' as const,
        'skipped' as const,
        'deferred' as const,
      ),
      other: fc.boolean(),
    }),
    { maxLength: 6 },
  )
  .map((stretches) => {
    const list: LoadRow[] = [];
    let [row, line] = [0, 2];
    for (const { length, gap, blankLines, facts, key, state, other } of stretches) {
      row += gap;
      line += gap + blankLines;
      for (let n = 0; n < length; n += 1, row += 1, line += 1) {
        const own = n === 1 && key !== null ? key : keyOf(row);
        const reason = state === 'pending' ? null : 'why';
        list.push(loadRow(row, { line, ...facts, state, reason, key: own, to: other ? `to ${own}` : own }));
      }
    }
    return list;
  });

describe('a list that is loaded', () => {
  it('is what was given, whatever its neighbours are', () => {
    fc.assert(
      fc.property(lists, (list) => {
        expect(loaded(list)).toEqual(asWritten(list.map((row) => ({ ...row, ...wellFormed(row) }))));
      }),
      { numRuns: 60 },
    );
  });

  it('holds nothing of what came with a row that cannot be: all of it is undone', () => {
    const ledger = open(scratchPath());
    const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
    expect(() => ledger.load(draft, [...rows(10), loadRow(5)])).toThrow();
    ledger.load(draft, rows(10));
    expect(ledger.finishLoad(draft, { inputs: [], identityHash: '', nowMs: NOON }).rows).toBe(10);
  });
});
